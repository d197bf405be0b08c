/** Types of authorization details (RFC 9396) of an authorization server, and what users allowed of them. A consent without a detail is one to a scope, as before. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE authorization_detail_types (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
    name text NOT NULL,
    display_name text NOT NULL,
    template text NOT NULL,
    translations jsonb NOT NULL,
    schema jsonb NOT NULL,
    remember_consent boolean NOT NULL,
    UNIQUE (server_id, name)
  )`);
  await knex.raw(
    'CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OR DELETE ON authorization_detail_types FOR EACH ROW EXECUTE FUNCTION mark_server_of_part()',
  );
  await knex.raw('ALTER TABLE consents ADD COLUMN detail jsonb');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
