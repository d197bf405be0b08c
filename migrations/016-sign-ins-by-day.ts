/** Sign-ins and failed ones by time, for the console's first page. Adds only; it locks the audit log against writing for some seconds a million events. */
import type { Knex } from 'knex';

/** Of the two types alone, so that no other event costs anything more. */
const STATEMENTS = `
CREATE INDEX audit_events_of_sign_ins ON audit_events (event_type, published)
  WHERE event_type IN ('user.session.start', 'user.authentication.failure');
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
