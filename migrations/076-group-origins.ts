/** Who created a group. SCIM clients delete their groups themselves, so a configuration file does not. */
import type { Knex } from 'knex';

// Until now nothing says who created a group. Those that a SCIM client has an ID for count as created by it: an export can leave them out, and nothing deletes them.
const STATEMENTS = `
ALTER TABLE groups ADD COLUMN origin text NOT NULL DEFAULT 'ADMIN';
UPDATE groups SET origin = 'SCIM' WHERE id IN (SELECT group_id FROM scim_groups);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
