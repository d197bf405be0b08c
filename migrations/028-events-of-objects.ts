/**
 * Indexes for the activity of an application, group or organization: it is the first or the second target of an event. Events about users alone are in
 * neither, so a sign-in costs nothing more. Made concurrently, so that the service keeps running; therefore outside a transaction.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  for (const [name, place] of [
    ['audit_events_by_first_object', 0],
    ['audit_events_by_second_object', 1],
  ] as const) {
    // An index whose creation was interrupted is never used.
    await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await knex.raw(
      `CREATE INDEX CONCURRENTLY ${name} ON audit_events ((target->${place}->>'id'), seq) WHERE target->${place}->>'type' <> 'User'`,
    );
  }
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
