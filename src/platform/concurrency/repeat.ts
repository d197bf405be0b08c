import { setTimeout as wait } from 'node:timers/promises';
import { inTrace } from '../telemetry/tracing.ts';

/**
 * Does work again and again until it is stopped, the first time after a pause, each time in a trace of its own.
 * @param work must not throw @param pause milliseconds between the end of one time and the beginning of the next
 * @returns a way to end it, after what is under way
 */
export function repeat(name: string, work: () => Promise<unknown>, pause: () => number): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const done = (async () => {
    for (;;) {
      await wait(pause(), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await inTrace({ name, kind: 'internal' }, work);
    }
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}
