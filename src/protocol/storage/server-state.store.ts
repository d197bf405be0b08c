/**
 * Deletes codes, tokens and session entries of a deleted authorization server. Their rows contain the server's number, which is never reused, so they
 * are already unusable. There is no index on the number, because it would slow down every write: each table is scanned once, in limited pieces.
 */
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';

const PIECE = 5000;

/** Tables, and the order in which they are processed. */
const PLACES = [
  ['oidc_payload', 'id'],
  ['browser_session_clients', 'session_uid'],
] as const;

export async function deleteServerState(executor: Executor, serverKey: number): Promise<void> {
  for (const [table, by] of PLACES) {
    for (let after: string | null = ''; after !== null; ) after = await deletePiece(executor, table, by, serverKey, after);
  }
}

/** @returns where the next piece begins; null at the end */
async function deletePiece(executor: Executor, table: string, by: string, serverKey: number, after: string): Promise<string | null> {
  const { rows } = await executor.raw<{ rows: { last: string | null }[] }>(
    `WITH piece AS MATERIALIZED (SELECT ${by} AS value FROM ${table} WHERE ${by} > ? ORDER BY ${by} LIMIT ?),
      deleted AS (DELETE FROM ${table} WHERE server_key = ? AND ${by} IN (SELECT value FROM piece))
      SELECT max(value) AS last FROM piece`,
    [after, PIECE, serverKey],
  );
  return rows[0]?.last ?? null;
}

// Checks in one statement whether several authorization servers, and all the data they were built from, are unchanged since they were loaded.

/**
 * The database increments a server's revision at every change of it and of its parts (migration 020). Data that all servers share is
 * compared by content.
 */
const REVISIONS = {
  name: 'server-revisions',
  text: `SELECT s.id, concat(s.revision, (SELECT md5(shared::text) FROM settings shared WHERE shared.name = 'sign-in')) AS revision
    FROM authorization_servers s WHERE s.id = ANY($1::text[])`,
};

/** @returns by ID a text that differs after any change, for existing servers only */
export async function findServerRevisions(pool: pg.Pool, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ readonly id: string; readonly revision: string }>({ ...REVISIONS, values: [ids] });
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
