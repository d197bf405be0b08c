/** Numbers the deliveries of event hooks, so that their list can be read in pages. */
import type { Knex } from 'knex';

/** At most 50 deliveries of each hook are there: numbering them takes moments. */
const STATEMENTS = `
ALTER TABLE event_hook_deliveries ADD COLUMN seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
CREATE INDEX event_hook_deliveries_by_seq ON event_hook_deliveries (hook_id, seq);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
