/** Audit events. The only SQL on that table; nothing here changes or removes one. */
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Columns } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type AttributeColumn, type AttributeColumns, applyFilter, containing, type Filter } from '../../platform/database/filter.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { isProvisioned, PROVISIONING_NEWS } from '../provisioning/provisioning-queue.store.ts';
import { SIGNAL_NEWS } from '../signals/signal-sets.store.ts';
import type { EventType } from './event-types.policy.ts';
import type { AuditEvent, StoredEvent } from './events.resource.ts';

/** `outbox.kind` of event hook deliveries. */
export const EVENT_HOOK = 'event-hook';

/** Removes white space, because only statements up to a certain length are prepared (platform/database/prepared-statements.ts). */
const compact = (sql: string): string => sql.replaceAll(/\s+/g, ' ');

const NOTED = '(kind, ordering_key, object_key, payload, created, due)';
/** Outbox entries for each subscribed hook. They refer to the event, so that data erased from it later is not delivered. */
const HOOK_NEWS = compact(`news AS (INSERT INTO outbox ${NOTED} SELECT '${EVENT_HOOK}', h.id, e.target->0->>'id',
    jsonb_build_object('hookId', h.id, 'eventId', e.uuid, 'deliveryId', gen_random_uuid()), e.published, e.published
  FROM event e JOIN event_hooks h ON h.status = 'ACTIVE' AND h.verification_status = 'VERIFIED' AND h.event_types @> ARRAY[e.event_type])`);
const NEWS = `${HOOK_NEWS}, ${compact(SIGNAL_NEWS)}`;
const NEWS_OF_PROVISIONED = `${NEWS}, ${compact(PROVISIONING_NEWS)}`;

const ROW =
  compact(`uuid uuid, published timestamptz, event_type text, severity text, display_message text, actor jsonb, client jsonb, outcome jsonb,
    target jsonb, transaction_id text, debug_context jsonb`);
const NAMES = ROW.replaceAll(/ \w+(?=,|$)/g, '');
/** Named columns, so that the statement can be prepared (prepared-statements.ts). */
const VALUES = NAMES.replaceAll(/\w+/g, 'r.$&');

/**
 * SQL parts that write events and their deliveries.
 * @param event placeholder of `eventRow`; with `many`, of an array of rows
 * @param from the event is written only if this returns a row
 * @param types of the events. Without one about provisioning, that part is omitted, because PostgreSQL would start it on every write
 */
export const writingEvent = (event: string, from: string, types: readonly string[], many = false): string =>
  `event AS (INSERT INTO audit_events (${NAMES}) SELECT ${VALUES} FROM ${from}, ${many ? 'jsonb_to_recordset' : 'jsonb_to_record'}(${event}::jsonb) AS r (${ROW}) \
RETURNING uuid, published, event_type, target), ${types.some(isProvisioned) ? NEWS_OF_PROVISIONED : NEWS}`;

/** The row of an event for `writingEvent`. */
export const eventRow = (event: AuditEvent): string =>
  JSON.stringify({
    uuid: randomUUID(),
    published: event.published,
    event_type: event.eventType,
    severity: event.severity,
    display_message: event.displayMessage,
    actor: event.actor,
    client: event.client,
    outcome: event.outcome,
    target: event.target,
    transaction_id: event.transactionId ?? null,
    debug_context: event.debugContext,
  });

const insertion = (types: readonly string[], many = false): string =>
  `WITH one AS (SELECT), ${writingEvent('?', 'one', types, many)} SELECT ${many ? 'count(*)' : 'uuid'} FROM event`;

/** Writes an event and its hook deliveries in one statement; the first target is the object of the event. @returns its ID */
export async function insertAuditEvent(executor: Executor, event: AuditEvent): Promise<string> {
  const { rows } = await executor.raw<{ rows: [{ uuid: string }] }>(insertion([event.eventType]), [eventRow(event)]);
  return rows[0].uuid;
}

/** Like `insertAuditEvent`, for many events in one statement. */
export async function insertAuditEvents(executor: Executor, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const types = events.map(({ eventType }) => eventType);
  await executor.raw(insertion(types, true), [`[${events.map(eventRow).join(',')}]`]);
}

export const EVENT: Columns<StoredEvent> = {
  uuid: 'uuid',
  published: 'published',
  eventType: 'event_type',
  severity: 'severity',
  displayMessage: 'display_message',
  actor: 'actor',
  client: 'client',
  outcome: 'outcome',
  target: 'target',
  transactionId: 'transaction_id',
  debugContext: 'debug_context',
};

export async function findAuditEvent(executor: Executor, uuid: string): Promise<StoredEvent | undefined> {
  return executor('audit_events').where({ uuid }).first<StoredEvent | undefined>(EVENT);
}

/**
 * The events of an event's request, including itself, in the order of writing. Callers can choose the request ID, so events of another address,
 * client or time belong to another request.
 */
export async function listEventsOfRequest(
  executor: Executor,
  { transactionId, client }: Pick<StoredEvent, 'transactionId' | 'client'>,
  { since, until }: { readonly since: Date; readonly until: Date },
  limit: number,
): Promise<StoredEvent[]> {
  return executor('audit_events')
    .where({ transaction_id: transactionId, client })
    .whereBetween('published', [since, until])
    .orderBy(['published', 'seq'])
    .limit(limit)
    .select<StoredEvent[]>(EVENT);
}

export interface Failures {
  readonly count: number;
  /** The newest failure; null: there is none. */
  readonly last: { readonly uuid: string; readonly published: string; readonly reason: string | null } | null;
}

/** Recent failures of the type, among a limited number of its newest events. */
export async function countFailures(executor: Executor, type: EventType, since: Date, among: number): Promise<Failures> {
  const { rows } = await executor.raw<{ rows: [Failures] }>(
    `SELECT count(*)::int AS count,
        (array_agg(jsonb_build_object('uuid', uuid, 'published', published, 'reason', outcome->>'reason') ORDER BY seq DESC))[1] AS last
      FROM (SELECT uuid, seq, published, outcome FROM audit_events WHERE event_type = :type ORDER BY seq DESC LIMIT :among) newest
      WHERE outcome->>'result' = 'FAILURE' AND published >= :since`,
    { type, since, among },
  );
  return rows[0];
}

/**
 * The newest refused requests of an application, one of each kind: a request that is repeated does not hide the others. Only the newest refusals of all applications and the newest events of this one are searched: indexes
 * find them in a long log, and neither many refusals of others nor many sign-ins of its own hide them.
 */
export async function selectRefusals(executor: Executor, applicationId: string, limit: number): Promise<StoredEvent[]> {
  const newest = () => executor('audit_events').select('seq').orderBy('seq', 'desc').limit(AMONG_REFUSALS);
  const refusals = newest().whereIn('event_type', REFUSALS);
  const ofApplication = newest().whereRaw("target->0->>'id' = ? AND target->0->>'type' <> 'User'", applicationId);
  const kind = "display_message, outcome->>'reason', debug_context->'decision'->>'redirectUri'";
  const found = executor('audit_events')
    .whereIn('seq', executor.union([refusals, ofApplication], true))
    .whereIn('event_type', REFUSALS)
    .whereRaw("outcome->>'result' = 'FAILURE' AND target @> ?::jsonb", [JSON.stringify([{ id: applicationId, type: 'AppInstance' }])])
    .select('*', executor.raw(`row_number() OVER (PARTITION BY ${kind} ORDER BY seq DESC) AS turn`));
  return executor(found.as('found')).where({ turn: 1 }).orderBy('seq', 'desc').limit(limit).select<StoredEvent[]>(EVENT);
}

const REFUSALS: readonly EventType[] = ['app.oauth2.as.authorize', 'app.oauth2.as.token.grant'];
const AMONG_REFUSALS = 2000;

const inText = (sql: string): AttributeColumn => ({ sql, type: 'text' });
const inTarget = (field: string): AttributeColumn => ({ ...inText(`one->>'${field}'`), among: 'jsonb_array_elements(target) AS one' });
const APPLICATIONS = `(SELECT one FROM jsonb_array_elements(target) AS one WHERE one->>'type' IN ('AppInstance', 'PublicClientApp')) AS applications`;
const inApplication = (field: string): AttributeColumn => ({ ...inText(`one->>'${field}'`), among: APPLICATIONS });
/** An application is the first or the second target of its events; the indexes of objects have both. */
const APPLICATION_IS = [0, 1]
  .map((place) => `(target->${place}->>'id' = ? AND target->${place}->>'type' IN ('AppInstance', 'PublicClientApp'))`)
  .join(' OR ');

/** Filterable attributes of events. */
export const EVENT_ATTRIBUTES: AttributeColumns = {
  uuid: inText('uuid::text'),
  published: { sql: 'published', type: 'time' },
  eventType: inText('event_type'),
  severity: inText('severity'),
  displayMessage: inText('display_message'),
  'actor.id': inText("actor->>'id'"),
  'actor.type': inText("actor->>'type'"),
  'actor.displayName': inText("actor->>'displayName'"),
  'client.ipAddress': inText("client->>'ipAddress'"),
  'outcome.result': inText("outcome->>'result'"),
  'outcome.reason': inText("outcome->>'reason'"),
  'transaction.id': inText('transaction_id'),
  'target.id': inTarget('id'),
  'target.type': inTarget('type'),
  'target.displayName': inTarget('displayName'),
  'application.id': { ...inApplication('id'), caseExact: true, equals: `(${APPLICATION_IS})` },
  'application.displayName': inApplication('displayName'),
};

/** Filterable attributes of an organization's events: those that every reader of its log can see. Some cannot see the client. */
export const ORGANIZATION_EVENT_ATTRIBUTES: AttributeColumns = Object.fromEntries(
  Object.entries(EVENT_ATTRIBUTES).filter(([name]) => !name.startsWith('client.')),
);

/** The searchable text of an event. */
const WORDS = `concat_ws(' ', display_message, event_type, transaction_id, client->>'ipAddress', client->>'userAgent', actor->>'id', actor->>'type', actor->>'displayName', outcome->>'reason',
  (SELECT string_agg(concat_ws(' ', one->>'id', one->>'type', one->>'displayName'), ' ') FROM jsonb_array_elements(target) AS one))`;

/** Filter of events; all conditions must match. */
export interface EventSelection {
  /** At or after this time. */
  readonly since?: Date | undefined;
  /** Before this time, so that adjacent periods share no event. */
  readonly until?: Date | undefined;
  readonly filter?: Filter | undefined;
  /** The event contains each of them. */
  readonly words?: readonly string[];
  readonly newestFirst?: boolean;
}

/** Conditions of events. */
type Narrowing = Pick<EventSelection, 'since' | 'until' | 'filter'>;

function narrow(query: Knex.QueryBuilder, { since, until, filter }: Narrowing): void {
  if (since !== undefined) query.where('published', '>=', since);
  if (until !== undefined) query.where('published', '<', until);
  if (filter !== undefined) applyFilter(query, filter, EVENT_ATTRIBUTES);
}

/** The events about an object other than a user, newest first: it is their first or second target. */
export function listEventsOfObject(
  executor: Executor,
  id: string,
  { limit, after }: Window,
  narrowing: Narrowing = {},
): Promise<Page<StoredEvent>> {
  // Each place has an index, which is read no further than the page.
  const places = [0, 1].map((place) => {
    const query = executor('audit_events')
      .select('seq')
      .whereRaw(`target->${place}->>'id' = ? AND target->${place}->>'type' <> 'User'`, id);
    narrow(query, narrowing);
    if (after !== undefined) query.whereRaw('seq < ?::bigint', after);
    return query.orderBy('seq', 'desc').limit(limit + 1);
  });
  return readPage(executor('audit_events').whereIn('seq', executor.union(places, true)), EVENT, { limit, after }, { descending: true });
}

/** In order of time, then of writing. Pages continue after the number of an event; ordering by time allows a single index range. */
export async function listAuditEvents(
  executor: Executor,
  { words = [], newestFirst = false, ...narrowing }: EventSelection,
  { limit, after }: Window,
): Promise<Page<StoredEvent>> {
  const query = executor('audit_events');
  narrow(query, narrowing);
  for (const word of words) query.whereRaw(`lower(${WORDS}) LIKE lower(?)`, [containing(word)]);
  if (after !== undefined) {
    const beyond = newestFirst ? '<' : '>';
    query.whereRaw(`(published, seq) ${beyond} (SELECT published, seq FROM audit_events WHERE seq = ?)`, [after]);
  }
  const order = newestFirst ? 'desc' : 'asc';
  const rows: (StoredEvent & { place: number })[] = await query
    .select({ ...EVENT, place: 'seq' })
    .orderBy([
      { column: 'published', order },
      { column: 'seq', order },
    ])
    .limit(limit + 1);
  const kept = rows.slice(0, limit);
  return { items: kept.map(({ place: _, ...event }) => event), next: rows.length > limit ? kept.at(-1)?.place : undefined };
}
