/** Security events that wait to be polled, until their receiver acknowledges them. */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE signal_sets (
  stream_id text NOT NULL REFERENCES signal_streams ON DELETE CASCADE,
  jti text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  event jsonb NOT NULL,
  created timestamptz NOT NULL,
  PRIMARY KEY (stream_id, jti)
);
CREATE INDEX signal_sets_in_order ON signal_sets (stream_id, seq);
CREATE INDEX signal_sets_by_age ON signal_sets (created);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
