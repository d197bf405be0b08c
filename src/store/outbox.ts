/**
 * What is still to be told to others, written in the transaction of what happened and removed once it was told. The only SQL on that table but
 * for the notes that are written together with their cause (protocol-state.ts, audit.ts). Times are the caller's clock.
 *
 * What has an object is told to a receiver in the order in which it was written: the first is told, the rest waits until it is gone. Of two
 * transactions of which one began to write after the other one's commit, as two do that lock the object, the order is theirs; of two that wrote at
 * the same time it is either.
 */
import type { Executor } from './database.ts';

export interface OutboxEntry {
  readonly seq: number;
  readonly kind: string;
  /** Whom it is for. */
  readonly orderingKey: string;
  /** What it is about; null: nothing that has an order. */
  readonly objectKey: string | null;
  readonly payload: unknown;
  /** This one included. */
  readonly attempts: number;
  readonly created: Date;
}

/** At a time, for one receiver: one that hangs must not take the place of all others. */
const MOST_OF_ONE = 3;

// Receiver by receiver, and one of each before a second of any: one for whom a hundred thousand wait costs no more and gets no more than the others.
// Whether it is due is asked of the row itself as well: only that is asked again once the row is locked, when another one may just have taken it.
const CLAIM = `WITH RECURSIVE receivers AS (
    (SELECT kind, ordering_key FROM outbox ORDER BY kind, ordering_key LIMIT 1)
    UNION ALL
    SELECT further.* FROM receivers r CROSS JOIN LATERAL (
      SELECT kind, ordering_key FROM outbox WHERE (kind, ordering_key) > (r.kind, r.ordering_key) ORDER BY kind, ordering_key LIMIT 1
    ) further
  ), waiting AS (
    SELECT first.seq, row_number() OVER (PARTITION BY r.kind, r.ordering_key ORDER BY first.due, first.seq) AS turn FROM receivers r CROSS JOIN LATERAL (
      SELECT seq, due FROM outbox o WHERE kind = r.kind AND ordering_key = r.ordering_key AND due <= :now AND NOT EXISTS (
        SELECT FROM outbox earlier WHERE earlier.kind = o.kind AND earlier.ordering_key = o.ordering_key AND earlier.object_key = o.object_key AND earlier.seq < o.seq
      ) ORDER BY due, seq LIMIT ${MOST_OF_ONE}
    ) first WHERE r.kind = ANY(:kinds) AND r.ordering_key <> ALL(:busy)
  )
  UPDATE outbox SET attempts = attempts + 1, due = :until WHERE seq IN (
    SELECT o.seq FROM outbox o JOIN waiting USING (seq) WHERE o.due <= :now ORDER BY turn, o.due LIMIT :limit FOR UPDATE OF o SKIP LOCKED
  ) RETURNING seq, kind, ordering_key AS "orderingKey", object_key AS "objectKey", payload, attempts, created`;

/**
 * Takes what is due, the longest due first, but one of each receiver before a second of any; of many who ask at once each gets other entries.
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
  const { rows } = await executor.raw<{ rows: OutboxEntry[] }>(CLAIM, { until, now, kinds: [...kinds], busy: [...busy], limit });
  return rows;
}

/** @returns false when it was removed before */
export async function removeEntry(executor: Executor, { seq }: OutboxEntry): Promise<boolean> {
  return (await executor('outbox').where({ seq }).delete()) === 1;
}

// What waits behind it waits as long: were it due, each look for what is due would come by it.
const POSTPONE = `WITH failed AS (UPDATE outbox SET due = :due, last_error = :error WHERE seq = :seq AND attempts = :attempts
    RETURNING seq, kind, ordering_key, object_key)
  UPDATE outbox o SET due = :due FROM failed f
    WHERE o.kind = f.kind AND o.ordering_key = f.ordering_key AND o.object_key = f.object_key AND o.seq > f.seq AND o.due < :due`;

/** Notes a failed attempt and when the next one is due; nothing happens when another one has begun meanwhile. */
export async function postponeEntry(executor: Executor, { seq, attempts }: OutboxEntry, due: Date, error: string): Promise<void> {
  await executor.raw(POSTPONE, { seq, attempts, due, error });
}

/** Whose entries: all of one receiver. */
export interface Receiver {
  readonly kind: string;
  readonly orderingKey: string;
}

/** Lets the pauses of a receiver be over, but for what rests no longer than until `besides`, as what is under way does. */
export async function hurryEntries(executor: Executor, { kind, orderingKey }: Receiver, now: Date, besides: Date): Promise<void> {
  await executor('outbox').where({ kind, ordering_key: orderingKey }).where('due', '>', besides).update({ due: now });
}

/** Forgets all that was to be told to a receiver. */
export async function removeEntriesOf(executor: Executor, { kind, orderingKey }: Receiver): Promise<void> {
  await executor('outbox').where({ kind, ordering_key: orderingKey }).delete();
}
