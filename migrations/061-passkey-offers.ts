/** Users are offered a passkey after a sign-in: it waits for their answer, and who declines is not asked again. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sign_in_states DROP CONSTRAINT sign_in_states_next_check;
    ALTER TABLE sign_in_states ADD CONSTRAINT sign_in_states_next_check CHECK (next IN ('FACTOR', 'PASSWORD', 'ENROLL', 'FINISH', 'GO_ON', 'OFFER'));
    ALTER TABLE users ADD COLUMN passkey_offer_declined timestamptz;
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
