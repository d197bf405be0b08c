/** What processes tell each other where they cannot listen (`NOTIFICATIONS=poll`): a row for each change of something that others may hold in a cache. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE change_notices (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      change jsonb NOT NULL,
      created timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX change_notices_by_time ON change_notices (created);
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
