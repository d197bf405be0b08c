/**
 * The end of what a client was given (codes, tokens), when its application ends. Rows are many, so they go in bounded batches; that they are
 * worth nothing any more does not wait for it: there is no client of theirs (RFC 7662 section 2.2).
 */
import type { Executor } from './database.ts';

const BATCH = 5000;

const deleteThose = (rows: string): string =>
  `DELETE FROM oidc_payload WHERE (id, model, server_key) IN (SELECT id, model, server_key FROM oidc_payload WHERE client_id = ? ${rows})`;

/** Waits for no lock, and stops where an application of that id has come into being again: what is written since then is that one's. */
const LEFT_OVER = deleteThose('AND NOT EXISTS (SELECT FROM applications WHERE applications.id = ?) LIMIT ? FOR UPDATE SKIP LOCKED');
/** Waits for those who still use or remove a row, so that none is left. */
const EVERY = deleteThose('LIMIT ? FOR UPDATE');

/** Removes what a deleted application was given; a row that a request under way holds is left to its expiry. */
export async function deleteLeftOverClientState(executor: Executor, clientId: string): Promise<void> {
  while ((await deleted(executor, LEFT_OVER, [clientId, clientId, BATCH])) === BATCH);
}

/** Removes everything of that client_id, so that a new application begins with nothing of an earlier one's. */
export async function deleteClientState(trx: Executor, clientId: string): Promise<void> {
  while ((await deleted(trx, EVERY, [clientId, BATCH])) > 0);
}

async function deleted(executor: Executor, statement: string, bindings: readonly (string | number)[]): Promise<number> {
  const { rowCount } = await executor.raw<{ rowCount: number }>(statement, bindings);
  return rowCount;
}
