/** A sign-in whose first step was made on another page: a password was chosen by a link. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sign_in_states DROP CONSTRAINT sign_in_states_next_check;
    ALTER TABLE sign_in_states ADD CONSTRAINT sign_in_states_next_check CHECK (next IN ('FACTOR', 'PASSWORD', 'ENROLL', 'FINISH', 'GO_ON'));
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
