/**
 * Deletes a client's codes, tokens and session entries when its application is deleted. There may be many rows, so they are deleted in
 * batches. They are unusable at once, because their client no longer exists (RFC 7662 section 2.2).
 */
import type { Executor } from '../../platform/database/database.ts';

const BATCH = 5000;

/** Tables and keys. Session entries come first, in the same order as when a user's sessions and tokens are ended. */
const PLACES = [
  ['browser_session_clients', 'session_uid, server_key, client_id'],
  ['oidc_payload', 'id, model, server_key'],
] as const;

const deleteThose = (rows: string): string[] =>
  PLACES.map(([table, key]) => `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE client_id = ? ${rows})`);

/** Does not wait for locks, and stops if an application with the same ID was created again: newer rows belong to that one. */
const LEFT_OVER = deleteThose('AND NOT EXISTS (SELECT FROM applications WHERE applications.id = ?) LIMIT ? FOR UPDATE SKIP LOCKED');
/** Waits for transactions that use or delete a row, so that none remains. */
const EVERY = deleteThose('LIMIT ? FOR UPDATE');

/** Deletes the rows of a deleted application. Rows that a concurrent request has locked expire later. In a transaction, one that fails leaves the rest of it usable. */
export async function deleteLeftOverClientState(executor: Executor, clientId: string): Promise<void> {
  for (const statement of LEFT_OVER)
    while ((await executor.transaction((trx) => deleted(trx, statement, [clientId, clientId, BATCH]))) === BATCH);
}

/** Deletes all rows of the client_id, so that a new application does not inherit any. */
export async function deleteClientState(trx: Executor, clientId: string): Promise<void> {
  for (const statement of EVERY) while ((await deleted(trx, statement, [clientId, BATCH])) > 0);
}

async function deleted(executor: Executor, statement: string, bindings: readonly (string | number)[]): Promise<number> {
  const { rowCount } = await executor.raw<{ rowCount: number }>(statement, bindings);
  return rowCount;
}
