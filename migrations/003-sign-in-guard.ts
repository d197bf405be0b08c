/**
 * What guards sign-in: wrong passwords in a row and the lock that they lead to, for each account and for each browser in which its user signed in
 * before, and failures by address. Adds only; processes of the schemas before run on, without the guard.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE users ADD COLUMN failed_sign_ins integer NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN sign_in_locks integer NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN locked_until timestamptz;

CREATE TABLE user_devices (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  device_hash text NOT NULL,
  failed_sign_ins integer NOT NULL DEFAULT 0,
  sign_in_locks integer NOT NULL DEFAULT 0,
  locked_until timestamptz,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, device_hash)
);
CREATE INDEX user_devices_by_expiry ON user_devices (expires_at);
`;

/** As the library rate-limiter-flexible names and types its columns; `expire` in epoch milliseconds. */
const FAILURES_BY_ADDRESS = `
CREATE TABLE failures_by_address (
  key text PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);
CREATE INDEX failures_by_address_by_expiry ON failures_by_address (expire);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
  await knex.raw(FAILURES_BY_ADDRESS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
