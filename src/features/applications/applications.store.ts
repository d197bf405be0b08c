/** Applications and their sealed secrets. The only SQL on those tables. Their settings are stored in the API's own names. */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type AttributeColumns, applyFilter, type Filter } from '../../platform/database/filter.ts';
import {
  inCodes,
  type NumberedPage,
  type NumberedWindow,
  type Page,
  readNumberedPage,
  readPage,
  type Window,
} from '../../platform/database/paging.ts';
import { applyWords, inAlphabet } from '../../platform/database/words.ts';
import { APPLICATION_TYPES } from './application-settings.policy.ts';
import type { Application, ApplicationOrder, SecretFacts, SecretStatus } from './applications.resource.ts';

/** A client secret at rest, sealed in the context `application_secret:<id>`. */
export interface SealedSecret {
  readonly id: string;
  readonly sealed: string;
}

const APPLICATION: Columns<Application> = {
  id: 'id',
  label: 'label',
  status: 'status',
  system: 'system',
  settings: 'settings',
  origin: 'origin',
  registeredAt: 'registration_server_id',
  expiresAt: 'expires_at',
  created: 'created',
  lastUpdated: 'last_updated',
  lastUsed: 'last_used',
};

/** Filterable attributes of applications. */
export const APPLICATION_ATTRIBUTES: AttributeColumns = {
  id: { sql: 'id', type: 'text' },
  label: { sql: 'label', type: 'text' },
  // Constant, as in the API.
  name: { sql: `'oidc_client'`, type: 'text' },
  status: { sql: 'status', type: 'text' },
  origin: { sql: 'origin', type: 'text' },
  'settings.oauthClient.application_type': { sql: `settings->>'application_type'`, type: 'text' },
};

/** @returns false if another application has the ID */
export async function insertApplication(executor: Executor, application: Application): Promise<boolean> {
  const row = toRow(APPLICATION, application);
  return (await executor('applications').insert(row).onConflict('id').ignore().returning('id')).length === 1;
}

/** @returns false if there is no such application */
export async function updateApplicationRow(
  executor: Executor,
  id: string,
  changes: Partial<Pick<Application, 'label' | 'status' | 'settings' | 'expiresAt' | 'lastUpdated'>>,
): Promise<boolean> {
  return (await executor('applications').where({ id }).update(toRow<Application>(APPLICATION, changes))) === 1;
}

/** Also deletes its secrets, assignments and consents. */
export async function deleteApplicationRow(executor: Executor, id: string): Promise<void> {
  await executor('applications').where({ id }).delete();
}

export async function insertSecret(executor: Executor, applicationId: string, secret: SealedSecret, created: Date): Promise<void> {
  await executor('application_secrets').insert({
    id: secret.id,
    application_id: applicationId,
    secret_sealed: secret.sealed,
    created,
  });
}

export async function findApplicationById(executor: Executor, id: string): Promise<Application | undefined> {
  return executor('applications').where({ id }).first<Application | undefined>(APPLICATION);
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockApplication(trx: Executor, id: string): Promise<Application | undefined> {
  return trx('applications').where({ id }).forUpdate().first<Application | undefined>(APPLICATION);
}

/** Applications that list the identity provider, locked in a fixed order. Needs a transaction. */
export async function lockApplicationsOffering(trx: Executor, idpId: string): Promise<Application[]> {
  return trx('applications')
    .whereRaw(`settings->'identity_providers' @> ?::jsonb`, JSON.stringify([idpId]))
    .orderBy('id')
    .forUpdate()
    .select<Application[]>(APPLICATION);
}

export interface ApplicationSelection {
  /** Each word is a prefix of a word of the label; or the whole is the client ID. */
  readonly words?: string | undefined;
  readonly filters: readonly Filter[];
}

function selected(executor: Executor, { words, filters }: ApplicationSelection) {
  const query = executor('applications');
  if (words !== undefined) applyWords(query, ['label'], words, 'id');
  for (const filter of filters) applyFilter(query, filter, APPLICATION_ATTRIBUTES);
  return query;
}

/** Oldest first. */
export const selectApplications = (executor: Executor, selection: ApplicationSelection, window: Window): Promise<Page<Application>> =>
  readPage(selected(executor, selection), APPLICATION, window);

const ORDERS: Readonly<Record<ApplicationOrder, string>> = {
  label: inAlphabet('label'),
  kind: inCodes(APPLICATION_TYPES, "settings->>'application_type'"),
  status: inCodes(['ACTIVE', 'INACTIVE'], 'status'),
  created: 'seq',
  changed: 'last_updated',
  used: "coalesce(last_used, '-infinity')",
};

/** A page by number, in any order. */
export const selectApplicationsInOrder = (
  executor: Executor,
  selection: ApplicationSelection,
  window: NumberedWindow,
): Promise<NumberedPage<Application>> => readNumberedPage<Application>(selected(executor, selection), APPLICATION, window, ORDERS);

/** Applications that are assigned to the group, oldest first. */
export function listApplicationsOfGroup(executor: Executor, groupId: string, window: Window): Promise<Page<Application>> {
  const assigned = executor('application_groups').where({ group_id: groupId }).select('application_id');
  return readPage(executor('applications').whereIn('id', assigned), APPLICATION, window);
}

/** Is it open to everyone, or assigned to the user or one of their groups? */
const OPEN_TO_USER = `(settings->>'assignment' = 'EVERYONE'
  OR id IN (SELECT application_id FROM application_users WHERE user_id = :userId)
  OR id IN (SELECT a.application_id FROM application_groups a JOIN group_members m ON m.group_id = a.group_id WHERE m.user_id = :userId))`;

/** Active ones that the user can open and that have a start URI, oldest first; without those of the service itself. */
export function listApplicationsOpenTo(executor: Executor, userId: string, window: Window): Promise<Page<Application>> {
  const query = executor('applications')
    .where({ status: 'ACTIVE', system: false })
    .whereRaw(`coalesce(settings->>'initiate_login_uri', settings->>'client_uri') IS NOT NULL`)
    .whereRaw(`(settings->'grant_types' @> '["authorization_code"]' OR settings->'grant_types' @> '["implicit"]')`)
    .whereRaw(OPEN_TO_USER, { userId });
  return readPage(query, APPLICATION, window);
}

const SECRET: Columns<SecretFacts> = { id: 'id', status: 'status', created: 'created', lastUsed: 'last_used' };

/** Oldest first. */
export async function listSecrets(executor: Executor, applicationId: string): Promise<SecretFacts[]> {
  return executor('application_secrets').where({ application_id: applicationId }).orderBy('seq').select(SECRET);
}

/** Active or not. */
export const listSealedSecrets = (executor: Executor, applicationId: string): Promise<SealedSecret[]> =>
  executor('application_secrets').where({ application_id: applicationId }).select({ id: 'id', sealed: 'secret_sealed' });

/** @returns false if the application has no such secret, or it already has the status */
export async function updateSecretStatus(trx: Executor, applicationId: string, id: string, status: SecretStatus): Promise<boolean> {
  return (await trx('application_secrets').where({ application_id: applicationId, id }).whereNot({ status }).update({ status })) === 1;
}

/** Times of last use by ID. */
export interface LastUses {
  readonly applications: ReadonlyMap<string, Date>;
  readonly secrets: ReadonlyMap<string, Date>;
}

// Several processes record the same use, but only one of them writes it. Rows are locked in a fixed order to avoid deadlocks.
const touching = (table: string, uses: string): string =>
  `UPDATE ${table} SET last_used = u.used FROM (
    SELECT t.id, u.used FROM jsonb_to_recordset(${uses}::jsonb) AS u (id text, used timestamptz) JOIN ${table} t USING (id)
    WHERE t.last_used IS NULL OR t.last_used < u.used - interval '1 minute' ORDER BY t.id FOR NO KEY UPDATE OF t
  ) u WHERE ${table}.id = u.id`;

const TOUCH = `WITH secrets AS (${touching('application_secrets', ':secrets')}) ${touching('applications', ':applications')}`;

/** Records the last uses of applications and secrets in one statement; at most once a minute for each. */
export async function touchApplications(executor: Executor, uses: LastUses): Promise<void> {
  const listed = (map: ReadonlyMap<string, Date>): string => JSON.stringify([...map].map(([id, used]) => ({ id, used })));
  await executor.raw(TOUCH, { applications: listed(uses.applications), secrets: listed(uses.secrets) });
}

/**
 * @param id absent: all secrets of the application
 * @returns the number of deleted secrets
 */
export async function deleteSecrets(executor: Executor, applicationId: string, id?: string): Promise<number> {
  return executor('application_secrets')
    .where({ application_id: applicationId, ...(id !== undefined && { id }) })
    .delete();
}

const NEWEST_SECRETS_FIRST = `(SELECT coalesce(json_agg(json_build_object('id', s.id, 'sealed', s.secret_sealed) ORDER BY s.seq DESC), '[]')
  FROM application_secrets s WHERE s.application_id = applications.id AND s.status = 'ACTIVE') AS secrets`;

/** An application with its active secrets, newest first, in one statement. */
export async function findApplicationWithSecrets(
  executor: Executor,
  id: string,
): Promise<{ readonly application: Application; readonly sealedSecrets: readonly SealedSecret[] } | undefined> {
  const found = await executor('applications')
    .where({ id })
    .first<(Application & { secrets: SealedSecret[] }) | undefined>(APPLICATION, executor.raw(NEWEST_SECRETS_FIRST));
  if (found === undefined) return undefined;
  const { secrets, ...application } = found;
  return { application, sealedSecrets: secrets };
}

/**
 * An active application with exactly this value in a list of its settings. It uses an index, so the planner must not know that one row is
 * enough: it assumes that matches are frequent, and would scan the table up to the first.
 */
export async function findByRegisteredValue(
  executor: Executor,
  list: 'allowed_origins' | 'post_logout_redirect_uris',
  value: string,
): Promise<string | undefined> {
  const having = executor('applications')
    .where({ status: 'ACTIVE' })
    .whereRaw(`settings->'${list}' @> ?::jsonb`, [JSON.stringify([value])])
    .select('id');
  const found = await executor.withMaterialized('having', having).from('having').first<{ id: string } | undefined>('id');
  return found?.id;
}

/** Registration access token of an application that registered itself (RFC 7592). */
export interface RegistrationKey {
  readonly serverId: string;
  readonly tokenHash: string;
}

const keyRow = ({ serverId, tokenHash }: RegistrationKey) => ({ registration_server_id: serverId, registration_token_hash: tokenHash });

export async function bindRegistration(executor: Executor, id: string, key: RegistrationKey): Promise<void> {
  await executor('applications').where({ id }).update(keyRow(key));
}

export async function findRegisteredApplication(executor: Executor, id: string, key: RegistrationKey): Promise<Application | undefined> {
  return executor('applications')
    .where({ id, origin: 'REGISTERED', ...keyRow(key) })
    .first<Application | undefined>(APPLICATION);
}

/** @returns false if another request has replaced the token */
export const rotateRegistrationToken = async (executor: Executor, id: string, key: RegistrationKey, tokenHash: string): Promise<boolean> =>
  (await executor('applications')
    .where({ id, ...keyRow(key) })
    .update({ registration_token_hash: tokenHash })) === 1;

/** Extends the registration, at most once a day. */
export async function prolongRegistration(executor: Executor, id: string, end: Date): Promise<void> {
  const due = new Date(end.getTime() - 86_400_000);
  await executor('applications').where({ id, origin: 'REGISTERED' }).where('expires_at', '<', due).update({ expires_at: end });
}

/** IDs of expired applications, oldest first. */
export async function listExpiredApplications(executor: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await executor('applications')
    .where('expires_at', '<', now)
    .orderBy('expires_at')
    .limit(limit)
    .select<{ id: string }[]>('id');
  return rows.map(({ id }) => id);
}

/** Active applications with at least one of the settings, ordered by ID. */
export const listApplicationsWithSetting = async (executor: Executor, names: readonly string[], limit: number): Promise<Application[]> =>
  executor('applications')
    .where({ status: 'ACTIVE' })
    .whereRaw('jsonb_exists_any(settings, ?)', [[...names]])
    .orderBy('id')
    .limit(limit)
    .select<Application[]>(APPLICATION);

/** Does not count the service's own applications. */
export async function countApplications(executor: Executor): Promise<number> {
  const row = await executor('applications').where({ system: false }).count<{ count: number }[]>({ count: '*' }).first();
  return row?.count ?? 0;
}

/** Counts active applications of customers and those that ask for consent. */
export async function countConsent(executor: Executor): Promise<{ readonly asking: number; readonly all: number }> {
  const row = await executor('applications')
    .where({ system: false, status: 'ACTIVE' })
    .select<{ asking: number; all: number }[]>(
      executor.raw(`count(*) FILTER (WHERE settings->>'consent_method' = 'REQUIRED')::int AS asking`),
      executor.raw('count(*)::int AS all'),
    )
    .first();
  return row ?? { asking: 0, all: 0 };
}
