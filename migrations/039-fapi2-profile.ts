/** The protocol profile `fapi2` of authorization servers. Applications keep theirs among their settings. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    "ALTER TABLE authorization_servers DROP CONSTRAINT authorization_servers_profile_check, ADD CONSTRAINT authorization_servers_profile_check CHECK (profile IN ('service', 'openid', 'fapi2'))",
  );
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
