/** The browser that a sign-in waits in for its next step. Null where it has no cookie for that, and in rows of a former version. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE sign_in_states ADD COLUMN device_hash text');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
