/** How old what a read replica shows is: each process that reads from one counts here, and looks at the replica for what it has counted. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE read_heartbeats (
      id uuid PRIMARY KEY,
      beat bigint NOT NULL,
      written timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 50);
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
