/** Operations on signal streams (Shared Signals Framework 1.0) for administrators and receivers. Delivery is in signal-delivery.service.ts. */
import { randomUUID } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, notFound, rateLimited, validation, wrongState } from '../../platform/errors/errors.ts';
import { getApplication } from '../applications/applications.service.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { EventType } from '../audit/event-types.policy.ts';
import { deleteSurplusEntries, endPausesOf, insertEntry, removeEntriesOf, type Waiting, waitingFor } from '../outbox/outbox.store.ts';
import type { GivenDelivery } from './signal-fields.service.ts';
import {
  deleteUnwantedSets,
  removeSignalSetsOf,
  requeueSignalSets,
  SIGNAL,
  SIGNAL_LEASE_SECONDS,
  waitingSets,
} from './signal-sets.store.ts';
import type { SignalStream, StreamStatus } from './signal-streams.resource.ts';
import {
  countSignalStreams,
  deleteOrphanedSubjects,
  deleteSignalStreamRow,
  findSignalStream,
  insertSignalStream,
  lockSignalStream,
  selectSignalStreams,
  updateSignalStreamRow,
} from './signal-streams.store.ts';
import { knownTypes, sourcesOf } from './signals.policy.ts';

/** Limit per application. */
export const MOST_STREAMS = 10;
/** Minimum seconds between two verifications that a receiver requests. */
export const VERIFICATION_INTERVAL = 30;

export interface StreamInput {
  readonly description: string;
  readonly eventsRequested: readonly string[];
  readonly delivery: GivenDelivery;
}

/** Address for polling events of a stream. */
export const pollAddress = ({ baseUrl }: Pick<Config, 'baseUrl'>, id: string): string => `${baseUrl}/ssf/v1/poll/${encodeURIComponent(id)}`;

const receiver = (id: string) => ({ kind: SIGNAL, orderingKey: id });
const missing = (id: string) => notFound(id, 'SignalStream');

/** Encryption context of a stream's authorization header. */
export const streamAuthorizationContext = (streamId: string): string => `signal_stream:${streamId}:authorization`;

/**
 * Creates an enabled stream to an application.
 * @throws {ApiError} not found: the application; wrong state: it is the service's own; conflict: it has the maximum number of streams
 */
export async function createSignalStream(
  services: Services,
  applicationId: string,
  input: StreamInput,
  request: RequestContext,
): Promise<SignalStream> {
  const application = await getApplication(services, applicationId);
  if (application.system) throw wrongState('this application is part of the service and cannot be changed');
  const id = newId('sgn');
  const now = present();
  const stream: SignalStream = {
    id,
    applicationId: application.id,
    status: 'ENABLED',
    statusReason: null,
    ...settingsOf(services, id, input, undefined),
    ...{ removedAtMost: 0, lastVerification: null, lastDelivered: null, lastFailed: null, lastError: null },
    created: now,
    lastUpdated: now,
  };
  await services.database.transaction(async (trx) => {
    if ((await countSignalStreams(trx, application.id)) >= MOST_STREAMS)
      throw conflict({ field: 'applicationId', message: `already has ${MOST_STREAMS} signal streams. Delete one first` });
    await insertSignalStream(trx, stream);
    await recordEvent(trx, {
      ...streamEvent('system.signal_stream.create', 'Create signal stream', stream, request),
      after: described(stream),
    });
  });
  return stream;
}

/** Oldest first. @param applicationId absent: those of all applications */
export const listSignalStreams = ({ database }: Services, window: Window, applicationId?: string): Promise<Page<SignalStream>> =>
  selectSignalStreams(database.knex, window, applicationId);

/** @param applicationId required owner; absent: any @throws {ApiError} not found */
export async function getSignalStream({ database }: Services, id: string, applicationId?: string): Promise<SignalStream> {
  return requireOwn(id, await findSignalStream(database.knex, id), applicationId);
}

function requireOwn(id: string, stream: SignalStream | undefined, applicationId: string | undefined): SignalStream {
  if (stream === undefined || (applicationId !== undefined && stream.applicationId !== applicationId)) throw missing(id);
  return stream;
}

/** Events that wait for delivery to a stream, or for polling. */
export async function waitingForStream({ database }: Services, { id, method }: SignalStream): Promise<Waiting> {
  const queued = await waitingFor(database.knex, receiver(id));
  if (method === 'PUSH') return queued;
  const { count, oldest } = await waitingSets(database.knex, id);
  const first = [queued.oldest, oldest].filter((moment) => moment !== null).sort((a, b) => a.getTime() - b.getTime())[0];
  return { ...queued, count: queued.count + count, oldest: first ?? null };
}

/** Locks a stream and changes it in one transaction. */
export async function changeSignalStream<T>(
  { database }: Services,
  id: string,
  applicationId: string | undefined,
  work: (trx: Executor, before: SignalStream) => Promise<T>,
): Promise<T> {
  return database.transaction(async (trx) => work(trx, requireOwn(id, await lockSignalStream(trx, id), applicationId)));
}

/** Replaces the settings of a stream. @throws {ApiError} not found; validation: another host needs the authorization header again */
export async function updateSignalStream(
  services: Services,
  id: string,
  input: StreamInput,
  request: RequestContext,
  applicationId?: string,
): Promise<SignalStream> {
  return changeSignalStream(services, id, applicationId, async (trx, before) => {
    const changes = { ...settingsOf(services, id, input, before), lastUpdated: present() };
    await updateSignalStreamRow(trx, id, changes);
    const after = { ...before, ...changes };
    if (before.method === 'POLL' && after.method === 'PUSH') await requeueSignalSets(trx, id);
    await endStreamPauses(trx, id);
    const event = streamEvent('system.signal_stream.update', 'Update signal stream', after, request);
    await recordEvent(trx, { ...event, before: described(before), after: described(after) });
    return after;
  });
}

/** Deletes everything that waits for a stream. */
async function forget(trx: Executor, id: string): Promise<void> {
  await removeEntriesOf(trx, receiver(id));
  await removeSignalSetsOf(trx, id);
}

/** Seconds after which running deliveries have been postponed. */
const URGENT_PAUSE_SECONDS = 10;
const urgentRetryAt = (): Date => new Date(present().getTime() + URGENT_PAUSE_SECONDS * 1000);

/** Makes waiting entries due at once; entries in progress are not changed. */
export const endStreamPauses = (trx: Executor, id: string): Promise<void> =>
  endPausesOf(trx, receiver(id), present(), new Date(present().getTime() + SIGNAL_LEASE_SECONDS * 1000));

/**
 * Events of a paused stream wait; those of a disabled one are dropped.
 * @param change.tell notify the receiver? Yes, unless it requested the change itself (SSF 1.0 section 8.1.5)
 * @throws {ApiError} not found
 */
export async function setStreamStatus(
  services: Services,
  id: string,
  { status, reason, notify }: { readonly status: StreamStatus; readonly reason: string | null; readonly notify: boolean },
  request: RequestContext,
  applicationId?: string,
): Promise<SignalStream> {
  return changeSignalStream(services, id, applicationId, async (trx, before) => {
    if (before.status === status && before.statusReason === reason) return before;
    const changes = { status, statusReason: reason, lastUpdated: present() };
    await updateSignalStreamRow(trx, id, changes);
    if (status === 'DISABLED') await forget(trx, id);
    if (notify && before.status !== status) await queueNotice(trx, id, { type: 'stream-updated', status, reason });
    if (status === 'ENABLED') {
      await endStreamPauses(trx, id);
      await insertEntry(trx, { ...receiver(id), objectKey: null, payload: { streamId: id, hurry: true }, created: urgentRetryAt() });
    }
    const event = streamEvent('system.signal_stream.status', 'Change status of signal stream', before, request);
    await recordEvent(trx, { ...event, before: { status: before.status, reason: before.statusReason }, after: { status, reason } });
    return { ...before, ...changes };
  });
}

/** Deletes a stream and everything that waits for it. @throws {ApiError} not found */
export async function deleteSignalStream(services: Services, id: string, request: RequestContext, applicationId?: string): Promise<void> {
  await changeSignalStream(services, id, applicationId, async (trx, before) => {
    await forget(trx, id);
    await deleteSignalStreamRow(trx, id);
    const event = streamEvent('system.signal_stream.delete', 'Delete signal stream', before, request);
    await recordEvent(trx, { ...event, before: described(before) });
  });
}

/**
 * Sends a verification event after the waiting ones (SSF 1.0 section 8.1.4).
 * @param state repeated in the event
 * @throws {ApiError} not found; rate limited; wrong state: the stream is disabled
 */
export async function verifySignalStream(
  services: Services,
  id: string,
  state: string | undefined,
  request: RequestContext,
  applicationId?: string,
): Promise<void> {
  await changeSignalStream(services, id, applicationId, async (trx, before) => {
    if (before.status === 'DISABLED') throw wrongState('the stream is disabled. Enable it first');
    const now = present();
    const wait = VERIFICATION_INTERVAL - (now.getTime() - (before.lastVerification?.getTime() ?? 0)) / 1000;
    if (wait > 0) throw rateLimited(Math.ceil(wait));
    await updateSignalStreamRow(trx, id, { lastVerification: now });
    await queueNotice(trx, id, { type: 'verification', ...(state !== undefined && { state }) });
    await recordEvent(trx, streamEvent('system.signal_stream.verify', 'Verify signal stream', before, request));
  });
}

/** An event about the stream itself, not about a user. */
type Notice =
  | { readonly type: 'verification'; readonly state?: string }
  | { readonly type: 'stream-updated'; readonly status: StreamStatus; readonly reason: string | null };

const queueNotice = (trx: Executor, streamId: string, notice: Notice): Promise<void> =>
  insertEntry(trx, {
    ...receiver(streamId),
    objectKey: null,
    payload: { streamId, notice: { ...notice, jti: randomUUID() } },
    created: present(),
  });

/** Milliseconds after which an event is no longer sent. */
export const SIGNAL_KEPT = 7 * 24 * 3600 * 1000;
/** Maximum events that wait for one stream; beyond it, the oldest are dropped. */
const MOST_WAITING = 10_000;

/** Limits waiting events of streams that are paused, unavailable or not polled. @returns the size of the largest batch */
export async function deleteUnwantedSignals(executor: Executor, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - SIGNAL_KEPT);
  return Math.max(
    await deleteUnwantedSets(executor, { before, most: MOST_WAITING }, limit),
    await deleteSurplusEntries(executor, SIGNAL, MOST_WAITING, limit),
    await deleteOrphanedSubjects(executor, limit),
  );
}

/** An event about a stream. */
export const streamEvent = (
  eventType: EventType,
  displayMessage: string,
  { id, description, applicationId }: SignalStream,
  request: RequestContext,
) => ({
  eventType,
  displayMessage,
  request,
  targets: [
    { id, type: 'SignalStream', displayName: description === '' ? id : description },
    { id: applicationId, type: 'AppInstance', displayName: applicationId },
  ],
});

function settingsOf(
  services: Services,
  id: string,
  { description, eventsRequested, delivery }: StreamInput,
  before: SignalStream | undefined,
) {
  const events = knownTypes(eventsRequested);
  return {
    description,
    eventsRequested: [...new Set(eventsRequested)],
    events,
    sources: sourcesOf(events),
    method: delivery.method,
    endpointUrl: delivery.method === 'PUSH' ? delivery.endpointUrl : null,
    authorization: sealedAuthorization(services, id, delivery, before),
  };
}

/**
 * An absent header is kept only if it would be sent to the same host: callers who can change the URL could otherwise read it.
 * @throws {ApiError} validation: another host needs it again
 */
function sealedAuthorization({ keyring }: Services, id: string, delivery: GivenDelivery, before: SignalStream | undefined): string | null {
  if (delivery.method === 'POLL') return null;
  const { authorizationHeader: given, endpointUrl } = delivery;
  if (given !== undefined) return given === null ? null : keyring.seal(given, streamAuthorizationContext(id));
  if (before?.endpointUrl == null || before.authorization === null) return null;
  if (new URL(before.endpointUrl).origin === new URL(endpointUrl).origin) return before.authorization;
  throw validation([{ field: 'delivery.authorizationHeader', message: 'is required when the host changes. Send null to remove it' }]);
}

/** The stream's data in audit events, without the authorization header. */
const described = ({ applicationId, description, status, method, endpointUrl, authorization, eventsRequested, events }: SignalStream) => ({
  ...{ applicationId, description, status, method, endpointUrl, eventsRequested, events },
  hasAuthorizationHeader: authorization !== null,
});
