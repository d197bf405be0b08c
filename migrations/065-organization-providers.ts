/**
 * Identity providers of organizations, and the verified domains that each is for. `spelling` is the domain as people write it: addresses of users are
 * stored that way. A domain requires one provider at most.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE organization_providers (
    org_id text NOT NULL REFERENCES organizations ON DELETE CASCADE,
    idp_id text NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    mode text NOT NULL CHECK (mode IN ('OFFERED', 'REQUIRED')),
    auto_join boolean NOT NULL,
    default_dep_id text,
    created timestamptz NOT NULL,
    last_updated timestamptz NOT NULL,
    PRIMARY KEY (org_id, idp_id),
    CONSTRAINT organization_providers_department FOREIGN KEY (org_id, default_dep_id) REFERENCES departments (org_id, id)
      ON DELETE SET NULL (default_dep_id)
  )`);
  await knex.raw('CREATE INDEX organization_providers_by_provider ON organization_providers (idp_id)');
  await knex.raw(`CREATE TABLE organization_provider_domains (
    org_id text NOT NULL,
    idp_id text NOT NULL,
    domain text NOT NULL,
    spelling text NOT NULL,
    required boolean NOT NULL,
    PRIMARY KEY (domain, idp_id),
    FOREIGN KEY (org_id, idp_id) REFERENCES organization_providers ON DELETE CASCADE,
    CONSTRAINT organization_provider_domains_verified FOREIGN KEY (org_id, domain) REFERENCES organization_domains
  )`);
  await knex.raw('CREATE UNIQUE INDEX organization_provider_domains_required ON organization_provider_domains (domain) WHERE required');
  await knex.raw('CREATE INDEX organization_provider_domains_by_spelling ON organization_provider_domains (spelling)');
  await knex.raw('CREATE INDEX organization_providers_by_department ON organization_providers (org_id, default_dep_id)');
  await knex.raw('CREATE INDEX organization_provider_domains_by_domain ON organization_provider_domains (org_id, domain)');
  await knex.raw('CREATE INDEX organization_provider_domains_by_provider ON organization_provider_domains (org_id, idp_id)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
