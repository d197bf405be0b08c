/**
 * Indexes of the list of users and groups at a SCIM target: by the words of their names, and in the order of their names. Made concurrently, so that the
 * service keeps running; therefore outside a transaction.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

const INDEXES = {
  provisioned_resources_by_words: 'provisioned_resources USING gin (search_words(name))',
  provisioned_resources_by_sorted_name: 'provisioned_resources (application_id, (sort_text(name) COLLATE "C"), seq)',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, place] of Object.entries(INDEXES)) {
    // An index whose creation was interrupted is never used.
    await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await knex.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${place}`);
  }
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
