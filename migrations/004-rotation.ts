/**
 * Signing keys that are rotated by themselves, and look-ups that must not read every application or every user. Adds only; processes of the schemas before run on:
 * what they make is rotated by a newer one.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE authorization_servers ADD COLUMN rotation_mode text NOT NULL DEFAULT 'AUTO' CHECK (rotation_mode IN ('AUTO', 'MANUAL'));

CREATE INDEX users_with_imported_password ON users (password_hash) WHERE password_hash NOT LIKE '$argon2id$%';

CREATE INDEX applications_by_allowed_origin ON applications USING gin ((settings->'allowed_origins') jsonb_path_ops);
CREATE INDEX applications_by_post_logout_uri ON applications USING gin ((settings->'post_logout_redirect_uris') jsonb_path_ops);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
