/** Inline hooks: endpoints of the operator that are asked while a request waits. Names are unique, as in Okta, so that configuration files know them. */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE inline_hooks (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL UNIQUE,
  type text NOT NULL,
  failure text NOT NULL CHECK (failure IN ('OPEN', 'CLOSED')),
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  channel jsonb NOT NULL,
  signing_secret_sealed text NOT NULL,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  created_by text NOT NULL,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
