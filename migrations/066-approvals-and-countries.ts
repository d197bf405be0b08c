/** Sign-ups that wait for an administrator, and the countries that a user has signed in from. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE users ADD COLUMN approval_requested timestamptz;
    CREATE INDEX users_by_approval ON users (seq) WHERE approval_requested IS NOT NULL;
    CREATE TABLE sign_in_countries (
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      country text NOT NULL,
      last_used timestamptz NOT NULL,
      PRIMARY KEY (user_id, country)
    );
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
