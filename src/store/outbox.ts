/**
 * What is still to be told to others, written in the transaction of what happened and removed once it was told. The only SQL on that table but
 * for the notes that are written together with their cause (protocol-state.ts). Times are the caller's clock.
 */
import type { Executor } from './database.ts';

export interface OutboxEntry {
  readonly seq: number;
  readonly kind: string;
  readonly payload: unknown;
  /** This one included. */
  readonly attempts: number;
}

const CLAIM = `UPDATE outbox SET attempts = attempts + 1, due = ? WHERE seq IN (
    SELECT seq FROM outbox WHERE due <= ? AND kind = ANY(?) ORDER BY due LIMIT ? FOR UPDATE SKIP LOCKED
  ) RETURNING seq, kind, payload, attempts`;

/**
 * Takes what is due, the longest due first; of many who ask at once each gets other entries.
 * @param until when an entry is due again if whoever took it is heard of no more
 */
export async function claimDue(
  executor: Executor,
  { kinds, now, until, limit }: { readonly kinds: readonly string[]; readonly now: Date; readonly until: Date; readonly limit: number },
): Promise<OutboxEntry[]> {
  const { rows } = await executor.raw<{ rows: OutboxEntry[] }>(CLAIM, [until, now, [...kinds], limit]);
  return rows;
}

/** @returns false when it was removed before */
export async function removeEntry(executor: Executor, { seq }: OutboxEntry): Promise<boolean> {
  return (await executor('outbox').where({ seq }).delete()) === 1;
}

/** Notes a failed attempt and when the next one is due; nothing happens when another one has begun meanwhile. */
export async function postponeEntry(executor: Executor, { seq, attempts }: OutboxEntry, due: Date, error: string): Promise<void> {
  await executor('outbox').where({ seq, attempts }).update({ due, last_error: error });
}
