/**
 * What the dashboard counts, rolled up from the audit log once a minute: sign-ins, failures and applications by hour and by day, and who was active when.
 * Nothing of it is written by a request.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE activity_counts (
      span text NOT NULL CHECK (span IN ('HOUR', 'DAY')),
      -- The beginning of the hour or day, UTC.
      start timestamptz NOT NULL,
      metric text NOT NULL,
      -- Of a failure its reason, of an application its ID.
      key text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (span, start, metric, key)
    );
    CREATE TABLE active_users (
      span text NOT NULL CHECK (span IN ('HOUR', 'DAY')),
      -- The beginning of the day whose hours, or of the month whose days, are in slots.
      start timestamptz NOT NULL,
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      -- A bit for each hour of the day, or each day of the month.
      slots integer NOT NULL,
      PRIMARY KEY (span, start, user_id)
    );
    CREATE INDEX active_users_by_user ON active_users (user_id);
    CREATE TABLE activity_rollup (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      -- Every event before it is counted; null: none is.
      counted_until timestamptz,
      -- When it was counted last.
      counted_at timestamptz
    );
    INSERT INTO activity_rollup DEFAULT VALUES;
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
