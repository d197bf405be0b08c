/** Second factors that are codes sent to their user. A table of its own: processes of the version before know no other factors than apps and passkeys. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE message_factors (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
    type text NOT NULL,
    -- The number as it is shown; null: the e-mail address of the account.
    name text,
    number_sealed text,
    created timestamptz NOT NULL,
    -- Null: no code has confirmed it yet.
    activated timestamptz,
    last_used timestamptz,
    UNIQUE (user_id, type)
  )`);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
