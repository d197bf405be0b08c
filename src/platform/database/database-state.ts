/** How the database itself is set up: what the doctor asks of it (PostgreSQL, "Server Configuration"). Holds nothing about the service's data. */
import type { Database } from './database.ts';

export interface DatabaseState {
  readonly version: string;
  /** As `server_version_num`: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** As it is for connections of ours. */
  readonly synchronousCommit: string;
  readonly maxConnections: number;
  /** Kept for administrators. */
  readonly reservedConnections: number;
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
      clock_timestamp() AS "now"`);
  const [state] = rows;
  if (state === undefined) throw new Error('the database did not tell its settings');
  return state;
}
