/**
 * Clients that no administrator has registered: an application knows where it comes from, and may expire. A server says whether clients may
 * introduce themselves by a document (Client ID Metadata Documents). A former version of the service takes such rows for ordinary applications.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `ALTER TABLE authorization_servers ADD COLUMN client_id_metadata jsonb NOT NULL DEFAULT '{"enabled": false, "allowedDomains": []}'`,
  );
  await knex.raw(`ALTER TABLE applications
    ADD COLUMN origin text NOT NULL DEFAULT 'ADMIN' CHECK (origin IN ('ADMIN', 'REGISTERED', 'INTRODUCED')),
    ADD COLUMN expires_at timestamptz`);
  await knex.raw('CREATE INDEX applications_by_expiry ON applications (expires_at) WHERE expires_at IS NOT NULL');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
