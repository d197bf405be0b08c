/** Browsers in which a user is not asked for their second factor for some days. A browser's token is stored as a digest. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE trusted_browsers (
      id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      token_hash text NOT NULL UNIQUE,
      user_agent text NOT NULL,
      ip_address text,
      created timestamptz NOT NULL,
      last_used timestamptz,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX trusted_browsers_by_user ON trusted_browsers (user_id, seq);
    CREATE INDEX trusted_browsers_by_expiry ON trusted_browsers (expires_at);
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
