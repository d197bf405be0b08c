/** Texts of pages and e-mails that the operator has changed, by language and key. A text that is not here is the product's own. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE texts (
      language text NOT NULL,
      key text NOT NULL,
      value text NOT NULL,
      last_updated timestamptz NOT NULL,
      PRIMARY KEY (language, key)
    );
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
