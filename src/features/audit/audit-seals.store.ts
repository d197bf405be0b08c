/**
 * The seals of the audit log, and the only statements that change events: sealing, erasure of deleted users' data, and removal after the retention.
 * One process at a time writes here (`lockSealing`).
 */
import type pg from 'pg';
import { timings } from '../../platform/clock/timings.ts';
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { EVENT } from './audit.store.ts';
import type { SealedBatch } from './audit-chain.policy.ts';
import type { StoredEvent } from './events.resource.ts';

const SEALER_LOCK = 0x67617473;

/** Prevents other processes from sealing, erasing and removing until the end of the transaction. @returns false if another one is doing so */
export async function lockSealing(trx: Executor): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { held: boolean }[] }>('SELECT pg_try_advisory_xact_lock(?) AS held', [SEALER_LOCK]);
  if (rows[0]?.held !== true) return false;
  await trx.raw(`SET LOCAL idle_in_transaction_session_timeout = ${timings.sealerSilence}`);
  return true;
}

export interface SealableEvent extends StoredEvent {
  readonly seq: number;
}

export interface SealedEvent<Commitments> extends SealableEvent {
  readonly seal: number;
  readonly commitments: Commitments;
}

const SEALABLE: Columns<SealableEvent> = { ...EVENT, seq: 'seq' };
const SEALED: Columns<SealedEvent<unknown>> = { ...SEALABLE, seal: 'seal', commitments: 'commitments' };

/** State that a process reads before it seals. */
export interface SealNews {
  /** The last seal; null: there is none. */
  readonly head: { readonly n: number; readonly hash: string; readonly keyId: string } | null;
  /** Hash of the requested seal; null: it does not exist. */
  readonly hash: string | null;
  /** Is there an unsealed event? */
  readonly unsealed: boolean;
  /** Is the erasure of a deleted user's data due? */
  readonly erasureDue: boolean;
}

/** @param n number of a known seal; undefined: none */
export async function findSealNews(pool: pg.Pool, n: number | undefined, now: Date): Promise<SealNews> {
  const text = `SELECT (SELECT jsonb_build_object('n', n, 'hash', hash, 'keyId', key_id) FROM audit_seals ORDER BY n DESC LIMIT 1) AS head,
      (SELECT hash FROM audit_seals WHERE n = $1::bigint) AS hash,
      coalesce((SELECT true FROM audit_events WHERE seal IS NULL ORDER BY seal, seq LIMIT 1), false) AS unsealed,
      coalesce((SELECT true FROM audit_erasures WHERE due <= $2::timestamptz LIMIT 1), false) AS "erasureDue"`;
  const { rows } = await pool.query<SealNews>({ name: 'find-seal-news', text, values: [n ?? null, now] });
  const [news] = rows;
  if (news === undefined) throw new Error('a statement that always has one row has none');
  return news;
}

/** Unsealed events in order of their numbers, even if they were committed late. */
export async function unsealedEvents(executor: Executor, limit: number): Promise<SealableEvent[]> {
  return executor('audit_events').whereNull('seal').orderBy(['seal', 'seq']).limit(limit).select<SealableEvent[]>(SEALABLE);
}

export interface AuditSeal extends SealedBatch {
  readonly hash: string;
  readonly keyId: string;
  readonly mac: string;
  /** null after the events were removed. */
  readonly entries: readonly (readonly [seq: number, digest: string])[] | null;
  readonly removed: Date | null;
  /** Key of the last removal record; it covers all earlier ones. */
  readonly removalKeyId: string | null;
  readonly removalMac: string | null;
}

const SEAL: Columns<AuditSeal> = {
  n: 'n',
  previous: 'previous',
  content: 'content',
  count: 'count',
  newest: 'newest',
  complete: 'complete',
  sealed: 'sealed',
  hash: 'hash',
  keyId: 'key_id',
  mac: 'mac',
  entries: 'entries',
  removed: 'removed',
  removalKeyId: 'removal_key_id',
  removalMac: 'removal_mac',
};
const { entries: _entries, ...SEAL_ALONE } = SEAL;
type SealAlone = Omit<AuditSeal, 'entries'>;

/** @returns the last seal */
export async function findHead(executor: Executor): Promise<SealAlone | undefined> {
  return executor('audit_seals').orderBy('n', 'desc').first<SealAlone | undefined>(SEAL_ALONE);
}

/** Seals with their entries, in order. @param after number of the seal before the first one; 0: from the start */
export async function listSeals(executor: Executor, after: number, limit: number): Promise<AuditSeal[]> {
  return executor('audit_seals').where('n', '>', after).orderBy('n').limit(limit).select<AuditSeal[]>(SEAL);
}

export async function insertSeal(trx: Executor, seal: Omit<AuditSeal, 'removed' | 'removalKeyId' | 'removalMac'>): Promise<void> {
  await trx('audit_seals').insert({ ...toRow<AuditSeal>(SEAL, seal), entries: JSON.stringify(seal.entries) });
}

const MARK = `UPDATE audit_events e SET seal = ?, commitments = m.commitments
  FROM jsonb_to_recordset(?::jsonb) AS m (seq bigint, commitments jsonb) WHERE e.seq = m.seq AND e.seal IS NULL`;

/** Assigns events to a batch. @returns the number of events that were in no batch before */
export async function markSealed(
  trx: Executor,
  n: number,
  events: readonly { readonly seq: number; readonly commitments: unknown }[],
): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(MARK, [n, JSON.stringify(events)]);
  return rowCount;
}

export interface Named {
  readonly userId: string;
  readonly seq: number;
}

/** Records which users' data an event contains. */
export async function nameInEvents(trx: Executor, names: readonly Named[]): Promise<void> {
  await trx.raw(
    'INSERT INTO audit_people (user_id, seq) SELECT * FROM jsonb_to_recordset(?::jsonb) AS p ("userId" text, seq bigint) ON CONFLICT DO NOTHING',
    [JSON.stringify(names)],
  );
}

/** Events of the seals after `after` up to `last`, in order. */
export async function eventsOfSeals<C>(executor: Executor, after: number, last: number): Promise<SealedEvent<C>[]> {
  return executor('audit_events')
    .where('seal', '>', after)
    .andWhere('seal', '<=', last)
    .orderBy(['seal', 'seq'])
    .select<SealedEvent<C>[]>(SEALED);
}

/** An event whose batch has no seal. @param last number of the last seal */
export async function findUnbatchedEvent(executor: Executor, last: number): Promise<SealedEvent<unknown> | undefined> {
  const stray = (operator: '<' | '>', n: number) =>
    executor('audit_events').where('seal', operator, n).orderBy('seal').first<SealedEvent<unknown> | undefined>(SEALED);
  return (await stray('<', 1)) ?? (await stray('>', last));
}

export async function countUnsealed(executor: Executor): Promise<number> {
  const row = await executor('audit_events').whereNull('seal').count<{ n: number }>({ n: '*' }).first();
  return row?.n ?? 0;
}

/** Requests the erasure of the user's data from the log, in the transaction of the user's deletion. */
export async function requestErasure(trx: Executor, userId: string, now: Date): Promise<void> {
  await trx('audit_erasures').insert({ user_id: userId, requested: now, due: now }).onConflict('user_id').ignore();
}

export interface Erasure {
  readonly userId: string;
  readonly requested: Date;
}

/** The erasure that has been due the longest. */
export async function findDueErasure(trx: Executor, now: Date): Promise<Erasure | undefined> {
  return trx('audit_erasures')
    .where('due', '<=', now)
    .orderBy('due')
    .first<Erasure | undefined>({ userId: 'user_id', requested: 'requested' });
}

export async function postponeErasure(trx: Executor, userId: string, due: Date): Promise<void> {
  await trx('audit_erasures').where({ user_id: userId }).update({ due });
}

export async function endErasure(trx: Executor, userId: string): Promise<void> {
  await trx('audit_erasures').where({ user_id: userId }).delete();
}

const TAKE_NAMED = `DELETE FROM audit_people WHERE user_id = :userId AND seq IN
  (SELECT seq FROM audit_people WHERE user_id = :userId ORDER BY seq LIMIT :limit) RETURNING seq`;

/** Events that contain the user's data; each is returned once. @returns `notes`: the number of records; fewer than `limit` if there are no more */
export async function claimEventsNaming<C>(
  trx: Executor,
  userId: string,
  limit: number,
): Promise<{ readonly notes: number; readonly events: SealedEvent<C>[] }> {
  const { rows } = await trx.raw<{ rows: { seq: number }[] }>(TAKE_NAMED, { userId, limit });
  const seqs = rows.map(({ seq }) => seq);
  return { notes: rows.length, events: await trx('audit_events').whereIn('seq', seqs).select<SealedEvent<C>[]>(SEALED) };
}

const REWRITE = `UPDATE audit_events e SET actor = r.actor, client = r.client, target = r.target, debug_context = r."debugContext", commitments = r.commitments
  FROM jsonb_to_recordset(?::jsonb) AS r (seq bigint, actor jsonb, client jsonb, target jsonb, "debugContext" jsonb, commitments jsonb) WHERE e.seq = r.seq`;

/** Stores events without the erased data. */
export async function rewriteEvents(trx: Executor, events: readonly SealedEvent<unknown>[]): Promise<void> {
  const rows = events.map(({ seq, actor, client, target, debugContext, commitments }) => ({
    seq,
    actor,
    client,
    target,
    debugContext,
    commitments,
  }));
  await trx.raw(REWRITE, [JSON.stringify(rows)]);
}

/** The oldest seals whose events are still there. */
export async function oldestKeptSeals(trx: Executor, limit: number): Promise<SealAlone[]> {
  return trx('audit_seals').whereNull('removed').orderBy('n').limit(limit).select<SealAlone[]>(SEAL_ALONE);
}

/** @returns the last seal whose events were removed */
export async function findLastRemoved(executor: Executor): Promise<SealAlone | undefined> {
  return executor('audit_seals').whereNotNull('removed').orderBy('n', 'desc').first<SealAlone | undefined>(SEAL_ALONE);
}

/** Deletes the events of these seals, and the records of users in them. @returns the number of events */
export async function removeEvents(trx: Executor, first: number, last: number, names: readonly Named[]): Promise<number> {
  await trx.raw(
    'DELETE FROM audit_people p USING jsonb_to_recordset(?::jsonb) AS r ("userId" text, seq bigint) WHERE p.user_id = r."userId" AND p.seq = r.seq',
    [JSON.stringify(names)],
  );
  return trx('audit_events').whereBetween('seal', [first, last]).delete();
}

export async function markRemoved(trx: Executor, first: number, last: number, removed: Date): Promise<void> {
  await trx('audit_seals').whereBetween('n', [first, last]).update({ removed, entries: null });
}

export async function signRemoval(
  trx: Executor,
  n: number,
  { keyId, mac }: { readonly keyId: string; readonly mac: string },
): Promise<void> {
  await trx('audit_seals').where({ n }).update({ removal_key_id: keyId, removal_mac: mac });
}

/** IDs of the users whose deletion is in the log. */
export async function deletedUserIds(executor: Executor): Promise<ReadonlySet<string>> {
  const { rows } = await executor.raw<{ rows: { id: string }[] }>(
    "SELECT jsonb_array_elements(target)->>'id' AS id FROM audit_events WHERE event_type = 'user.lifecycle.delete.initiated'",
  );
  return new Set(rows.map(({ id }) => id));
}

/** @returns the IDs of existing users */
export async function findUserIds(executor: Executor, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  return new Set<string>(
    await executor('users')
      .whereIn('id', [...ids])
      .pluck('id'),
  );
}

const ABOUT = `audit_events.seq IN (SELECT seq FROM audit_people WHERE user_id = :userId
  UNION ALL SELECT seq FROM audit_events
    WHERE seal IS NULL AND (actor->>'id' = :userId OR target @> jsonb_build_array(jsonb_build_object('id', :userId::text))))`;

/** Events by or about a user, sealed or not, newest first. */
export const listEventsAbout = (executor: Executor, userId: string, window: Window): Promise<Page<StoredEvent>> =>
  readPage(executor('audit_events').whereRaw(ABOUT, { userId }), EVENT, window, { descending: true });

/** The sealed events with a user's data, in order of their numbers. */
export function listEventsNaming(executor: Executor, userId: string, window: Window): Promise<Page<StoredEvent>> {
  const events = executor('audit_people')
    .join('audit_events', 'audit_events.seq', 'audit_people.seq')
    .where('audit_people.user_id', userId);
  return readPage(events, EVENT, window, { by: 'audit_people.seq' });
}
