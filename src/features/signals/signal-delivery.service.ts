/**
 * Delivers security events to signal streams: each as a signed security event token, pushed by HTTPS (RFC 8935), or stored for the receiver to poll.
 * The token is created on delivery, so that the current key signs it; its `jti` is the same for every attempt.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { findAuditEvent } from '../audit/audit.store.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { pauseBeforeNext, pausesOf } from '../event-hooks/event-hook-retries.policy.ts';
import { type Carrier, Postponed, reasonOf, Undeliverable } from '../outbox/outbox.service.ts';
import { removeEntriesOf } from '../outbox/outbox.store.ts';
import { insertSignalSets, SIGNAL, SIGNAL_LEASE_SECONDS } from './signal-sets.store.ts';
import {
  RECEIVER_GONE,
  type SecurityEvent,
  type SignalStream,
  STREAM_STATUSES,
  STREAM_UPDATED,
  VERIFICATION,
} from './signal-streams.resource.ts';
import { endStreamPauses, SIGNAL_KEPT, streamAuthorizationContext, streamEvent } from './signal-streams.service.ts';
import { findRemovedSubjects, findSignalStream, isPolled, lockSignalStream, updateSignalStreamRow } from './signal-streams.store.ts';
import { signalsOf } from './signals.policy.ts';

/** Seconds for which an entry of a paused stream, or of an inactive application, waits; it is due immediately when the stream is enabled. */
const WHILE_PAUSED = 600;

/** @returns the signed token; undefined: there is no such application, or it is inactive */
export type SignSecurityEvent = (stream: SignalStream, event: SecurityEvent) => Promise<string | undefined>;

const notice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('verification'), jti: z.string(), state: z.string().optional() }),
  z.object({ type: z.literal('stream-updated'), jti: z.string(), status: z.enum(STREAM_STATUSES), reason: z.string().nullable() }),
]);
const entry = z.object({ streamId: z.string(), eventId: z.string().optional(), notice: notice.optional(), hurry: z.boolean().optional() });

function eventOfNotice(given: z.output<typeof notice>): SecurityEvent {
  const { jti, type } = given;
  const claims =
    given.type === 'verification'
      ? { ...(given.state !== undefined && { state: given.state }) }
      : { status: given.status.toLowerCase(), ...(given.reason !== null && { reason: given.reason }) };
  return { jti, txn: jti, type: type === 'verification' ? VERIFICATION : STREAM_UPDATED, claims };
}

/** @returns the events, except those about users that the receiver removed */
async function withoutRemoved<Event extends { readonly userId?: string }>(
  executor: Executor,
  streamId: string,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const about = events.flatMap(({ userId }) => userId ?? []);
  if (about.length === 0) return events;
  const removed = await findRemovedSubjects(executor, streamId, about);
  return events.filter(({ userId }) => userId === undefined || !removed.has(userId));
}

export function signalDelivery(services: Services, call: Outbound, sign: SignSecurityEvent): Carrier {
  const { database, keyring, log } = services;

  async function eventsFor(stream: SignalStream, eventId: string): Promise<readonly SecurityEvent[]> {
    const event = await findAuditEvent(database.knex, eventId);
    if (event === undefined || present().getTime() - event.published.getTime() > SIGNAL_KEPT) return [];
    const signals = signalsOf(event).filter(({ type }) => stream.events.includes(type));
    return (await withoutRemoved(database.knex, stream.id, signals)).map(({ type, userId, claims, part }) => ({
      jti: digest(JSON.stringify([stream.id, eventId, type, part])),
      txn: eventId,
      ...{ type, userId, claims },
    }));
  }

  /** @returns the status of the response, and the error code in it (RFC 8935 section 2.3) */
  async function push(stream: SignalStream, token: string): Promise<{ readonly status: number; readonly err: string | undefined }> {
    const { endpointUrl, authorization } = stream;
    if (endpointUrl === null) throw new Error('the stream has no endpoint');
    const response = await call(endpointUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        'user-agent': 'Gatehouse',
        ...(authorization !== null && { authorization: keyring.open(authorization, streamAuthorizationContext(stream.id)) }),
      },
      body: token,
    });
    const { status } = response;
    if (status !== 400) {
      await response.body?.cancel();
      return { status, err: undefined };
    }
    return { status, err: refusalBody.safeParse(await response.json().catch(() => undefined)).data?.err };
  }

  async function note(stream: SignalStream, changes: Partial<SignalStream>): Promise<void> {
    try {
      await updateSignalStreamRow(database.knex, stream.id, changes);
    } catch (error) {
      // The record is optional: the delivery does not depend on it.
      log.warn({ err: error, streamId: stream.id }, 'could not record a delivery of a signal');
    }
  }

  /** @throws the stream has changed since it was read: the delivery is repeated */
  async function keep(streamId: string, events: readonly SecurityEvent[], evenDisabled: boolean): Promise<void> {
    await database.transaction(async (trx) => {
      if (!(await isPolled(trx, streamId, evenDisabled))) throw new Postponed('the stream was changed', 1);
      // Checked again under the stream's lock: a user may have been removed since the events were read.
      await insertSignalSets(trx, streamId, await withoutRemoved(trx, streamId, events), present());
    });
  }

  /** The receiver no longer exists. */
  async function disable({ id }: SignalStream): Promise<void> {
    await database.transaction(async (trx) => {
      const before = await lockSignalStream(trx, id);
      if (before === undefined || before.status === 'DISABLED') return;
      const after = { status: 'DISABLED' as const, statusReason: RECEIVER_GONE };
      await updateSignalStreamRow(trx, id, { ...after, lastUpdated: present() });
      await removeEntriesOf(trx, { kind: SIGNAL, orderingKey: id });
      const event = streamEvent('system.signal_stream.status', 'Change status of signal stream', before, SYSTEM);
      await recordEvent(trx, {
        ...event,
        before: { status: before.status, reason: before.statusReason },
        after: { status: after.status, reason: after.statusReason },
      });
    });
  }

  /** @returns why the receiver refuses the event permanently; undefined: it was accepted @throws the event must be sent again */
  async function deliver(stream: SignalStream, token: string): Promise<string | undefined> {
    try {
      const { status, err } = await push(stream, token);
      if (status >= 200 && status <= 299) {
        await note(stream, { lastDelivered: present() });
        return undefined;
      }
      if (status === 410) {
        await disable(stream);
        throw new Undeliverable('the receiver answered 410, the stream is disabled');
      }
      const reason = `the receiver answered ${status}${err === undefined ? '' : ` (${err})`}`;
      if (status !== 400 || (err !== undefined && PASSING.has(err))) throw new Error(reason);
      await note(stream, { lastFailed: present(), lastError: reason });
      return reason;
    } catch (error) {
      await note(stream, { lastFailed: present(), lastError: reasonOf(error) });
      throw error;
    }
  }

  return {
    takenFor: SIGNAL_LEASE_SECONDS,
    async deliver(payload) {
      const { streamId, eventId, notice: about, hurry = false } = entry.parse(payload);
      const stream = await findSignalStream(database.knex, streamId);
      if (stream === undefined) return 'dropped';
      if (hurry) {
        if (stream.status === 'ENABLED') await endStreamPauses(database.knex, streamId);
        return 'delivered';
      }
      // The notice that a stream stops is sent after it has stopped.
      if (about?.type !== 'stream-updated') {
        if (stream.status === 'DISABLED') return 'dropped';
        if (stream.status === 'PAUSED' && !(await isTooOld(eventId))) throw new Postponed('the stream is paused', WHILE_PAUSED);
      }
      const events = about === undefined ? await eventsFor(stream, eventId ?? '') : [eventOfNotice(about)];
      if (stream.method === 'POLL') {
        await keep(streamId, events, about?.type === 'stream-updated');
        return events.length > 0 ? 'delivered' : 'dropped';
      }
      const refused: string[] = [];
      for (const event of events) {
        const token = await sign(stream, event);
        // Like events of a paused stream, they are dropped when they are too old (eventsFor).
        if (token === undefined) throw new Postponed('the application is inactive', WHILE_PAUSED);
        const reason = await deliver(stream, token);
        if (reason !== undefined) refused.push(reason);
      }
      const [reason] = refused;
      if (reason !== undefined) throw new Undeliverable(reason);
      return events.length > 0 ? 'delivered' : 'dropped';
    },
    givenUp(payload) {
      const { streamId, eventId } = entry.parse(payload);
      return {
        eventType: 'system.signal_stream.delivery',
        displayMessage: 'Deliver event to signal stream',
        targets: [
          { id: streamId, type: 'SignalStream', displayName: streamId },
          ...(eventId === undefined ? [] : [{ id: eventId, type: 'LogEvent', displayName: eventId }]),
        ],
      };
    },
    // For three days of pushes: pauses of the stream do not count.
    pauseAfter: (attempts) => pauseBeforeNext(attempts, pausesOf(attempts), Math.random()),
  };

  /** A paused stream does not keep events forever. */
  async function isTooOld(eventId: string | undefined): Promise<boolean> {
    if (eventId === undefined) return false;
    const event = await findAuditEvent(database.knex, eventId);
    return event === undefined || present().getTime() - event.published.getTime() > SIGNAL_KEPT;
  }
}

/** Only an error code is used; a receiver's free text is never repeated. */
const refusalBody = z.object({ err: z.string().regex(/^\w{1,60}$/) });

/** Retried errors of RFC 8935 section 2.4: the stream's settings are wrong, not the token, and each attempt is signed with the current key. */
const PASSING: ReadonlySet<string> = new Set(['authentication_failed', 'access_denied', 'invalid_key']);
