/** Links to set up an organization's sign-in: at most one per organization, found by digests. The only SQL on that table. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';

const DAY_MS = 86_400_000;

export interface SetupRow {
  readonly orgId: string;
  /** SHA-256 of the token in the link. */
  readonly tokenHash: string;
  /** SHA-256 of the browser's secret; null: not started. */
  readonly browserHash: string | null;
  /** ID of the identity provider, chosen in advance because the redirect URI contains it. */
  readonly idpId: string;
  /** Mode of the provider after the set-up. */
  readonly mode: 'OFFERED' | 'REQUIRED';
  /** In ASCII; null: not entered yet. */
  readonly domain: string | null;
  readonly createdBy: string;
  readonly created: Date;
  readonly expiresAt: Date;
}

const ROW: Columns<SetupRow> = columns('orgId', 'tokenHash', 'browserHash', 'idpId', 'mode', 'domain', 'createdBy', 'created', 'expiresAt');

/** Replaces the organization's previous link. */
export async function replaceSetup(trx: Executor, row: SetupRow): Promise<void> {
  await trx('organization_setups').insert(toRow(ROW, row)).onConflict('org_id').merge();
}

/** @returns the link, if it was not used and has not expired */
export const findSetup = (executor: Executor, by: Partial<Pick<SetupRow, 'orgId' | 'tokenHash' | 'browserHash'>>, now: Date) =>
  executor('organization_setups').where(toRow<SetupRow>(ROW, by)).where('expires_at', '>', now).first<SetupRow | undefined>(ROW);

/** Binds the link to a browser. @returns false if another browser has started, or the link no longer exists */
export async function bindSetup(trx: Executor, tokenHash: string, browserHash: string, now: Date): Promise<boolean> {
  const free = trx('organization_setups').where({ token_hash: tokenHash, browser_hash: null }).where('expires_at', '>', now);
  return (await free.update({ browser_hash: browserHash })) === 1;
}

/** @returns false if the link no longer exists */
export const noteDomain = async (trx: Executor, browserHash: string, domain: string | null): Promise<boolean> =>
  (await trx('organization_setups').where({ browser_hash: browserHash }).update({ domain })) === 1;

/** Uses the link up, if it is still for this domain. @returns false if it was used before, was revoked, or has expired */
export const consumeSetup = async (trx: Executor, browserHash: string, domain: string, now: Date): Promise<boolean> =>
  (await trx('organization_setups').where({ browser_hash: browserHash, domain }).where('expires_at', '>', now).delete()) === 1;

/** @returns false if there is none */
export const deleteSetup = async (trx: Executor, orgId: string): Promise<boolean> =>
  (await trx('organization_setups').where({ org_id: orgId }).delete()) === 1;

/** @returns the number of deleted links, at most `limit` */
export async function deleteExpiredSetups(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('organization_setups').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('org_id');
  return executor('organization_setups').whereIn('org_id', expired).delete();
}

/** Organizations with an abandoned set-up: their provider is connected for no domain, and they have no link. */
export const listAbandonedSetups = (executor: Executor, now: Date, most: number): Promise<string[]> =>
  executor('organization_providers AS o')
    .join('organizations AS g', 'g.id', 'o.org_id')
    .whereNotExists(executor('organization_provider_domains AS d').whereRaw('d.org_id = o.org_id AND d.idp_id = o.idp_id'))
    .whereNotExists(executor('organization_setups AS s').whereRaw('s.org_id = o.org_id').where('s.expires_at', '>', now))
    .orderBy('o.seq')
    .limit(most)
    .pluck('g.name');

/** Organizations whose link was not used a day after a browser started with it. */
export const listUnfinishedSetups = (executor: Executor, now: Date, most: number): Promise<string[]> =>
  executor('organization_setups AS s')
    .join('organizations AS g', 'g.id', 's.org_id')
    .whereNotNull('s.browser_hash')
    .where('s.expires_at', '>', now)
    .where('s.created', '<', new Date(now.getTime() - DAY_MS))
    .orderBy('s.created')
    .limit(most)
    .pluck('g.name');
