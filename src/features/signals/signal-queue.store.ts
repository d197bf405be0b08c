/** Queue of signals: outbox entries refer to the audit event; their content is decided at delivery. */
import type { Executor } from '../../platform/database/database.ts';
import { STREAM_UPDATED, VERIFICATION } from './signal-streams.resource.ts';

/** `outbox.kind` of an audit event on its way to a signal stream. */
export const SIGNAL = 'signal';

/** Seconds that a delivery is left to the process that took it: one entry may be several pushes, of seconds each. */
export const SIGNAL_TAKEN_FOR = 60;

/** Part of the statement that writes an event (features/audit/audit.store.ts). In order for each user; a stream that is paused gets them later. */
export const SIGNAL_NEWS = `signals AS (INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
  SELECT '${SIGNAL}', s.id, e.target->0->>'id', jsonb_build_object('streamId', s.id, 'eventId', e.uuid), e.published, e.published
  FROM event e JOIN signal_streams s ON s.status <> 'DISABLED' AND e.event_type = ANY (s.sources))`;

// One entry for each cause, which may be several events. Those about the stream itself have no other cause.
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

/** Lets what waits to be polled be pushed instead: what was acknowledged of a cause comes again, under the same `jti`. */
export async function requeueSignalSets(trx: Executor, streamId: string): Promise<void> {
  await trx.raw(REQUEUE, { streamId });
}
