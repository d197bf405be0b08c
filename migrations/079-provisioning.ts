/**
 * Outbound provisioning: the SCIM target of an application, and what it was sent. A row about a user or group outlives them, because the target has to be told
 * that they are gone.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE provisioning_targets (
  application_id text PRIMARY KEY REFERENCES applications ON DELETE CASCADE,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  status text NOT NULL CHECK (status IN ('ACTIVE', 'INACTIVE')),
  base_url text NOT NULL,
  auth jsonb NOT NULL,
  secret_sealed text NOT NULL,
  mapping jsonb NOT NULL DEFAULT '{}',
  leavers text NOT NULL CHECK (leavers IN ('DEACTIVATE', 'DELETE')),
  push_groups boolean NOT NULL DEFAULT false,
  away_since timestamptz,
  away_reason text,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);
CREATE TABLE provisioned_resources (
  application_id text NOT NULL REFERENCES provisioning_targets ON DELETE CASCADE,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  kind text NOT NULL CHECK (kind IN ('user', 'group')),
  id text NOT NULL,
  name text NOT NULL,
  remote_id text,
  created_there boolean NOT NULL DEFAULT false,
  state text NOT NULL CHECK (state IN ('PROVISIONED', 'DEACTIVATED', 'FAILED')),
  digest text,
  failures integer NOT NULL DEFAULT 0,
  error text,
  last_attempt timestamptz NOT NULL,
  last_success timestamptz,
  PRIMARY KEY (application_id, kind, id)
);
CREATE INDEX provisioned_resources_by_id ON provisioned_resources (kind, id);
CREATE INDEX provisioned_resources_by_state ON provisioned_resources (application_id, state, seq);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
