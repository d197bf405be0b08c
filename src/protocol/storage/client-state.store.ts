/**
 * The end of what a client was given (codes, tokens) and of its parts in browser sessions, when its application ends. Rows are many, so they go in
 * bounded batches; that they are worth nothing any more does not wait for it: there is no client of theirs (RFC 7662 section 2.2).
 */
import type { Executor } from '../../platform/database/database.ts';

const BATCH = 5000;

/** Tables and keys. Session parts first, in the same order as when a user's sessions and tokens are ended. */
const PLACES = [
  ['browser_session_clients', 'session_uid, server_key, client_id'],
  ['oidc_payload', 'id, model, server_key'],
] as const;

const deleteThose = (rows: string): string[] =>
  PLACES.map(([table, key]) => `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE client_id = ? ${rows})`);

/** Waits for no lock, and stops where an application of that id has come into being again: what is written since then is that one's. */
const LEFT_OVER = deleteThose('AND NOT EXISTS (SELECT FROM applications WHERE applications.id = ?) LIMIT ? FOR UPDATE SKIP LOCKED');
/** Waits for those who still use or remove a row, so that none is left. */
const EVERY = deleteThose('LIMIT ? FOR UPDATE');

/** Removes what a deleted application was given; a row that a request under way holds is left to its expiry. */
export async function deleteLeftOverClientState(executor: Executor, clientId: string): Promise<void> {
  for (const statement of LEFT_OVER) while ((await deleted(executor, statement, [clientId, clientId, BATCH])) === BATCH);
}

/** Removes everything of that client_id, so that a new application begins with nothing of an earlier one's. */
export async function deleteClientState(trx: Executor, clientId: string): Promise<void> {
  for (const statement of EVERY) while ((await deleted(trx, statement, [clientId, BATCH])) > 0);
}

async function deleted(executor: Executor, statement: string, bindings: readonly (string | number)[]): Promise<number> {
  const { rowCount } = await executor.raw<{ rowCount: number }>(statement, bindings);
  return rowCount;
}
