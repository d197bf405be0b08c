/**
 * A sign-in whose password has expired waits for another one as for any other step, after the second factor. Older processes, which replace it by a
 * one-time link of the purpose `expired`, run on.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE sign_in_states DROP CONSTRAINT sign_in_states_next_check;
ALTER TABLE sign_in_states ADD CONSTRAINT sign_in_states_next_check CHECK (next IN ('FACTOR', 'PASSWORD', 'ENROLL', 'FINISH'));
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
