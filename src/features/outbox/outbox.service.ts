/**
 * Delivers the outbox's entries in the background, in every process: each entry at least once, retried with growing pauses, and in order per object
 * (features/outbox/outbox.store.ts). The carrier of each kind interprets its entries.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inTrace } from '../../platform/telemetry/tracing.ts';
import { auditEvent, recordEvent } from '../audit/audit.service.ts';
import { type Event, SYSTEM } from '../audit/audit-event.policy.ts';
import { claimDue, type DueQuery, kindsWaiting, type OutboxEntry, postponeBlocked, postponeEntry, removeEntry } from './outbox.store.ts';

/** Maximum concurrent deliveries of one kind in one process: unresponsive receivers do not delay other kinds. */
const MOST_AT_ONCE = 20;
/** Seconds to the next attempt by default; after the last one, the entry fails for good. */
export const PAUSES: readonly number[] = [5, 30, 120, 600, 3600];

/** The receiver refuses the entry permanently: no further attempt. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable';
}

/**
 * The entry cannot be delivered yet, although nothing is wrong with it. It is retried later without a limit, and this does not count as an attempt.
 */
export class Postponed extends Error {
  override readonly name = 'Postponed';
  readonly seconds: number;
  /** @param seconds until the next attempt */
  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

type Outcome = 'delivered' | 'dropped' | 'failed' | 'given_up';

/** Delivers the entries of one kind. */
export interface Carrier {
  /**
   * @returns `dropped` if there is no recipient; `{ delivered }` with the audit event of the delivery, of a type without notification e-mails
   * @throws {Undeliverable} no retry; other errors are retried
   */
  deliver(payload: unknown): Promise<'delivered' | 'dropped' | { readonly delivered: Event }>;
  /** @returns the audit event of an entry that fails for good */
  givenUp(payload: unknown): Pick<Event, 'eventType' | 'displayMessage' | 'targets'>;
  /**
   * @param age seconds since the entry was written
   * @returns seconds until the next attempt; undefined: no further attempt
   */
  pauseAfter?(attempts: number, age: number): number | undefined;
  /** Maximum concurrent deliveries in one process; absent: MOST_AT_ONCE. */
  readonly mostAtOnce?: number;
  /** Seconds after which another process can claim the entry, if there is no result; absent: `timings.outboxClaim`. */
  readonly takenFor?: number;
}

export interface OutboxParts extends Pick<Services, 'database' | 'log'> {
  readonly carriers: Readonly<Record<string, Carrier>>;
  /** Called for each attempt. */
  count(kind: string, outcome: Outcome): void;
}

/** Starts delivering. @returns a handle that stops it after current deliveries */
export function sendOutbox(parts: OutboxParts): { stop(): Promise<void> } {
  const { database, log, carriers } = parts;
  const kinds = Object.keys(carriers);
  /** Kinds with a delivery since the last check: more entries may be due. */
  const delivered = new Set<string>();
  let stopping = false;
  let rest = new AbortController();
  const senders = new Map(
    Object.entries(carriers).map(([kind, carrier]) => {
      const done = () => {
        delivered.add(kind);
        rest.abort();
      };
      return [kind, sender(parts, kind, carrier, done)];
    }),
  );

  /** @returns false if any kind could not be read */
  async function look(among: Iterable<string>): Promise<boolean> {
    const looks = await Promise.all([...among].map((kind) => senders.get(kind)?.sendDue()));
    return !looks.includes(false);
  }

  /** Checks all kinds that have entries. */
  async function lookAtAll(): Promise<boolean> {
    try {
      return await look(await kindsWaiting(database.pool, kinds));
    } catch (error) {
      log.warn({ err: error }, 'could not read the outbox; trying again');
      return false;
    }
  }

  const done = (async () => {
    let next = Number.NEGATIVE_INFINITY;
    while (!stopping) {
      rest = new AbortController();
      const { signal } = rest;
      const again = [...delivered];
      delivered.clear();
      if (performance.now() < next) await look(again);
      else {
        const pause = (await lookAtAll()) ? timings.outboxPause : timings.outboxPauseAfterFailure;
        // Counted from the end of the run, so that a slow database is not queried without a pause.
        next = performance.now() + pause;
      }
      await wait(Math.max(0, next - performance.now()), undefined, { signal, ref: false }).catch(() => undefined);
    }
    await Promise.all([...senders.values()].map(({ settled }) => settled()));
  })();
  return {
    stop() {
      stopping = true;
      rest.abort();
      return done;
    },
  };
}

interface Sender {
  /** Starts delivering due entries. @returns false if they could not be read */
  sendDue(): Promise<boolean>;
  /** Waits for current deliveries. */
  settled(): Promise<void>;
}

/** @param done called after a delivery if more entries may be due */
function sender({ database, log, count }: OutboxParts, kind: string, carrier: Carrier, done: () => void): Sender {
  const underWay = new Map<Promise<void>, OutboxEntry>();
  /** May more entries be due than were claimed? If not, the next regular query is early enough. */
  let leftAny = false;

  async function attempt(entry: OutboxEntry): Promise<Outcome> {
    try {
      const outcome = await carrier.deliver(entry.payload);
      const event = typeof outcome === 'string' ? undefined : auditEvent(outcome.delivered);
      const removed = await removeEntry(database.knex, entry, event);
      leftAny ||= removed?.isFollowed === true;
      return typeof outcome === 'string' ? outcome : 'delivered';
    } catch (error) {
      const reason = reasonOf(error);
      const pause = pauseBefore(error, carrier, entry);
      if (pause !== undefined) {
        await postponeEntry(database.knex, entry, { due: later(pause), error: reason, counts: !(error instanceof Postponed) });
        return 'failed';
      }
      const event = describeLost(carrier, entry);
      log.warn({ kind, attempts: entry.attempts, reason, targets: event?.targets }, 'gave up on a delivery');
      await database.transaction(async (trx) => {
        const removed = await removeEntry(trx, entry);
        leftAny ||= removed?.isFollowed === true;
        if (removed !== undefined && event !== undefined) await recordEvent(trx, { ...event, request: SYSTEM, failure: reason });
      });
      return 'given_up';
    }
  }

  async function send(entry: OutboxEntry): Promise<void> {
    try {
      await inTrace({ name: `outbox ${kind}`, kind: 'consumer', attributes: { 'gatehouse.outbox.kind': kind } }, async (span) => {
        const outcome = await attempt(entry);
        span.set({ 'gatehouse.outbox.outcome': outcome });
        count(kind, outcome);
      });
    } catch (error) {
      // The entry remains and is claimed again.
      log.warn({ err: error, kind }, 'could not record the result of a delivery');
    }
  }

  async function putOff(look: DueQuery): Promise<void> {
    try {
      await postponeBlocked(database.knex, look);
    } catch (error) {
      log.warn({ err: error, kind }, 'could not postpone waiting outbox entries');
    }
  }

  async function claimAndSend(): Promise<void> {
    const { mostAtOnce = MOST_AT_ONCE, takenFor = timings.outboxClaim } = carrier;
    const limit = mostAtOnce - underWay.size;
    if (limit === 0) return;
    const look = { kinds: [kind], busy: [...underWay.values()].map(({ orderingKey }) => orderingKey), now: present() };
    leftAny = look.busy.length > 0;
    const due = await claimDue(database.knex, { ...look, until: later(takenFor), limit });
    // A single entry where more were allowed means that nothing else is due, except entries that wait behind it.
    leftAny ||= due.length > 1 || due.length === limit;
    for (const entry of due) {
      const sending = send(entry).finally(() => {
        underWay.delete(sending);
        if (leftAny) done();
      });
      underWay.set(sending, entry);
    }
    if (due.length < limit) await putOff(look);
  }

  return {
    async sendDue() {
      try {
        await claimAndSend();
        return true;
      } catch (error) {
        log.warn({ err: error, kind }, 'could not read the outbox; trying again');
        return false;
      }
    },
    async settled() {
      await Promise.all(underWay.keys());
    },
  };
}

function pauseBefore(error: unknown, carrier: Carrier, { attempts, created }: OutboxEntry): number | undefined {
  if (error instanceof Undeliverable) return undefined;
  if (error instanceof Postponed) return error.seconds;
  return carrier.pauseAfter === undefined
    ? PAUSES[attempts - 1]
    : carrier.pauseAfter(attempts, (present().getTime() - created.getTime()) / 1000);
}

/** @returns undefined if the payload is invalid: such an entry must not be retried forever */
function describeLost(carrier: Carrier, { payload }: OutboxEntry): ReturnType<Carrier['givenUp']> | undefined {
  try {
    return carrier.givenUp(payload);
  } catch {
    return undefined;
  }
}

const later = (seconds: number): Date => new Date(present().getTime() + seconds * 1000);

/** The start of a text. Half a surrogate pair at its end, which PostgreSQL would refuse, becomes U+FFFD. @param most UTF-16 code units */
export const shortened = (text: string, most: number): string => Buffer.from(text.slice(0, most)).toString();

/** Message of an error with its cause: undici's "fetch failed" has the reason in the cause. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  return shortened(cause instanceof Error ? `${message}: ${cause.message}` : message, 500);
}
