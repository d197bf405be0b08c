/**
 * Fast path of a password sign-in: one statement reads the user and everything the sign-in depends on, and one writes all changes after a
 * correct password. Other cases take the ordinary path (sign-in.service.ts, failed-sign-ins.store.ts). Named prepared statements through
 * pg; times come from the caller's clock.
 */

import type pg from 'pg';
import { spellingsOf } from '../../platform/dns/address-spelling.ts';
import { eventRow, writingEvent } from '../audit/audit.store.ts';
import type { AuditEvent } from '../audit/events.resource.ts';
import { hasMessageFactor } from '../message-factors/message-factors.store.ts';
import { type RequiredProvider, requiredProviderOf } from '../organization-providers/home-realm.store.ts';
import type { NewEntry } from '../outbox/outbox.store.ts';
import type { User } from '../users/users.resource.ts';
import { USER_AMONG_OTHERS } from '../users/users.store.ts';
import { MOST_DEVICES, NEWEST_DEVICES_FIRST } from './failed-sign-ins.store.ts';

/** User with the data needed for a sign-in. */
export interface SignInCandidate extends User {
  /** Does the user have a second factor? */
  readonly enrolled: boolean;
  /** Lock of this browser; null: its attempts are not counted. */
  readonly deviceLockedUntil: Date | null;
  /** Expiry of this browser's association with the user; null: they have not signed in with it. */
  readonly deviceExpires: Date | null;
  /** The required identity provider, with which no password is accepted; null: none. */
  readonly requiredProvider: Pick<RequiredProvider, 'id' | 'name'> | null;
  /** Did the user get an e-mail about this browser? null: as before. */
  readonly deviceNotified: boolean | null;
}

/** Failures of an address, and the number that blocks it. */
interface AddressCount {
  readonly key: string;
  readonly most: number;
}

const COLUMNS = Object.entries(USER_AMONG_OTHERS)
  .map(([field, column]) => `${column} AS "${field}"`)
  .join(', ');
/** Not EXISTS, for which PostgreSQL may read the factors of all users. */
const HAS_FACTOR = (user: string) =>
  `coalesce((SELECT true FROM user_factors WHERE user_id = ${user} LIMIT 1), (SELECT true FROM passkeys WHERE user_id = ${user} LIMIT 1),
    ${hasMessageFactor(user)}, false)`;
/** Format of rate-limiter-flexible: `expire` in epoch milliseconds. */
const FAILURES = (key: string, now: string, most: string) =>
  `FROM failures_by_address WHERE key = ${key}::text AND (expire > ${now}::bigint OR expire IS NULL) AND points >= ${most}::integer`;

// Always queries both names, for the same timing, each with its own index.
const FIND = {
  name: 'find-candidates',
  text: `SELECT found.*, (SELECT greatest(1, ceil((coalesce(expire, 0) - $4::bigint) / 1000.0))::integer ${FAILURES('$3', '$4', '$5')}) AS "blockedSeconds"
    FROM (SELECT) AS always LEFT JOIN (
      SELECT names.*, ${HAS_FACTOR('names.id')} AS enrolled, ${requiredProviderOf('names')} AS "requiredProvider",
          d.locked_until AS "deviceLockedUntil", d.expires_at AS "deviceExpires", d.told AS "deviceNotified"
        FROM ((SELECT 'login' AS by, ${COLUMNS} FROM users WHERE lower(login) = lower($1::text) LIMIT 1)
          UNION ALL (SELECT 'other login', ${COLUMNS} FROM users WHERE lower(login) = lower($6::text) LIMIT 1)
          UNION ALL (SELECT 'email' AS by, ${COLUMNS} FROM users WHERE lower(email) = lower($1::text) LIMIT 2)
          UNION ALL (SELECT 'email', ${COLUMNS} FROM users WHERE lower(email) = lower($6::text) LIMIT 2)) AS names
        LEFT JOIN LATERAL (SELECT locked_until, expires_at, told FROM user_devices WHERE user_id = names.id AND device_hash = $2::text LIMIT 1) AS d ON true
    ) AS found ON true`,
};

type Found = SignInCandidate & { readonly by: 'login' | 'other login' | 'email' | null; readonly blockedSeconds: number | null };

/**
 * The user with that user name, or else the only one with that e-mail address.
 * @param name undefined: no user can have it
 * @param now for the count, epoch milliseconds
 * @returns blockedSeconds: seconds for which the address is blocked; undefined: it is not blocked
 */
export async function findCandidate(
  pool: pg.Pool,
  {
    name,
    deviceHash,
    address,
    now,
  }: {
    readonly name: string | undefined;
    readonly deviceHash: string | undefined;
    readonly address: AddressCount | undefined;
    readonly now: number;
  },
): Promise<{ readonly blockedSeconds: number | undefined; readonly candidate: SignInCandidate | undefined }> {
  // Without another spelling, the empty name, which no user has. PostgreSQL would not reuse the plan for null.
  const [given = null, other = ''] = name === undefined ? [] : spellingsOf(name);
  const values = [given, deviceHash ?? null, address?.key ?? null, now, address?.most ?? null, other];
  const { rows } = await pool.query<Found>({ ...FIND, values });
  const byEmail = rows.filter(({ by }) => by === 'email');
  const byLogin = rows.find(({ by }) => by === 'login') ?? rows.find(({ by }) => by === 'other login');
  const candidate = byLogin ?? (byEmail.length === 1 ? byEmail[0] : undefined);
  return { blockedSeconds: rows[0]?.blockedSeconds ?? undefined, candidate };
}

/** Event type of a completed sign-in. */
export const SIGN_IN_EVENT = 'user.session.start';

// The user is locked first, then their browser, as in the ordinary path. The lock returns the current state of rows that were changed
// concurrently; a browser row that was added concurrently only affects the insertion.
const SIGN_IN = {
  name: 'sign-in-plainly',
  text: `WITH held AS MATERIALIZED (
      SELECT id, status, password_changed, last_updated, last_login, locked_until FROM users WHERE id = $1 FOR UPDATE),
    device AS MATERIALIZED (
      SELECT d.locked_until, d.told, d.expires_at > $3::timestamptz AS counts
        FROM held h JOIN user_devices d ON d.user_id = h.id AND d.device_hash = $2 FOR UPDATE OF d),
    admitted AS MATERIALIZED (
      SELECT h.id, h.last_login, coalesce(d.counts, false) AS by_device FROM held h LEFT JOIN device d ON true
        WHERE h.status = 'ACTIVE' AND h.password_changed IS NOT DISTINCT FROM $4::timestamptz
          AND date_trunc('milliseconds', h.last_updated) = $5::timestamptz
          AND coalesce(CASE WHEN d.counts THEN d.locked_until ELSE h.locked_until END <= $3::timestamptz, true)
          AND coalesce(d.told, true)
          AND NOT ${HAS_FACTOR('h.id')}
          AND NOT EXISTS (SELECT ${FAILURES('$6', '$7', '$8')})),
    signed_in AS (
      UPDATE users u SET last_login = $3::timestamptz, failed_sign_ins = CASE WHEN a.by_device THEN u.failed_sign_ins ELSE 0 END,
          sign_in_locks = CASE WHEN a.by_device THEN u.sign_in_locks ELSE 0 END, locked_until = CASE WHEN a.by_device THEN u.locked_until END
        FROM admitted a WHERE u.id = a.id RETURNING u.id),
    known AS (
      UPDATE user_devices d SET failed_sign_ins = 0, sign_in_locks = 0, locked_until = NULL, expires_at = $9::timestamptz
        FROM admitted a WHERE d.user_id = a.id AND d.device_hash = $2),
    added AS (
      INSERT INTO user_devices (user_id, device_hash, expires_at, told)
        SELECT a.id, $2, $9::timestamptz, true FROM admitted a WHERE NOT EXISTS (SELECT FROM device)
        ON CONFLICT (user_id, device_hash) DO UPDATE SET told = true WHERE NOT user_devices.told RETURNING user_id),
    forgotten AS (
      DELETE FROM user_devices d USING added WHERE d.user_id = added.user_id AND d.device_hash <> $2 AND d.device_hash NOT IN (
        SELECT device_hash FROM user_devices WHERE user_id = $1 AND device_hash <> $2 ORDER BY ${NEWEST_DEVICES_FIRST} LIMIT ${MOST_DEVICES - 1})),
    ${writingEvent('$10', 'admitted a', [SIGN_IN_EVENT])},
    notice AS (
      INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
        SELECT n.kind, n."orderingKey", n."objectKey", n.payload, n.created, n.created
          FROM admitted a JOIN added ON true, jsonb_to_record($11::jsonb)
            AS n (kind text, "orderingKey" text, "objectKey" text, payload jsonb, created timestamptz)
          WHERE a.last_login IS NOT NULL AND n.kind IS NOT NULL)
    SELECT id FROM signed_in`,
};

/** A correct password, and what is written with it. */
export interface PlainSignIn {
  /** The user's state when the password was verified. */
  readonly user: Pick<User, 'id' | 'passwordChanged' | 'lastUpdated'>;
  readonly deviceHash: string;
  /** Expiry of the browser's association with the user. */
  readonly deviceExpires: Date;
  readonly address: AddressCount | undefined;
  readonly now: Date;
  readonly event: AuditEvent;
  /** Set if the browser is new to a user who signed in before; undefined: no notification. */
  readonly notice: NewEntry | undefined;
}

/**
 * Completes a sign-in: resets failures, stores the browser, writes the event, and queues the notification of a new browser.
 * @returns false if a lock, second factor, blocked address or change of the user prevents it; then nothing was written
 */
export async function signInPlainly(pool: pg.Pool, signIn: PlainSignIn): Promise<boolean> {
  const { user, deviceHash, deviceExpires, address, now, event, notice } = signIn;
  const values = [
    ...[user.id, deviceHash, now, user.passwordChanged, user.lastUpdated],
    ...[address?.key ?? null, now.getTime(), address?.most ?? null],
    ...[deviceExpires, eventRow(event), JSON.stringify(notice ?? {})],
  ];
  return (await pool.query({ values, ...SIGN_IN })).rowCount === 1;
}
