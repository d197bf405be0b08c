/** Network zones: named lists of networks that the rules of the sign-in policy refer to. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE network_zones (
      id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      name text NOT NULL,
      networks text[] NOT NULL,
      created timestamptz NOT NULL,
      last_updated timestamptz NOT NULL,
      CONSTRAINT network_zones_name_key UNIQUE (name)
    );
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
