/** Hashes of the passwords that users had before, which settings/password may keep them from choosing again. They go with their user. Adds only. */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE password_history (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  password_hash text NOT NULL,
  PRIMARY KEY (user_id, seq)
);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
