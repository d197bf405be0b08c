/**
 * Mail: to which address a one-time link was sent, links that verify an address, which browsers their users know of, and the inbox that stands in for a
 * mail server on a developer's machine. Adds only: browsers that an older process notes count as told of.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE one_time_links ADD COLUMN mailed_to text;
ALTER TABLE user_devices ADD COLUMN told boolean NOT NULL DEFAULT true;

CREATE TABLE email_verifications (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  email text NOT NULL,
  replaces text,
  created timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX email_verifications_by_user ON email_verifications (user_id);
CREATE INDEX email_verifications_by_expiry ON email_verifications (expires_at);

CREATE TABLE dev_inbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  sealed text NOT NULL,
  created timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX dev_inbox_by_expiry ON dev_inbox (expires_at);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
