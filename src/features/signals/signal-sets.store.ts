/** Security events that wait to be polled (RFC 8936). The only SQL on that table. */
import type { Executor } from '../../platform/database/database.ts';
import { type SecurityEvent, STREAM_UPDATED, VERIFICATION } from './signal-streams.resource.ts';

/** Stores events once: an entry of the outbox may be delivered twice. */
export async function insertSignalSets(executor: Executor, streamId: string, events: readonly SecurityEvent[], now: Date): Promise<void> {
  const rows = events.map((event) => ({ stream_id: streamId, jti: event.jti, event: JSON.stringify(event), created: now }));
  if (rows.length > 0) await executor('signal_sets').insert(rows).onConflict(['stream_id', 'jti']).ignore();
}

const WAITING = `SELECT w.event FROM signal_sets w JOIN signal_streams s ON s.id = w.stream_id
  WHERE w.stream_id = :streamId AND (s.status = 'ENABLED' OR w.event->>'type' = :stopped) ORDER BY w.seq LIMIT :limit`;

/** Oldest first, of an enabled stream; of a paused or disabled one, only notices about its status. */
export async function listSignalSets(executor: Executor, streamId: string, limit: number): Promise<SecurityEvent[]> {
  const { rows } = await executor.raw<{ rows: { event: SecurityEvent }[] }>(WAITING, { streamId, stopped: STREAM_UPDATED, limit });
  return rows.map(({ event }) => event);
}

/** @returns those of the `jti`s that existed */
export async function removeSignalSets(executor: Executor, streamId: string, jtis: readonly string[]): Promise<string[]> {
  const removed = await executor('signal_sets')
    .where({ stream_id: streamId })
    .whereRaw('jti = ANY(?)', [[...jtis]])
    .delete()
    .returning<{ jti: string }[]>('jti');
  return removed.map(({ jti }) => jti);
}

export async function removeSignalSetsOf(executor: Executor, streamId: string): Promise<void> {
  await executor('signal_sets').where({ stream_id: streamId }).delete();
}

/** Deletes waiting events about one user. */
export async function removeSignalSetsAbout(executor: Executor, streamId: string, userId: string): Promise<void> {
  await executor('signal_sets').where({ stream_id: streamId }).whereRaw("event->>'userId' = ?", [userId]).delete();
}

export async function waitingSets(executor: Executor, streamId: string): Promise<{ readonly count: number; readonly oldest: Date | null }> {
  const { rows } = await executor.raw<{ rows: [{ count: number; oldest: Date | null }] }>(
    'SELECT count(*)::int AS count, min(created) AS oldest FROM signal_sets WHERE stream_id = :streamId',
    { streamId },
  );
  return rows[0];
}

// Planned each time, because of SKIP LOCKED (platform/database/prepared-statements.ts): how many there are changes from one sweep to the next.
const OLD = `DELETE FROM signal_sets WHERE (stream_id, jti) IN (
    SELECT stream_id, jti FROM signal_sets WHERE created < :before ORDER BY created LIMIT :limit FOR UPDATE SKIP LOCKED)`;
// Remaining rows are only counted: a row that OFFSET skips would be locked too.
const SURPLUS = `DELETE FROM signal_sets WHERE (stream_id, jti) IN (
    SELECT more.stream_id, more.jti FROM signal_streams s
    CROSS JOIN LATERAL (SELECT seq FROM signal_sets WHERE stream_id = s.id ORDER BY seq DESC OFFSET :most LIMIT 1) boundary
    CROSS JOIN LATERAL (
      SELECT stream_id, jti FROM signal_sets WHERE stream_id = s.id AND seq <= boundary.seq ORDER BY seq LIMIT :limit FOR UPDATE SKIP LOCKED
    ) more)`;

/** Deletes old events, and the oldest beyond a limit per stream. @returns the size of the larger batch */
export async function deleteUnwantedSets(
  executor: Executor,
  { before, most }: { readonly before: Date; readonly most: number },
  limit: number,
): Promise<number> {
  const old = await executor.raw<{ rowCount: number }>(OLD, { before, limit });
  const surplus = await executor.raw<{ rowCount: number }>(SURPLUS, { most, limit });
  return Math.max(old.rowCount, surplus.rowCount);
}

// Queue of signals: outbox entries refer to the audit event; their content is decided at delivery.

/** `outbox.kind` of audit events for a signal stream. */
export const SIGNAL = 'signal';

/** Seconds that a claimed delivery may take: one entry may be several pushes of seconds each. */
export const SIGNAL_LEASE_SECONDS = 60;

/**
 * Part of the statement that writes an event (features/audit/audit.store.ts). Events about one user are sent in order; a paused stream gets them
 * later.
 */
export const SIGNAL_NEWS = `signals AS (INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
  SELECT '${SIGNAL}', s.id, e.target->0->>'id', jsonb_build_object('streamId', s.id, 'eventId', e.uuid), e.published, e.published
  FROM event e JOIN signal_streams s ON s.status <> 'DISABLED' AND e.event_type = ANY (s.sources))`;

// One entry per cause, which may be several events. Events about the stream itself have no other cause.
const REQUEUE = `WITH gone AS (DELETE FROM signal_sets WHERE stream_id = :streamId RETURNING seq, jti, event, created),
  cause AS (SELECT DISTINCT ON (event->>'txn') seq, jti, event, event->'claims' AS claims, created FROM gone ORDER BY event->>'txn', seq)
  INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
  SELECT '${SIGNAL}', :streamId, event->>'userId', jsonb_build_object('streamId', CAST(:streamId AS text)) || CASE event->>'type'
    WHEN '${VERIFICATION}' THEN jsonb_build_object('notice',
      jsonb_strip_nulls(jsonb_build_object('type', 'verification', 'jti', jti, 'state', claims->'state')))
    WHEN '${STREAM_UPDATED}' THEN jsonb_build_object('notice',
      jsonb_build_object('type', 'stream-updated', 'jti', jti, 'status', upper(claims->>'status'), 'reason', claims->'reason'))
    ELSE jsonb_build_object('eventId', event->>'txn') END, created, created
  FROM cause ORDER BY seq`;

/** Queues the events that wait to be polled for push. Events of a cause that were acknowledged are sent again, with the same `jti`. */
export async function requeueSignalSets(trx: Executor, streamId: string): Promise<void> {
  await trx.raw(REQUEUE, { streamId });
}
