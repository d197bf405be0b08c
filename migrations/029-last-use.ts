/** When an application and each of its secrets were last used, and secrets that are off. Adds only; the former version takes every secret for active. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE applications ADD COLUMN last_used timestamptz;
    ALTER TABLE application_secrets ADD COLUMN last_used timestamptz;
    ALTER TABLE application_secrets ADD COLUMN status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE'));
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
