/** By which external provider a sign-in began that waits for its second step, so that the session knows it. Adds only. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE sign_in_states ADD COLUMN idp_id text');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
