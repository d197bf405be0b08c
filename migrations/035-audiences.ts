/** The audiences of a server beside its first one. A former version of the service knows the first one alone. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("ALTER TABLE authorization_servers ADD COLUMN further_audiences text[] NOT NULL DEFAULT '{}'");
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
