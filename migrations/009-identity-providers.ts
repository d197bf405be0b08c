/**
 * Which user is whom at an identity provider: one subject is one user, and a user is one subject of each provider. Both ends may be deleted; the link
 * goes with them. Adds only.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE identity_provider_links (
  idp_id text NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
  subject text NOT NULL,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  created timestamptz NOT NULL,
  PRIMARY KEY (idp_id, subject),
  UNIQUE (idp_id, user_id)
);
CREATE INDEX identity_provider_links_by_user ON identity_provider_links (user_id);
CREATE INDEX identity_provider_links_by_age ON identity_provider_links (idp_id, seq);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
