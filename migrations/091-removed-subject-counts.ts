/** At most how many users a receiver has removed from its signal stream: a removal need not count them each time. */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE signal_streams ADD COLUMN removed_at_most integer NOT NULL DEFAULT 0;
UPDATE signal_streams s SET removed_at_most = r.n FROM (SELECT stream_id, count(*) AS n FROM removed_signal_subjects GROUP BY stream_id) r WHERE r.stream_id = s.id;
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
