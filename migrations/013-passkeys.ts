/**
 * Passkeys (WebAuthn Level 3, section 4, "credential record"), and the handle by which authenticators know a user. A table of their own, not rows of
 * `user_factors`: processes of the schemas before would open the secret of each row there, and a passkey has none. Adds only; those processes run on,
 * without passkeys.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
CREATE TABLE passkeys (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- As the authenticator made it, base64url.
  credential_id text NOT NULL UNIQUE,
  -- COSE_Key (RFC 9052 section 7).
  public_key bytea NOT NULL,
  sign_count bigint NOT NULL,
  transports text[] NOT NULL,
  -- May it be copied to other devices, and has it been?
  multi_device boolean NOT NULL,
  backed_up boolean NOT NULL,
  -- The model of the authenticator, as it says itself.
  aaguid text NOT NULL,
  name text NOT NULL,
  created timestamptz NOT NULL,
  last_used timestamptz
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, seq);

-- Random (WebAuthn section 14.6.1), and kept when the last passkey goes: an authenticator replaces its passkey of the same handle.
ALTER TABLE users ADD COLUMN passkey_handle text;
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
