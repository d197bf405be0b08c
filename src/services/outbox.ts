/**
 * Carries what the outbox holds to those it is for, behind the requests, in every process: each entry at least once, tried again with growing
 * pauses, and in no order. What an entry means is its carrier's business.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../clock.ts';
import { claimDue, type OutboxEntry, postponeEntry, removeEntry } from '../store/outbox.ts';
import { type Event, recordEvent, SYSTEM } from './audit.ts';
import type { Services } from './dependencies.ts';

/** Milliseconds between two looks for what is due … */
const EVERY = 1000;
/** … and after one that failed, as while the database is away. */
const AFTER_FAILURE = 5000;
/** Deliveries under way in one process: one that does not answer holds up none but itself. */
const MOST_AT_ONCE = 20;
/** Seconds after which an entry that a process took is another's: longer than any delivery (http/outbound.ts). */
const TAKEN_FOR = 15;
/** Seconds to the next attempt; after the last of them it is given up. */
export const PAUSES: readonly number[] = [5, 30, 120, 600, 3600];

/** The other side does not want it: no further attempt is made. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable';
}

export type Outcome = 'delivered' | 'dropped' | 'failed' | 'given_up';

/** Delivers the entries of one kind. */
export interface Carrier {
  /**
   * @returns `dropped` when nobody is there any more to be told
   * @throws {Undeliverable} when it is to be given up; anything else is tried again
   */
  deliver(payload: unknown): Promise<'delivered' | 'dropped'>;
  /** What the audit log says when it is given up. */
  givenUp(payload: unknown): Pick<Event, 'eventType' | 'displayMessage' | 'targets'>;
}

export interface OutboxParts extends Pick<Services, 'database' | 'log'> {
  readonly carriers: Readonly<Record<string, Carrier>>;
  /** Told of each attempt. */
  count(kind: string, outcome: Outcome): void;
}

/** Begins to deliver. @returns a way to end it, after what is under way */
export function sendOutbox({ database, log, carriers, count }: OutboxParts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const underWay = new Map<Promise<void>, OutboxEntry>();

  async function attempt(entry: OutboxEntry, carrier: Carrier): Promise<Outcome> {
    try {
      const outcome = await carrier.deliver(entry.payload);
      await removeEntry(database.knex, entry);
      return outcome;
    } catch (error) {
      const reason = reasonOf(error);
      const pause = error instanceof Undeliverable ? undefined : PAUSES[entry.attempts - 1];
      if (pause !== undefined) {
        await postponeEntry(database.knex, entry, later(pause), reason);
        return 'failed';
      }
      const event = describeLost(carrier, entry);
      log.warn({ kind: entry.kind, attempts: entry.attempts, reason, targets: event?.targets }, 'a delivery was given up');
      await database.transaction(async (trx) => {
        if ((await removeEntry(trx, entry)) && event !== undefined) await recordEvent(trx, { ...event, request: SYSTEM, failure: reason });
      });
      return 'given_up';
    }
  }

  async function send(entry: OutboxEntry): Promise<void> {
    const carrier = carriers[entry.kind];
    if (carrier === undefined) return;
    try {
      count(entry.kind, await attempt(entry, carrier));
    } catch (error) {
      // It stays where it is, and is taken again.
      log.warn({ err: error, kind: entry.kind }, 'the outcome of a delivery could not be noted');
    }
  }

  /** @returns whether there may be more */
  async function sendDue(): Promise<boolean> {
    const limit = MOST_AT_ONCE - underWay.size;
    const busy = [...underWay.values()].map(({ orderingKey }) => orderingKey);
    const entries = await claimDue(database.knex, { kinds: Object.keys(carriers), busy, now: present(), until: later(TAKEN_FOR), limit });
    for (const entry of entries) {
      const sending = send(entry).finally(() => underWay.delete(sending));
      underWay.set(sending, entry);
    }
    return entries.length > 0;
  }

  const done = (async () => {
    while (!stopping.signal.aborted) {
      let pause = EVERY;
      try {
        if (await sendDue()) {
          await Promise.race(underWay.keys());
          continue;
        }
      } catch (error) {
        log.warn({ err: error }, 'the outbox could not be read');
        pause = AFTER_FAILURE;
      }
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
    await Promise.all(underWay.keys());
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}

/** @returns undefined for an entry that cannot even be read: it must not be tried for ever */
function describeLost(carrier: Carrier, { payload }: OutboxEntry): ReturnType<Carrier['givenUp']> | undefined {
  try {
    return carrier.givenUp(payload);
  } catch {
    return undefined;
  }
}

const later = (seconds: number): Date => new Date(present().getTime() + seconds * 1000);

/** In one line: undici says what failed in the cause of "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  return (cause instanceof Error ? `${message}: ${cause.message}` : message).slice(0, 500);
}
