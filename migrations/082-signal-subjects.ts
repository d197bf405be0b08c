/** Users whom a receiver of signals has removed from its stream. Without a reference to users: that such a user is deleted is no event of the stream either. */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE removed_signal_subjects (
  stream_id text NOT NULL REFERENCES signal_streams ON DELETE CASCADE,
  user_id text NOT NULL,
  removed timestamptz NOT NULL,
  PRIMARY KEY (stream_id, user_id)
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
