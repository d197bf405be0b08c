/** What is to be told to receivers of signals, as entries of the outbox: an entry refers to the audit event, and what it says is decided when it is sent. */

/** `outbox.kind` of an audit event on its way to a signal stream. */
export const SIGNAL = 'signal';

/** Seconds that a delivery is left to the process that took it: one entry may be several pushes, of seconds each. */
export const SIGNAL_TAKEN_FOR = 60;

/** Part of the statement that writes an event (features/audit/audit.store.ts). In order for each user; a stream that is paused gets them later. */
export const SIGNAL_NEWS = `signals AS (INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
  SELECT '${SIGNAL}', s.id, e.target->0->>'id', jsonb_build_object('streamId', s.id, 'eventId', e.uuid), e.published, e.published
  FROM event e JOIN signal_streams s ON s.status <> 'DISABLED' AND e.event_type = ANY (s.sources))`;
