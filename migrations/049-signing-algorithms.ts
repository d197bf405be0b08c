/** PS256 and EdDSA as signing algorithms of authorization servers, and which ones a server has keys for beside RS256, ES256 and its own. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`ALTER TABLE authorization_servers
    DROP CONSTRAINT authorization_servers_signing_alg_check,
    ADD CONSTRAINT authorization_servers_signing_alg_check CHECK (signing_alg IN ('RS256', 'ES256', 'PS256', 'EdDSA')),
    ADD COLUMN additional_signing_algs text[] NOT NULL DEFAULT '{}'`);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
