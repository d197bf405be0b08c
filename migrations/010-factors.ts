/**
 * Second factors: what a user proves himself by beside the password, his recovery codes, sign-ins that wait for their second step, and wrong codes in a
 * row. Adds only; processes of the schemas before run on, without second factors.
 */
import type { Knex } from 'knex';

const FACTORS = `
CREATE TABLE user_factors (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  type text NOT NULL CHECK (type = 'TOTP'),
  name text NOT NULL,
  created timestamptz NOT NULL,
  last_used timestamptz,
  sealed_secret text NOT NULL,
  -- The last time step that a code was accepted of.
  last_step bigint NOT NULL
);
CREATE UNIQUE INDEX user_factors_one_totp ON user_factors (user_id) WHERE type = 'TOTP';
CREATE INDEX user_factors_by_user ON user_factors (user_id, seq);

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- SHA-256 of the code.
  code_hash text NOT NULL,
  created timestamptz NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

ALTER TABLE users ADD COLUMN failed_factors integer NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN factor_locks integer NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN factors_locked_until timestamptz;
`;

const SIGN_IN_STATES = `
CREATE TABLE sign_in_states (
  -- SHA-256 of the state token.
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- Where the sign-in goes on: nowhere else is the token worth anything.
  place text NOT NULL,
  next text NOT NULL CHECK (next IN ('FACTOR', 'ENROLL', 'FINISH')),
  amr text[] NOT NULL,
  authenticated_at timestamptz NOT NULL,
  steps_up boolean NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  sealed_secret text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_states_by_user ON sign_in_states (user_id);
CREATE INDEX sign_in_states_by_expiry ON sign_in_states (expires_at);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(FACTORS);
  await knex.raw(SIGN_IN_STATES);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
