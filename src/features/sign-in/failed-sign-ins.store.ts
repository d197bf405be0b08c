/**
 * Failed sign-ins: columns of `users`, and of `user_devices` for the browsers in which the user signed in before. The only SQL on the
 * latter, except for the plain case of a sign-in (sign-ins.store.ts).
 */

import type { Executor } from '../../platform/database/database.ts';
import type { FailedAttempts } from './lockout.policy.ts';

const COLUMNS = { failures: 'failed_sign_ins', locks: 'sign_in_locks', lockedUntil: 'locked_until' } as const;

/** Key of a counter. */
export interface FailureCount {
  readonly userId: string;
  /** Present: attempts in this browser, in which the user signed in before. */
  readonly deviceHash: string | undefined;
  readonly attempts: FailedAttempts;
}

/**
 * Locks the user, so that each of several concurrent attempts sees the previous one.
 * @param deviceHash of the browser's device cookie, known or not
 * @returns undefined if there is no such user
 */
export async function lockFailedAttempts(
  trx: Executor,
  userId: string,
  deviceHash: string | undefined,
  now: Date,
): Promise<FailureCount | undefined> {
  const ofUser = await trx('users').where({ id: userId }).forUpdate().first<FailedAttempts | undefined>(COLUMNS);
  // Also queried for an unknown user, so that the timing is equal.
  const ofDevice =
    deviceHash === undefined
      ? undefined
      : await trx('user_devices')
          .where({ user_id: userId, device_hash: deviceHash })
          .where('expires_at', '>', now)
          .first<FailedAttempts | undefined>(COLUMNS);
  if (ofUser === undefined) return undefined;
  return { userId, deviceHash: ofDevice && deviceHash, attempts: ofDevice ?? ofUser };
}

/** Stores the new counts. @param counted undefined: an unknown user, with equal timing */
export async function saveFailedAttempts(trx: Executor, counted: FailureCount | undefined): Promise<void> {
  const { failures, locks, lockedUntil } = counted?.attempts ?? { failures: 0, locks: 0, lockedUntil: null };
  const row = { failed_sign_ins: failures, sign_in_locks: locks, locked_until: lockedUntil };
  if (counted?.deviceHash === undefined) {
    await trx('users')
      .where({ id: counted?.userId ?? '' })
      .update(row);
  } else await trx('user_devices').where({ user_id: counted.userId, device_hash: counted.deviceHash }).update(row);
}

/** Limit per user: a browser that drops cookies would add one with each sign-in. */
export const MOST_DEVICES = 20;

/** The user signed in with this browser: count its attempts separately. */
export async function rememberDevice(trx: Executor, userId: string, deviceHash: string, expiresAt: Date): Promise<void> {
  const row = { user_id: userId, device_hash: deviceHash, failed_sign_ins: 0, sign_in_locks: 0, locked_until: null, expires_at: expiresAt };
  await trx('user_devices')
    .insert({ ...row, told: false })
    .onConflict(['user_id', 'device_hash'])
    .merge(row);
  await forgetOldDevices(trx, userId);
}

/** An expression without an index: with an index on all browsers, PostgreSQL might scan that for one user if statistics are missing. */
export const NEWEST_DEVICES_FIRST = "expires_at + interval '0' DESC";

async function forgetOldDevices(trx: Executor, userId: string): Promise<void> {
  const newest = trx('user_devices').where({ user_id: userId }).orderByRaw(NEWEST_DEVICES_FIRST).limit(MOST_DEVICES).select('device_hash');
  await trx('user_devices').where({ user_id: userId }).whereNotIn('device_hash', newest).delete();
}

/** The user completed a sign-in with this browser. @returns whether it is the first time, so that the user gets an e-mail */
export async function isNewDevice(trx: Executor, userId: string, deviceHash: string, expiresAt: Date): Promise<boolean> {
  const changed = await trx('user_devices')
    .insert({ user_id: userId, device_hash: deviceHash, expires_at: expiresAt, told: true })
    .onConflict(['user_id', 'device_hash'])
    .merge(['told'])
    .where('user_devices.told', false)
    .returning('user_id');
  await forgetOldDevices(trx, userId);
  return changed.length === 1;
}

/** Has the user signed in with this browser before? */
export async function isKnownDevice(executor: Executor, userId: string, deviceHash: string, now: Date): Promise<boolean> {
  const known = executor('user_devices').where({ user_id: userId, device_hash: deviceHash }).where('expires_at', '>', now);
  return (await known.first('user_id')) !== undefined;
}

/** Has the user completed a sign-in with this browser? A correct password alone makes it known, but not theirs. */
export async function hasSignedInWith(executor: Executor, userId: string, deviceHash: string, now: Date): Promise<boolean> {
  const known = executor('user_devices').where({ user_id: userId, device_hash: deviceHash, told: true }).where('expires_at', '>', now);
  return (await known.first('user_id')) !== undefined;
}

/**
 * Ends all locks of the user's password and resets their counts; known browsers remain. Codes have a separate count (factors), which a new
 * password does not reset.
 */
export async function forgetFailedAttempts(trx: Executor, userId: string): Promise<void> {
  const none = { failed_sign_ins: 0, sign_in_locks: 0, locked_until: null };
  await trx('users').where({ id: userId }).update(none);
  await trx('user_devices').where({ user_id: userId }).update(none);
}

/** @returns the number of deleted browsers, at most `limit` */
export async function deleteExpiredDevices(executor: Executor, now: Date, limit: number): Promise<number> {
  const key = ['user_id', 'device_hash'];
  const expired = executor('user_devices').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select(key);
  return executor('user_devices').whereIn(key, expired).delete();
}
