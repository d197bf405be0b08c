/**
 * What a SCIM client keeps about users and groups, for each token: its own ID of them (`externalId`), and how it labels the e-mail addresses
 * (`type` and `primary`).
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE scim_users (
  token_id text NOT NULL REFERENCES api_tokens ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  external_id text,
  labels jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (token_id, user_id)
);
CREATE INDEX scim_users_by_external_id ON scim_users (token_id, external_id);
CREATE INDEX scim_users_by_user ON scim_users (user_id);
CREATE TABLE scim_groups (
  token_id text NOT NULL REFERENCES api_tokens ON DELETE CASCADE,
  group_id text NOT NULL REFERENCES groups ON DELETE CASCADE,
  external_id text,
  PRIMARY KEY (token_id, group_id)
);
CREATE INDEX scim_groups_by_external_id ON scim_groups (token_id, external_id);
CREATE INDEX scim_groups_by_group ON scim_groups (group_id);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
