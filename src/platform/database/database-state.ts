/** Settings of the database server for the doctor (PostgreSQL, "Server Configuration"). No data of the service. */
import type { Database } from './database.ts';

export interface DatabaseState {
  readonly version: string;
  /** Same as `server_version_num`: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** Value for connections of the service. */
  readonly synchronousCommit: string;
  readonly maxConnections: number;
  /** Kept for administrators. */
  readonly reservedConnections: number;
  /** Does the database's locale have letters other than A to Z? */
  readonly foldsLetters: boolean;
  readonly now: Date;
}

export async function readDatabaseState({ pool }: Database): Promise<DatabaseState> {
  const { rows } = await pool.query<DatabaseState>(`
    SELECT current_setting('server_version') AS "version",
      current_setting('server_version_num')::int AS "versionNumber",
      current_setting('fsync') AS "fsync",
      current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit",
      current_setting('max_connections')::int AS "maxConnections",
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true), '0')::int AS "reservedConnections",
      lower('\u00c4\u0414') = '\u00e4\u0434' AS "foldsLetters",
      clock_timestamp() AS "now"`);
  const [state] = rows;
  if (state === undefined) throw new Error('the database returned no settings');
  return state;
}
