/** Initial access tokens, found by their digest. The only SQL on that table. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { RegistrationToken } from './registration-tokens.resource.ts';

const TOKEN: Columns<RegistrationToken> = columns('id', 'serverId', 'name', 'singleUse', 'uses', 'created', 'expiresAt', 'lastUsed');

export async function insertRegistrationToken(executor: Executor, token: RegistrationToken, tokenHash: string): Promise<void> {
  await executor('registration_tokens').insert({ ...toRow(TOKEN, token), token_hash: tokenHash });
}

/** Oldest first. */
export const selectRegistrationTokens = (executor: Executor, serverId: string, window: Window): Promise<Page<RegistrationToken>> =>
  readPage<RegistrationToken>(executor('registration_tokens').where({ server_id: serverId }), TOKEN, window);

/** @returns the deleted token; undefined: none */
export async function deleteRegistrationToken(executor: Executor, serverId: string, id: string): Promise<RegistrationToken | undefined> {
  const rows = await executor('registration_tokens').where({ server_id: serverId, id }).delete().returning<Record<string, unknown>[]>('*');
  const [row] = rows;
  return row && (Object.fromEntries(Object.entries(TOKEN).map(([field, column]) => [field, row[column]])) as unknown as RegistrationToken);
}

export async function findRegistrationToken(executor: Executor, serverId: string, id: string): Promise<RegistrationToken | undefined> {
  return executor('registration_tokens').where({ server_id: serverId, id }).first<RegistrationToken | undefined>(TOKEN);
}

/** Selects the token if it can be used now. */
const usable = (executor: Executor, serverId: string, tokenHash: string, now: Date) =>
  executor('registration_tokens')
    .where({ server_id: serverId, token_hash: tokenHash })
    .where((either) => either.whereNull('expires_at').orWhere('expires_at', '>', now))
    .where((either) => either.where('single_use', false).orWhere('uses', 0));

export const isRegistrationTokenUsable = async (executor: Executor, serverId: string, tokenHash: string, now: Date): Promise<boolean> =>
  (await usable(executor, serverId, tokenHash, now).first('id')) !== undefined;

/** Uses the token; of concurrent uses of a single-use token, one succeeds. @returns false if it is not valid */
export const useRegistrationToken = async (executor: Executor, serverId: string, tokenHash: string, now: Date): Promise<boolean> =>
  (await usable(executor, serverId, tokenHash, now).update({ uses: executor.raw('uses + 1'), last_used: now })) === 1;

/** @returns the number of deleted tokens, at most `limit` */
export async function deleteExpiredRegistrationTokens(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('registration_tokens').where('expires_at', '<', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('registration_tokens').whereIn('id', expired).delete();
}
