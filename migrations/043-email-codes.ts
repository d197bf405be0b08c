/** Codes and links by e-mail that go on with something in the browser that asked: a sign-in, or a sign-up whose form waits until the address is proved. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE email_codes (
    id text PRIMARY KEY,
    link_id text NOT NULL UNIQUE,
    purpose text NOT NULL,
    place text NOT NULL,
    device_hash text NOT NULL,
    user_id text REFERENCES users ON DELETE CASCADE,
    mailed_to text,
    sealed text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    created timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  )`);
  await knex.raw('CREATE INDEX email_codes_by_user ON email_codes (user_id)');
  await knex.raw('CREATE INDEX email_codes_by_expiry ON email_codes (expires_at)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
