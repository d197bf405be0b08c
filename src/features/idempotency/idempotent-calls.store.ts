/** Calls that can be repeated, with their sealed responses. The only SQL on that table, except the cleanup of expired rows. */
import type { Executor } from '../../platform/database/database.ts';

export interface IdempotentCall {
  /** SHA-256 of the caller's ID and their key. */
  readonly id: string;
  /** Hash of the call's content, keyed with SECRET_KEY. */
  readonly requestHash: string;
  readonly expiresAt: Date;
}

/**
 * Claims a key; waits for the end of another transaction that claims the same key.
 * @returns false if the call was already executed and has not expired
 */
export async function claimCall(executor: Executor, call: IdempotentCall, now: Date): Promise<boolean> {
  const row = { id: call.id, request_hash: call.requestHash, answer_sealed: null, expires_at: call.expiresAt };
  const claimed = await executor('idempotent_calls')
    .insert(row)
    .onConflict('id')
    .merge()
    .where('idempotent_calls.expires_at', '<=', now)
    .returning('id');
  return claimed.length === 1;
}

export async function findCall(
  executor: Executor,
  id: string,
): Promise<{ readonly requestHash: string; readonly answerSealed: string | null } | undefined> {
  return executor('idempotent_calls').where({ id }).first({ requestHash: 'request_hash', answerSealed: 'answer_sealed' });
}

export async function storeResponse(executor: Executor, id: string, answerSealed: string): Promise<void> {
  await executor('idempotent_calls').where({ id }).update({ answer_sealed: answerSealed });
}

/** Calls that are being claimed again are locked, and skipped. @returns the number of deleted calls, at most `limit` */
export async function deleteExpiredCalls(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('idempotent_calls').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('idempotent_calls').whereIn('id', expired).delete();
}
