/**
 * A receiver polls its stream (RFC 8936): it acknowledges or refuses events, and gets waiting ones. Events without acknowledgement are sent again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { SignSecurityEvent } from './signal-delivery.service.ts';
import { listSignalSets, removeSignalSets } from './signal-sets.store.ts';
import type { SignalStream } from './signal-streams.resource.ts';
import { streamEvent } from './signal-streams.service.ts';
import { updateSignalStreamRow } from './signal-streams.store.ts';

/** Events of one response. */
export const MOST_SETS = 100;
/** Maximum polls of one process that wait for events; further ones get an immediate response. */
const MOST_POLLS = 200;
let polls = 0;
/** Limit per stream, so that one cannot block all others. */
const MOST_POLLS_OF_ONE = 2;
const pollsOf = new Map<string, number>();

interface Poll {
  readonly maxEvents: number;
  readonly returnImmediately: boolean;
  /** `jti`s of events that the receiver has stored. */
  readonly ack: readonly string[];
  /** Refused events and reasons. */
  readonly setErrs: Readonly<Record<string, { readonly err: string }>>;
}

interface PollAnswer {
  /** Signed tokens by their `jti`. */
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable: boolean;
}

/** @param isOver has the receiver disconnected, or is the process ending? */
export async function pollSignals(
  services: Services,
  stream: SignalStream,
  { maxEvents, returnImmediately, ack, setErrs }: Poll,
  { sign, isOver, request }: { readonly sign: SignSecurityEvent; isOver(): boolean; readonly request: RequestContext },
): Promise<PollAnswer> {
  await recordAcknowledgements(services, stream, ack, setErrs, request);
  const limit = Math.min(maxEvents, MOST_SETS);
  if (limit === 0) return { sets: {}, moreAvailable: false };
  const look = () => listSignalSets(services.database.knex, stream.id, limit + 1);
  let found = await look();
  const ofStream = pollsOf.get(stream.id) ?? 0;
  if (found.length === 0 && !returnImmediately && polls < MOST_POLLS && ofStream < MOST_POLLS_OF_ONE) {
    const end = performance.now() + timings.signalPoll;
    polls += 1;
    pollsOf.set(stream.id, ofStream + 1);
    try {
      while (found.length === 0 && performance.now() < end && !isOver()) {
        await wait(timings.signalPollPause);
        found = await look();
      }
    } finally {
      polls -= 1;
      const left = (pollsOf.get(stream.id) ?? 1) - 1;
      if (left > 0) pollsOf.set(stream.id, left);
      else pollsOf.delete(stream.id);
    }
  }
  const sets: Record<string, string> = {};
  for (const event of found.slice(0, limit)) {
    const token = await sign(stream, event);
    if (token !== undefined) sets[event.jti] = token;
  }
  return { sets, moreAvailable: found.length > limit };
}

async function recordAcknowledgements(
  { database }: Services,
  stream: SignalStream,
  ack: readonly string[],
  setErrs: Poll['setErrs'],
  request: RequestContext,
): Promise<void> {
  const refused = Object.keys(setErrs);
  if (ack.length + refused.length === 0) return;
  await database.transaction(async (trx) => {
    const removed = new Set(await removeSignalSets(trx, stream.id, [...ack, ...refused]));
    if (removed.size === 0) return;
    const failed = refused.filter((jti) => removed.has(jti));
    const reasonFor = (jti: string) => `the receiver refused it (${setErrs[jti]?.err})`;
    const [last] = failed.slice(-1);
    await updateSignalStreamRow(trx, stream.id, {
      ...(removed.size > failed.length && { lastDelivered: present() }),
      ...(last !== undefined && { lastFailed: present(), lastError: reasonFor(last) }),
    });
    for (const jti of failed)
      await recordEvent(trx, {
        ...streamEvent('system.signal_stream.delivery', 'Deliver event to signal stream', stream, request),
        failure: reasonFor(jti),
      });
  });
}
