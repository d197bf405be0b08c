/** Links by which a customer's administrator sets up how the organization's users sign in. Digests of the link's token, and of the browser that has begun with it. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE organization_setups (
    org_id text PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    token_hash text NOT NULL UNIQUE,
    browser_hash text UNIQUE,
    idp_id text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('OFFERED', 'REQUIRED')),
    domain text,
    created_by text NOT NULL,
    created timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  )`);
  await knex.raw('CREATE INDEX organization_setups_by_expiry ON organization_setups (expires_at)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
