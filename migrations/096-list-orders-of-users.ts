/**
 * Indexes of the lists of an application's assigned users and of a provider's linked users, in the orders that users can choose there. Made concurrently, so that
 * the service keeps running; therefore outside a transaction.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

const INDEXES = {
  application_users_by_age: 'application_users (application_id, created)',
  identity_provider_links_by_created: 'identity_provider_links (idp_id, created, seq)',
  identity_provider_links_by_sorted_subject: 'identity_provider_links (idp_id, (sort_text(subject) COLLATE "C"), seq)',
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
