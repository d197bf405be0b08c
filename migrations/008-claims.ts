/** What users allowed of one scope of a server is found by both: it is forgotten with the scope, and with the server. */
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX consents_by_server ON consents (server_id, scope)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
