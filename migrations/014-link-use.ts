/** What a user sees of his links to identity providers: what he is known as there, and when he last came from there. Adds only. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE identity_provider_links ADD COLUMN known_as text, ADD COLUMN last_used timestamptz');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
