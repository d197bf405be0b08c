/**
 * By what an application's parts in browser sessions, and an organization's administrators, are found when those are removed; each was a walk through the whole
 * table. Made concurrently, so that sign-ins go on meanwhile; therefore outside a transaction. Adds only.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

const INDEXES = {
  browser_session_clients_by_client: 'browser_session_clients (client_id)',
  roles_by_organization: 'roles (org_id) WHERE org_id IS NOT NULL',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, place] of Object.entries(INDEXES)) {
    // One that was cut off leaves an index of that name that is never used.
    await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await knex.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${place}`);
  }
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
