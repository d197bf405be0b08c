/** Dynamic client registration (RFC 7591, 7592): how a server allows it, its initial access tokens, and who may manage an application that registered itself. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`ALTER TABLE authorization_servers ADD COLUMN registration jsonb NOT NULL
    DEFAULT '{"mode": "OFF", "allowedRedirectHosts": [], "allowedScopes": [], "expiresAfterDays": null}'`);
  await knex.raw('ALTER TABLE applications ADD COLUMN registration_server_id text, ADD COLUMN registration_token_hash text');
  await knex.raw(`CREATE TABLE registration_tokens (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
    name text NOT NULL,
    token_hash text NOT NULL UNIQUE,
    single_use boolean NOT NULL,
    uses integer NOT NULL DEFAULT 0,
    created timestamptz NOT NULL,
    expires_at timestamptz,
    last_used timestamptz
  )`);
  await knex.raw('CREATE INDEX registration_tokens_by_server ON registration_tokens (server_id, seq)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
