/** Bulk actions: a job, and its rows with what became of each. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE bulk_jobs (
      id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      action text NOT NULL,
      parameters jsonb NOT NULL,
      state text NOT NULL CHECK (state IN ('DRAFT', 'RUNNING', 'DONE', 'CANCELLED')),
      created_by text NOT NULL REFERENCES users ON DELETE CASCADE,
      request jsonb NOT NULL,
      total integer NOT NULL,
      created timestamptz NOT NULL,
      started timestamptz,
      finished timestamptz,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX bulk_jobs_by_creator ON bulk_jobs (created_by, seq);
    CREATE INDEX bulk_jobs_by_expiry ON bulk_jobs (expires_at);
    CREATE TABLE bulk_job_rows (
      job_id text NOT NULL REFERENCES bulk_jobs ON DELETE CASCADE,
      line integer NOT NULL,
      name text NOT NULL,
      item jsonb NOT NULL,
      outcome text CHECK (outcome IN ('DONE', 'REFUSED')),
      reason text,
      PRIMARY KEY (job_id, line)
    );
    CREATE INDEX bulk_job_rows_waiting ON bulk_job_rows (job_id, line) WHERE outcome IS NULL;
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
