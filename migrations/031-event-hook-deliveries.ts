/** The last deliveries of each event hook: what the receiver answered, and how quickly. The body that was sent is made of the event again. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE event_hook_deliveries (
      hook_id text NOT NULL REFERENCES event_hooks ON DELETE CASCADE,
      -- webhook-id: the same at each attempt.
      id text NOT NULL,
      event_id uuid NOT NULL,
      event_type text NOT NULL,
      attempts integer NOT NULL,
      last_attempt timestamptz NOT NULL,
      -- Milliseconds until the response, or until the attempt failed.
      latency integer NOT NULL,
      -- null: there was no response.
      status integer,
      -- The first bytes of it.
      response text NOT NULL,
      error text,
      PRIMARY KEY (hook_id, id)
    );
    CREATE INDEX event_hook_deliveries_by_time ON event_hook_deliveries (hook_id, last_attempt);
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
