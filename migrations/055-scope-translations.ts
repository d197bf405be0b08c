/** Names and descriptions of scopes in the languages of the pages, by language. An empty object: the texts of the scope stand in all of them. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("ALTER TABLE scopes ADD COLUMN translations jsonb NOT NULL DEFAULT '{}'");
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
