/**
 * Shared Signals: streams of security events to receivers. `sources` are the types of audit events that the stream's events come from: the statement that writes an
 * audit event compares with them alone.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE signal_streams (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
  description text NOT NULL,
  status text NOT NULL CHECK (status IN ('ENABLED', 'PAUSED', 'DISABLED')),
  status_reason text,
  method text NOT NULL CHECK (method IN ('PUSH', 'POLL')),
  endpoint_url text,
  authorization_sealed text,
  events_requested text[] NOT NULL,
  events text[] NOT NULL,
  sources text[] NOT NULL,
  last_verification timestamptz,
  last_delivered timestamptz,
  last_failed timestamptz,
  last_error text,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);
CREATE INDEX signal_streams_by_application ON signal_streams (application_id);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
