/** Whether authorization servers are still as they were when they were loaded, with all that one is built from: many by one statement. */
import type pg from 'pg';

const all = (rows: string, order: string): string => `coalesce((SELECT string_agg(part::text, ' ' ORDER BY ${order}) FROM ${rows}), '')`;

const DIGESTS = {
  name: 'server-digests',
  text: `SELECT s.id, md5(concat_ws(' | ', s::text,
      ${all('scopes part WHERE part.server_id = s.id', 'part.seq')},
      ${all('claims part WHERE part.server_id = s.id', 'part.seq')},
      ${all('signing_keys part WHERE part.server_id = s.id', 'part.kid')},
      ${all('policies part WHERE part.server_id = s.id', 'part.id')},
      ${all('policy_rules part JOIN policies p ON p.id = part.policy_id WHERE p.server_id = s.id', 'part.id')},
      ${all("settings part WHERE part.name = 'sign-in'", 'part.name')})) AS digest
    FROM authorization_servers s WHERE s.id = ANY($1::text[])`,
};

/** @returns by id a text that is another one after any change, of the servers that there are */
export async function findServerDigests(pool: pg.Pool, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ readonly id: string; readonly digest: string }>({ ...DIGESTS, values: [ids] });
  return new Map(rows.map(({ id, digest }) => [id, digest]));
}
