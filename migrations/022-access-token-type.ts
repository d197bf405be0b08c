/** The `typ` of a server's JWT access tokens. A former version of the service issues and takes `at+jwt` alone. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    "ALTER TABLE authorization_servers ADD COLUMN access_token_type text NOT NULL DEFAULT 'at+jwt' CHECK (access_token_type IN ('at+jwt', 'JWT'))",
  );
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
