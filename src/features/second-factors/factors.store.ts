/** Second factors, recovery codes, and counts of wrong codes. The only SQL on these tables and columns; passkeys have their own file. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { hasMessageFactor } from '../message-factors/message-factors.store.ts';
import type { FailedAttempts } from '../sign-in/lockout.policy.ts';
import { isByEmailAlone } from './second-factor.policy.ts';

export interface Factor {
  readonly id: string;
  readonly userId: string;
  /** An authenticator app (RFC 6238). */
  readonly type: 'TOTP';
  /** Name given by the user. */
  readonly name: string;
  readonly created: Date;
  readonly lastUsed: Date | null;
  /** See features/second-factors/one-time-codes.service.ts. */
  readonly sealedSecret: string;
}

const FACTOR: Columns<Factor> = columns('id', 'userId', 'type', 'name', 'created', 'lastUsed', 'sealedSecret');

/** @returns the user's authenticator apps, oldest first */
export async function listFactors(executor: Executor, userId: string): Promise<Factor[]> {
  return executor('user_factors').where({ user_id: userId }).orderBy('seq').select<Factor[]>(FACTOR);
}

const HAS_FACTOR = `SELECT EXISTS (SELECT FROM user_factors WHERE user_id = :userId) OR EXISTS (SELECT FROM passkeys WHERE user_id = :userId)
  OR coalesce(${hasMessageFactor(':userId', 'CAST(:byEmail AS boolean)')}, false) AS has`;

/** Does the user have a second factor, of any kind that the sign-in policy allows? @param first the methods of a first step that it would follow */
export async function hasFactor(executor: Executor, userId: string, first: readonly string[] = []): Promise<boolean> {
  const { rows } = await executor.raw<{ rows: { has: boolean }[] }>(HAS_FACTOR, { userId, byEmail: isByEmailAlone(first) });
  return rows[0]?.has === true;
}

/** @param lastStep of the code that confirmed it; 0: of none */
export async function insertFactor(executor: Executor, factor: Factor, lastStep: number): Promise<void> {
  await executor('user_factors').insert({ ...toRow(FACTOR, factor), last_step: lastStep });
}

/** Uses a time step (RFC 6238 section 5.2): of concurrent uses one succeeds. @returns false if it, or a later one, was used before */
export async function useStep(executor: Executor, id: string, step: number, now: Date): Promise<boolean> {
  const unused = executor('user_factors').where({ id }).where('last_step', '<', step);
  return (await unused.update({ last_step: step, last_used: now })) === 1;
}

/** @returns false if the user has no such factor */
export async function deleteFactor(executor: Executor, userId: string, id: string): Promise<boolean> {
  return (await executor('user_factors').where({ user_id: userId, id }).delete()) === 1;
}

export async function deleteFactors(executor: Executor, userId: string): Promise<void> {
  await executor('user_factors').where({ user_id: userId }).delete();
}

/** @param hashes SHA-256 of the codes; the user's former codes become invalid */
export async function replaceRecoveryCodes(executor: Executor, userId: string, hashes: readonly string[], now: Date): Promise<void> {
  await executor('recovery_codes').where({ user_id: userId }).delete();
  if (hashes.length > 0) await executor('recovery_codes').insert(hashes.map((code_hash) => ({ user_id: userId, code_hash, created: now })));
}

/** Uses a code: of concurrent uses one succeeds. */
export async function consumeRecoveryCode(executor: Executor, userId: string, hash: string): Promise<boolean> {
  return (await executor('recovery_codes').where({ user_id: userId, code_hash: hash }).delete()) === 1;
}

export async function countRecoveryCodes(executor: Executor, userId: string): Promise<number> {
  const row = await executor('recovery_codes').where({ user_id: userId }).first<{ n: number }>(executor.raw('count(*)::int AS n'));
  return row.n;
}

const FAILURES = { failures: 'failed_factors', locks: 'factor_locks', lockedUntil: 'factors_locked_until' } as const;

/**
 * Counts failed codes only: a correct password does not reset them, because anyone who has it could otherwise guess without a limit. The user must be
 * locked.
 */
export async function findFailedCodes(trx: Executor, userId: string): Promise<FailedAttempts | undefined> {
  return trx('users').where({ id: userId }).first<FailedAttempts | undefined>(FAILURES);
}

export async function saveFailedCodes(trx: Executor, userId: string, { failures, locks, lockedUntil }: FailedAttempts): Promise<void> {
  await trx('users').where({ id: userId }).update({ failed_factors: failures, factor_locks: locks, factors_locked_until: lockedUntil });
}
