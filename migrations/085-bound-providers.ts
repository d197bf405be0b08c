/** An identity provider that was connected with an organization stays one of organizations: without a connection it vouches for no address. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE identity_providers ADD COLUMN of_organization boolean NOT NULL DEFAULT false');
  await knex.raw('UPDATE identity_providers SET of_organization = true WHERE id IN (SELECT idp_id FROM organization_providers)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
