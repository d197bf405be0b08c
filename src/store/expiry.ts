/** Removes what has expired, now and then, in bounded batches; any number of processes may do so at once. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { epochSeconds } from '../clock.ts';
import { deleteExpired } from './protocol-state.ts';

const EVERY = 60_000;
const BATCH = 5000;
/** A pause between batches keeps the database free for requests. */
const PAUSE = 100;

/** @returns a way to end it */
export function sweepExpired(pool: pg.Pool, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const removed = await deleteExpired(pool, epochSeconds(), BATCH);
        await wait(removed < BATCH ? EVERY : PAUSE, undefined, { signal: stopping.signal, ref: false });
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn({ err: error }, 'expired rows could not be removed');
        await wait(EVERY, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      }
    }
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}
