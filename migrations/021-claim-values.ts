/** Claims with fixed values that are no text. A former version of the service tells such a value as its JSON text, and writes texts. */
import type { Knex } from 'knex';

/** Standard claims that could be set only as texts, which libraries refuse (OpenID Connect Core section 5.1). */
const STANDARD = `
UPDATE claims SET value_format = 'JSON' WHERE value_type = 'STATIC' AND (
  (name IN ('email_verified', 'phone_number_verified') AND value IN ('true', 'false')) OR (name = 'updated_at' AND value ~ '^(0|[1-9][0-9]{0,14})$'))`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("ALTER TABLE claims ADD COLUMN value_format text NOT NULL DEFAULT 'TEXT' CHECK (value_format IN ('TEXT', 'JSON'))");
  await knex.raw(STANDARD);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
