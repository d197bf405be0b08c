/**
 * Outbox: pending deliveries, written in the transaction of their cause and removed after delivery. The only SQL on that table except inserts
 * together with their cause (protocol-state.store.ts, audit.store.ts, sign-ins.store.ts). Times come from the caller's clock. Entries about the same object are
 * delivered to a receiver in the order of writing: the first one is due, the others wait for it. If one transaction starts writing after another has
 * committed, as with a locked object, their order is kept; concurrent ones can be delivered in either order.
 */
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';
import { eventRow, writingEvent } from '../audit/audit.store.ts';
import type { AuditEvent } from '../audit/events.resource.ts';

export interface OutboxEntry {
  readonly seq: number;
  readonly kind: string;
  /** Receiver. */
  readonly orderingKey: string;
  /** Object of the entry; null: no ordering. */
  readonly objectKey: string | null;
  readonly payload: unknown;
  /** Number of attempts, including the current one. */
  readonly attempts: number;
  readonly created: Date;
}

/** Maximum concurrent deliveries to one receiver: a hanging one must not block all others. */
const MOST_OF_ONE = 3;

/** Maximum entries of one receiver that a query for due entries reads, however many wait behind another one. */
const MOST_LOOKED_AT = 100;
/** Milliseconds for which an entry that waits behind another is skipped; it becomes due immediately when that one is removed. */
const PUT_OFF = 5 * 60_000;

export type NewEntry = Pick<OutboxEntry, 'kind' | 'orderingKey' | 'objectKey' | 'payload' | 'created'>;

/** @param entry is due immediately @param trx the transaction of its cause */
export async function insertEntry(trx: Executor, entry: NewEntry): Promise<void> {
  const { kind, orderingKey, objectKey, payload, created } = entry;
  const row = { kind, ordering_key: orderingKey, object_key: objectKey, payload: JSON.stringify(payload), created, due: created };
  await trx('outbox').insert(row);
}

/** Entries without a receiver are spread over lanes: each query visits every receiver with pending entries, so there must be few. */
const LANES = 16;

/** @param name of a sender whose entries should delay those of other senders as little as possible @returns an ordering key */
export const laneOf = (name: string): string => String(Number.parseInt(hash('sha256', name).slice(0, 8), 16) % LANES);

const RECEIVERS = `WITH RECURSIVE receivers AS (
    (SELECT kind, ordering_key FROM outbox ORDER BY kind, ordering_key LIMIT 1)
    UNION ALL
    SELECT further.kind, further.ordering_key FROM receivers r CROSS JOIN LATERAL (
      SELECT kind, ordering_key FROM outbox WHERE (kind, ordering_key) > (r.kind, r.ordering_key) ORDER BY kind, ordering_key LIMIT 1
    ) further
  )`;
// Planned on each run (prepared-statements.ts), because the table may be empty now and full a second later: a plan for few rows would scan it for
// each row.
const LOOKED_AT = `SELECT seq, kind, ordering_key, object_key, due FROM outbox WHERE kind = r.kind AND ordering_key = r.ordering_key AND due <= :now ORDER BY due, seq LIMIT ${MOST_LOOKED_AT}`;
const IS_BEHIND = `EXISTS (SELECT FROM outbox earlier
  WHERE earlier.kind = o.kind AND earlier.ordering_key = o.ordering_key AND earlier.object_key = o.object_key AND earlier.seq < o.seq)`;
const IS_ASKED_FOR = 'r.kind = ANY(:kinds) AND r.ordering_key <> ALL(:busy)';

// One entry per receiver before a second of any: a receiver with a hundred thousand entries costs and gets no more than others. A waiting entry is
// replaced by the one it waits for. The row itself is also checked for being due: only that condition is evaluated again after locking, when another
// process may have taken it.
const CLAIM = `${RECEIVERS}, waiting AS (
    SELECT first.seq, row_number() OVER (PARTITION BY r.kind, r.ordering_key ORDER BY first.due, first.seq) AS turn FROM receivers r CROSS JOIN LATERAL (
      SELECT coalesce(head.seq, o.seq) AS seq, o.due FROM (${LOOKED_AT}) o LEFT JOIN LATERAL (SELECT seq, due FROM outbox
        WHERE kind = o.kind AND ordering_key = o.ordering_key AND object_key = o.object_key ORDER BY seq LIMIT 1) head ON true
      WHERE coalesce(head.due, o.due) <= :now ORDER BY o.due, o.seq LIMIT ${MOST_OF_ONE}
    ) first WHERE ${IS_ASKED_FOR}
  )
  UPDATE outbox SET attempts = attempts + 1, due = :until WHERE seq = ANY (ARRAY(
    SELECT o.seq FROM outbox o JOIN waiting USING (seq) WHERE o.due <= :now ORDER BY turn, o.due LIMIT :limit FOR UPDATE OF o SKIP LOCKED
  )) RETURNING seq, kind, ordering_key AS "orderingKey", object_key AS "objectKey", payload, attempts, created`;

// Prevents many entries of one object from blocking all others.
const PUT_OFF_BEHIND = `${RECEIVERS}, behind AS (
    SELECT o.seq FROM receivers r CROSS JOIN LATERAL (${LOOKED_AT}) o WHERE ${IS_ASKED_FOR} AND ${IS_BEHIND}
  )
  UPDATE outbox SET due = :later WHERE seq = ANY (ARRAY(
    SELECT o.seq FROM outbox o WHERE o.seq = ANY (ARRAY(SELECT seq FROM behind)) AND o.due <= :now FOR UPDATE OF o SKIP LOCKED
  )) RETURNING seq`;

// An earlier entry may have been removed and committed after this statement started; the next run sees it. A holder of such a row removes the earlier
// entry and makes it due itself, or makes all entries of the receiver due.
const BRING_BACK = `UPDATE outbox SET due = created WHERE seq = ANY (ARRAY(
    SELECT o.seq FROM outbox o WHERE o.seq = ANY (:seqs) AND o.due = :later AND NOT ${IS_BEHIND} FOR UPDATE OF o SKIP LOCKED
  ))`;

/** @returns the kinds with any entries, due or not: a query that costs almost nothing if there are none */
export async function kindsWaiting(pool: pg.Pool, kinds: readonly string[]): Promise<ReadonlySet<string>> {
  const text = `SELECT kind FROM unnest($1::text[]) AS asked (kind)
    WHERE (SELECT true FROM outbox WHERE outbox.kind = asked.kind ORDER BY ordering_key, seq LIMIT 1)`;
  const { rows } = await pool.query<{ kind: string }>({ name: 'kinds-waiting', text, values: [kinds] });
  return new Set(rows.map(({ kind }) => kind));
}

/** A query for due entries. */
export interface DueQuery {
  readonly kinds: readonly string[];
  /** Receivers to skip. */
  readonly busy?: readonly string[];
  readonly now: Date;
}

const parametersOf = ({ kinds, busy = [], now }: DueQuery) => ({ now, kinds: [...kinds], busy: [...busy] });

/**
 * Claims due entries, longest due first, but one of each receiver before a second of any; concurrent callers get different entries.
 * @param until when an entry is due again if the claiming process does not report a result
 */
export async function claimDue(
  executor: Executor,
  { until, limit, ...query }: DueQuery & { readonly until: Date; readonly limit: number },
): Promise<OutboxEntry[]> {
  const { rows } = await executor.raw<{ rows: OutboxEntry[] }>(CLAIM, { ...parametersOf(query), until, limit });
  return rows;
}

/** Postpones due entries that wait behind another of the same object: call it after claiming everything available. */
export async function postponeBlocked(executor: Executor, query: DueQuery): Promise<void> {
  const later = new Date(query.now.getTime() + PUT_OFF);
  const { rows } = await executor.raw<{ rows: { seq: number }[] }>(PUT_OFF_BEHIND, { ...parametersOf(query), later });
  if (rows.length > 0) await executor.raw(BRING_BACK, { seqs: rows.map(({ seq }) => seq), later });
}

// Named columns, so that the following statements can be prepared: planning takes longer than execution.
const removal = (also = '') => `WITH gone AS (DELETE FROM outbox WHERE seq = :seq RETURNING kind, ordering_key, object_key, seq), next AS (
    UPDATE outbox SET due = created WHERE seq IN (
      SELECT first.seq FROM gone g CROSS JOIN LATERAL (SELECT o.seq FROM outbox o
        WHERE o.kind = g.kind AND o.ordering_key = g.ordering_key AND o.object_key = g.object_key AND o.seq > g.seq ORDER BY o.seq LIMIT 1) first
    ) RETURNING seq
  )${also} SELECT EXISTS (SELECT FROM next) AS "isFollowed" FROM gone`;
const REMOVE = removal();

/**
 * Removes an entry, and makes the next waiting one due immediately.
 * @param event of the delivery; written even if the entry was already removed
 * @returns whether there is a next one; undefined if the entry was already removed
 */
export async function removeEntry(
  executor: Executor,
  { seq }: OutboxEntry,
  event?: AuditEvent,
): Promise<{ readonly isFollowed: boolean } | undefined> {
  const text = event === undefined ? REMOVE : removal(`, one AS (SELECT), ${writingEvent(':event', 'one', [event.eventType])}`);
  const { rows } = await executor.raw<{ rows: { isFollowed: boolean }[] }>(text, { seq, ...(event && { event: eventRow(event) }) });
  return rows[0];
}

// Postpones waiting entries as well: if they were due, every query would visit them.
const POSTPONE = `WITH failed AS (UPDATE outbox SET due = :due, last_error = :error, attempts = attempts - :uncounted WHERE seq = :seq AND attempts = :attempts
    RETURNING seq, kind, ordering_key, object_key)
  UPDATE outbox o SET due = :due FROM failed f
    WHERE o.kind = f.kind AND o.ordering_key = f.ordering_key AND o.object_key = f.object_key AND o.seq > f.seq AND o.due < :due`;

/**
 * Records a failed attempt and the time of the next one, unless another process has claimed the entry meanwhile.
 * @param outcome.counts does it count as an attempt?
 */
export async function postponeEntry(
  executor: Executor,
  { seq, attempts }: OutboxEntry,
  { due, error, counts }: { readonly due: Date; readonly error: string; readonly counts: boolean },
): Promise<void> {
  await executor.raw(POSTPONE, { seq, attempts, due, error, uncounted: counts ? 0 : 1 });
}

/** Selects all entries of one receiver. */
export interface Receiver {
  readonly kind: string;
  readonly orderingKey: string;
}

/** Makes all entries of a receiver due, except those whose pause ends before `besides`: they are being delivered. */
export async function endPausesOf(executor: Executor, { kind, orderingKey }: Receiver, now: Date, besides: Date): Promise<void> {
  await executor('outbox').where({ kind, ordering_key: orderingKey }).where('due', '>', besides).update({ due: now });
}

/** Deletes all pending entries of a receiver. */
export async function removeEntriesOf(executor: Executor, { kind, orderingKey }: Receiver): Promise<void> {
  await executor('outbox').where({ kind, ordering_key: orderingKey }).delete();
}

// Planned each time, because of SKIP LOCKED. Those that stay are only counted: a row that OFFSET passes by would be locked too.
const SURPLUS = `${RECEIVERS}
  DELETE FROM outbox WHERE seq IN (
    SELECT more.seq FROM receivers r CROSS JOIN LATERAL (
      SELECT seq FROM outbox WHERE kind = r.kind AND ordering_key = r.ordering_key ORDER BY seq DESC OFFSET :most LIMIT 1
    ) boundary CROSS JOIN LATERAL (
      SELECT seq FROM outbox WHERE kind = r.kind AND ordering_key = r.ordering_key AND seq <= boundary.seq
        ORDER BY seq LIMIT :limit FOR UPDATE SKIP LOCKED
    ) more WHERE r.kind = :kind)`;

/** Deletes the oldest entries of each receiver of a kind beyond a limit. @returns their number */
export async function deleteSurplusEntries(executor: Executor, kind: string, most: number, limit: number): Promise<number> {
  return (await executor.raw<{ rowCount: number }>(SURPLUS, { kind, most, limit })).rowCount;
}

/** Load of the outbox: number of pending entries up to a limit, and the time of the oldest; null: none. */
export async function outboxLoad(executor: Executor, most: number): Promise<{ readonly count: number; readonly oldest: Date | null }> {
  const { rows } = await executor.raw<{ rows: [{ count: number; oldest: Date | null }] }>(
    'SELECT count(*)::int AS count, min(created) AS oldest FROM (SELECT created FROM outbox ORDER BY seq LIMIT ?) first',
    [most],
  );
  return rows[0];
}

/** Pending entries of a receiver. */
export interface Waiting {
  readonly count: number;
  /** When the oldest was written; null: there is none. */
  readonly oldest: Date | null;
  /** When the next attempt is due. */
  readonly due: Date | null;
  /** Error of the last failed attempt, if known; null: none failed. */
  readonly lastError: string | null;
}

const WAITING = `SELECT count(*)::int AS count, min(created) AS oldest, min(due) AS due,
    (SELECT last_error FROM outbox WHERE kind = :kind AND ordering_key = :orderingKey AND last_error IS NOT NULL ORDER BY due DESC LIMIT 1) AS "lastError"
  FROM outbox WHERE kind = :kind AND ordering_key = :orderingKey`;

export async function waitingFor(executor: Executor, { kind, orderingKey }: Receiver): Promise<Waiting> {
  const { rows } = await executor.raw<{ rows: [Waiting] }>(WAITING, { kind, orderingKey });
  return rows[0];
}

export interface KindLoad {
  readonly count: number;
  readonly oldest: Date | null;
  /** Error of the last failed attempt of one of them, if known. */
  readonly lastError: string | null;
}

/** Number of pending entries of one kind, up to a limit. */
export async function kindLoad(executor: Executor, kind: string, most: number): Promise<KindLoad> {
  const { rows } = await executor.raw<{ rows: [KindLoad] }>(
    `SELECT count(*)::int AS count, min(created) AS oldest,
        (array_agg(last_error ORDER BY due DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS "lastError"
      FROM (SELECT created, due, last_error FROM outbox WHERE kind = ? LIMIT ?) waiting`,
    [kind, most],
  );
  return rows[0];
}
