/**
 * Users whom nobody finds by their login: it is looked for in composed Unicode (NFC, see `composedName`), and theirs is kept in another form. Migration 018 left such a login
 * where another user has the composed one, and a process of the version before may have written one since. PostgreSQL composes in databases of UTF8 only.
 */
import type { Database } from '../../platform/database/database.ts';

export interface UncomposedLogin {
  readonly id: string;
  readonly login: string;
  /** Who is found in his place. */
  readonly takenBy: string | null;
}

/** Whatever is plain ASCII need not be looked at closely. */
const UNCOMPOSED = `SELECT id, login,
    (SELECT id FROM users other WHERE lower(other.login) = lower(normalize(users.login, NFC)) AND other.id <> users.id) AS "takenBy"
  FROM users WHERE octet_length(login) > length(login) AND login IS NOT NFC NORMALIZED ORDER BY seq LIMIT $1`;

/** Reads every user. @returns the first of them, `most` at most; undefined where the database is not in UTF8 */
export async function listUncomposedLogins({ pool }: Database, most: number): Promise<readonly UncomposedLogin[] | undefined> {
  const { rows } = await pool.query<{ encoding: string }>('SELECT getdatabaseencoding() AS encoding');
  if (rows[0]?.encoding !== 'UTF8') return undefined;
  return (await pool.query<UncomposedLogin>(UNCOMPOSED, [most])).rows;
}
