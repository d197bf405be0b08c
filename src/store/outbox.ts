/**
 * What is still to be told to others, written in the transaction of what happened and removed once it was told. The only SQL on that table but
 * for the notes that are written together with their cause (protocol-state.ts). Times are the caller's clock.
 */
import type { Executor } from './database.ts';

export interface OutboxEntry {
  readonly seq: number;
  readonly kind: string;
  /** Whom it is for. */
  readonly orderingKey: string;
  readonly payload: unknown;
  /** This one included. */
  readonly attempts: number;
}

/** At a time, for one receiver: one that hangs must not take the place of all others. */
const MOST_OF_ONE = 3;

// Asked of the row itself as well: only that is asked again once the row is locked, when another one may just have taken it.
const CLAIM = `UPDATE outbox SET attempts = attempts + 1, due = ? WHERE seq IN (
    SELECT o.seq FROM outbox o JOIN (
      SELECT seq, row_number() OVER (PARTITION BY kind, ordering_key ORDER BY due, seq) AS turn FROM outbox WHERE due <= ? AND kind = ANY(?) AND ordering_key <> ALL(?)
    ) waiting ON waiting.seq = o.seq AND waiting.turn <= ${MOST_OF_ONE}
    WHERE o.due <= ? ORDER BY o.due LIMIT ? FOR UPDATE OF o SKIP LOCKED
  ) RETURNING seq, kind, ordering_key AS "orderingKey", payload, attempts`;

/**
 * Takes what is due, the longest due first; of many who ask at once each gets other entries.
 * @param busy receivers who are to be left alone
 * @param until when an entry is due again if whoever took it is heard of no more
 */
export async function claimDue(
  executor: Executor,
  {
    kinds,
    busy = [],
    now,
    until,
    limit,
  }: {
    readonly kinds: readonly string[];
    readonly busy?: readonly string[];
    readonly now: Date;
    readonly until: Date;
    readonly limit: number;
  },
): Promise<OutboxEntry[]> {
  const { rows } = await executor.raw<{ rows: OutboxEntry[] }>(CLAIM, [until, now, [...kinds], [...busy], now, limit]);
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
