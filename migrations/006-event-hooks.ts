/**
 * Event hooks: whom to tell of which events, and what keeps the news of one object in order on their way. Adds only; processes of the schemas
 * before run on, whose events reach no hook.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE event_hooks (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  verification_status text NOT NULL DEFAULT 'UNVERIFIED' CHECK (verification_status IN ('UNVERIFIED', 'VERIFIED')),
  event_types text[] NOT NULL,
  channel jsonb NOT NULL,
  signing_secret_sealed text NOT NULL,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  created_by text NOT NULL,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);

ALTER TABLE outbox ADD COLUMN object_key text;
CREATE INDEX outbox_by_object ON outbox (kind, ordering_key, object_key, seq) WHERE object_key IS NOT NULL;
CREATE INDEX outbox_by_receiver ON outbox (kind, ordering_key, due, seq);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
