/** E-mail domains of organizations. Many may claim a domain; only one can have verified it. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE organization_domains (
    org_id text NOT NULL REFERENCES organizations ON DELETE CASCADE,
    domain text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    challenge text NOT NULL,
    created timestamptz NOT NULL,
    verified timestamptz,
    PRIMARY KEY (org_id, domain)
  )`);
  await knex.raw('CREATE UNIQUE INDEX organization_domains_verified ON organization_domains (domain) WHERE verified IS NOT NULL');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
