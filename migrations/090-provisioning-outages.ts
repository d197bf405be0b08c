/** Why and when a SCIM target was away last, and the accounts there of users who are deleted here: nobody else is linked with them. */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE provisioning_targets
  ADD COLUMN outage_since timestamptz,
  ADD COLUMN outage_until timestamptz,
  ADD COLUMN outage_reason text,
  ADD COLUMN outages_in_a_row integer NOT NULL DEFAULT 0;
CREATE TABLE former_remote_users (
  application_id text NOT NULL REFERENCES provisioning_targets ON DELETE CASCADE,
  remote_id text NOT NULL,
  PRIMARY KEY (application_id, remote_id)
);
CREATE INDEX provisioned_resources_by_remote_id ON provisioned_resources (application_id, remote_id);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
