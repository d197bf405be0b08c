/** Members whose account existed before and who joined by themselves: the organization's administrators do not change their accounts. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE memberships ADD COLUMN is_joined boolean NOT NULL DEFAULT false');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
