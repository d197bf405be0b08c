import { setTimeout as wait } from 'node:timers/promises';
import { inTrace } from '../telemetry/tracing.ts';

/**
 * Repeats work until it is stopped, first after a pause, each time in its own trace.
 * @param work must not throw
 * @param pause milliseconds between the end of one run and the start of the next
 * @returns a handle that stops it after the current run
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
