/** Checks in one statement whether several authorization servers, and all the data they were built from, are unchanged since they were loaded. */
import type pg from 'pg';

/** The database marks a server again at every change of it and of its parts (migration 020); what all servers share is marked by its content. */
const REVISIONS = {
  name: 'server-revisions',
  text: `SELECT s.id, concat(s.revision, (SELECT md5(shared::text) FROM settings shared WHERE shared.name = 'sign-in')) AS revision
    FROM authorization_servers s WHERE s.id = ANY($1::text[])`,
};

/** @returns by id a text that is another one after any change, of the servers that there are */
export async function findServerRevisions(pool: pg.Pool, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ readonly id: string; readonly revision: string }>({ ...REVISIONS, values: [ids] });
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
