/**
 * What the management API needs beside the resources themselves: answers kept for repeated calls, links by which people choose a password, ids of consents, and numbers and indexes for lists,
 * searches and endings. Adds only; processes of the first schema run on.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE idempotent_calls (
  id text PRIMARY KEY,
  request_hash text NOT NULL,
  answer_sealed text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX idempotent_calls_by_expiry ON idempotent_calls (expires_at);

CREATE TABLE one_time_links (
  id text PRIMARY KEY,
  purpose text NOT NULL,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);
CREATE INDEX one_time_links_by_expiry ON one_time_links (expires_at);

ALTER TABLE consents ADD COLUMN id text NOT NULL
  GENERATED ALWAYS AS ('gra_' || md5(user_id || ' ' || application_id || ' ' || server_id || ' ' || scope)) STORED;
ALTER TABLE consents ADD COLUMN seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
CREATE INDEX consents_by_user ON consents (user_id, seq);
CREATE INDEX consents_by_application ON consents (application_id);
CREATE UNIQUE INDEX consents_by_id ON consents (user_id, id);

ALTER TABLE memberships ADD COLUMN seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
CREATE INDEX memberships_by_seniority ON memberships (org_id, seq);
CREATE INDEX departments_by_age ON departments (org_id, seq);

CREATE INDEX users_by_login_prefix ON users (lower(login) text_pattern_ops);
CREATE INDEX users_by_email_prefix ON users (lower(email) text_pattern_ops) WHERE email IS NOT NULL;
CREATE INDEX users_by_first_name_prefix ON users (lower(profile->>'firstName') text_pattern_ops);
CREATE INDEX users_by_last_name_prefix ON users (lower(profile->>'lastName') text_pattern_ops);
CREATE INDEX groups_by_name_prefix ON groups (lower(name) text_pattern_ops);

CREATE INDEX oidc_payload_by_client ON oidc_payload (client_id) WHERE client_id IS NOT NULL;
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
