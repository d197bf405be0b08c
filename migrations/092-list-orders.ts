/**
 * Indexes of lists: the words of organizations, as migration 025 made those of users, groups and applications, and the members of a group in the order in which
 * they joined. Made concurrently, so that the service keeps running; therefore outside a transaction. The words of a row cost ten times what PostgreSQL takes for
 * granted: it computed them for all members of a group instead of reading the index of words.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

const INDEXES = {
  organizations_by_words: 'organizations USING gin (search_words(name, origin_id))',
  group_members_by_seniority: 'group_members (group_id, created, user_id)',
};

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER FUNCTION search_folded(text) COST 1000');
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
