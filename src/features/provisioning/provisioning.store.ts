/** SCIM targets of applications, and what each was sent. The only SQL on these tables, but for the entries of the outbox (provisioning-queue.store.ts). */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { ProvisionedKind, ProvisionedResource, ProvisioningTarget } from './provisioning.resource.ts';

const TARGET: Columns<ProvisioningTarget> = {
  applicationId: 'application_id',
  status: 'status',
  baseUrl: 'base_url',
  auth: 'auth',
  secret: 'secret_sealed',
  mapping: 'mapping',
  leavers: 'leavers',
  pushGroups: 'push_groups',
  awaySince: 'away_since',
  awayReason: 'away_reason',
  outageSince: 'outage_since',
  outageUntil: 'outage_until',
  outageReason: 'outage_reason',
  outagesInARow: 'outages_in_a_row',
  created: 'created',
  lastUpdated: 'last_updated',
};

const RESOURCE: Columns<ProvisionedResource> = {
  kind: 'kind',
  id: 'id',
  name: 'name',
  remoteId: 'remote_id',
  createdThere: 'created_there',
  state: 'state',
  digest: 'digest',
  failures: 'failures',
  error: 'error',
  lastAttempt: 'last_attempt',
  lastSuccess: 'last_success',
};

const at = (applicationId: string) => ({ application_id: applicationId });

export async function findProvisioningTarget(executor: Executor, applicationId: string): Promise<ProvisioningTarget | undefined> {
  return executor('provisioning_targets').where(at(applicationId)).first<ProvisioningTarget | undefined>(TARGET);
}

/** Locks the row. Needs a transaction. */
export async function lockProvisioningTarget(trx: Executor, applicationId: string): Promise<ProvisioningTarget | undefined> {
  return trx('provisioning_targets').where(at(applicationId)).forUpdate().first<ProvisioningTarget | undefined>(TARGET);
}

/** Creates or replaces it. */
export async function saveProvisioningTarget(trx: Executor, target: ProvisioningTarget): Promise<void> {
  const row = { ...toRow(TARGET, target), auth: JSON.stringify(target.auth), mapping: JSON.stringify(target.mapping) };
  await trx('provisioning_targets').insert(row).onConflict('application_id').merge();
}

export async function deleteProvisioningTarget(trx: Executor, applicationId: string): Promise<void> {
  await trx('provisioning_targets').where(at(applicationId)).delete();
}

/** Oldest first. */
export const selectProvisioningTargets = (executor: Executor, window: Window): Promise<Page<ProvisioningTarget>> =>
  readPage(executor('provisioning_targets'), TARGET, window);

/** @returns false if it was already marked */
export async function markUnavailable(trx: Executor, applicationId: string, since: Date, reason: string): Promise<boolean> {
  const isAgain = trx.raw("CASE WHEN outage_until > ?::timestamptz - interval '1 hour' THEN outages_in_a_row + 1 ELSE 1 END", [since]);
  const changes = { away_since: since, away_reason: reason, outages_in_a_row: isAgain };
  return (await trx('provisioning_targets').where(at(applicationId)).whereNull('away_since').update(changes)) === 1;
}

/** Also stores the time and the reason of the outage. @returns false if it was already marked */
export async function markAvailable(trx: Executor, applicationId: string, now: Date): Promise<boolean> {
  const outage = { outage_since: trx.ref('away_since'), outage_until: now, outage_reason: trx.ref('away_reason') };
  const changes = { ...outage, away_since: null, away_reason: null };
  return (await trx('provisioning_targets').where(at(applicationId)).whereNotNull('away_since').update(changes)) === 1;
}

const one = (applicationId: string, kind: ProvisionedKind, id: string) => ({ ...at(applicationId), kind, id });

export async function findProvisioned(
  executor: Executor,
  applicationId: string,
  kind: ProvisionedKind,
  id: string,
): Promise<ProvisionedResource | undefined> {
  return executor('provisioned_resources')
    .where(one(applicationId, kind, id))
    .first<ProvisionedResource | undefined>(RESOURCE);
}

/** @returns false if the target was removed or replaced meanwhile, so that IDs there are not valid */
export async function saveProvisioned(
  trx: Executor,
  { applicationId, baseUrl }: Pick<ProvisioningTarget, 'applicationId' | 'baseUrl'>,
  resource: ProvisionedResource,
): Promise<boolean> {
  const target = trx('provisioning_targets').where({ ...at(applicationId), base_url: baseUrl });
  if ((await target.forShare().first('base_url')) === undefined) return false;
  const row = { ...at(applicationId), ...toRow(RESOURCE, resource) };
  await trx('provisioned_resources').insert(row).onConflict(['application_id', 'kind', 'id']).merge();
  return true;
}

export async function forgetProvisioned(trx: Executor, applicationId: string, kind: ProvisionedKind, id: string): Promise<void> {
  await trx('provisioned_resources')
    .where(one(applicationId, kind, id))
    .delete();
}

/** Records the account of a user who is deleted here, so that nobody else gets it. */
export async function keepFormerAccount(
  trx: Executor,
  { applicationId, baseUrl }: Pick<ProvisioningTarget, 'applicationId' | 'baseUrl'>,
  remoteId: string,
): Promise<void> {
  await trx.raw(
    `INSERT INTO former_remote_users (application_id, remote_id)
      SELECT application_id, ? FROM provisioning_targets WHERE application_id = ? AND base_url = ? FOR SHARE ON CONFLICT DO NOTHING`,
    [remoteId, applicationId, baseUrl],
  );
}

/** Does the account at the target belong to another user, or to a deleted one? */
export async function belongsToAnother(executor: Executor, applicationId: string, remoteId: string, userId: string): Promise<boolean> {
  const account = { ...at(applicationId), remote_id: remoteId };
  const linked = executor('provisioned_resources')
    .where({ ...account, kind: 'user' })
    .whereNot({ id: userId });
  const found = (await linked.first('id')) ?? (await executor('former_remote_users').where(account).first('remote_id'));
  return found !== undefined;
}

/** Deletes the digests of all resources, or of one, so that they are compared with the target again. */
export async function forgetDigests(
  trx: Executor,
  applicationId: string,
  only?: { readonly kind: ProvisionedKind; readonly id: string },
): Promise<void> {
  const where = only === undefined ? at(applicationId) : one(applicationId, only.kind, only.id);
  await trx('provisioned_resources').where(where).update({ digest: null, failures: 0 });
}

export interface ProvisionedSearch {
  readonly kind?: ProvisionedKind | undefined;
  readonly state?: ProvisionedResource['state'] | undefined;
}

/** Oldest first. */
export function selectProvisioned(
  executor: Executor,
  applicationId: string,
  { kind, state }: ProvisionedSearch,
  window: Window,
): Promise<Page<ProvisionedResource>> {
  const where = { ...at(applicationId), ...(kind !== undefined && { kind }), ...(state !== undefined && { state }) };
  // Only the error can be missing.
  return readPage(executor('provisioned_resources').where(where), RESOURCE, window, { isFilled: window.sort?.by !== 'error' });
}

export interface ProvisionedCounts {
  readonly provisioned: number;
  readonly deactivated: number;
  readonly failed: number;
}

export async function countProvisioned(executor: Executor, applicationId: string): Promise<ProvisionedCounts> {
  const of = (state: string) => `count(*) FILTER (WHERE state = '${state}')::int`;
  const { rows } = await executor.raw<{ rows: [ProvisionedCounts] }>(
    `SELECT ${of('PROVISIONED')} AS provisioned, ${of('DEACTIVATED')} AS deactivated, ${of('FAILED')} AS failed
      FROM provisioned_resources WHERE application_id = ?`,
    [applicationId],
  );
  return rows[0];
}

/** The IDs at the target of a group's members, up to a maximum. */
export async function listRemoteMembers(executor: Executor, applicationId: string, groupId: string, most: number): Promise<string[]> {
  return executor('group_members AS m')
    .join('provisioned_resources AS r', (on) => on.on('r.id', 'm.user_id'))
    .where({ 'm.group_id': groupId, 'r.application_id': applicationId, 'r.kind': 'user' })
    .whereNotNull('r.remote_id')
    .orderBy('r.remote_id')
    .limit(most)
    .pluck('r.remote_id');
}
