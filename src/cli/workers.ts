/** Several processes on one port (`WORKERS`): the primary starts them, replaces those that die, and ends them; it answers no request. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { gatherMetrics } from '../platform/metrics/metrics.ts';
import { type OpenResources, StartFailure } from './lifecycle.ts';

/** Milliseconds; a worker that does not live that long has died at once. */
const AT_ONCE = 10_000;
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;

/** @returns milliseconds to wait before the next worker, after so many in a row that died at once */
export const pauseAfter = (earlyDeaths: number): number =>
  earlyDeaths === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (earlyDeaths - 1), LONGEST_PAUSE);

/**
 * Starts the workers and keeps their number.
 * @returns when the first of them answers requests
 * @throws {StartFailure} when the first does not start; it has told why
 */
export async function startWorkers(count: number, log: Logger, open: OpenResources): Promise<void> {
  let stopping = false;
  let earlyDeaths = 0;

  const start = (): Worker => {
    const worker = cluster.fork();
    const begun = performance.now();
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      earlyDeaths = performance.now() - begun < AT_ONCE ? earlyDeaths + 1 : 0;
      const pause = pauseAfter(earlyDeaths);
      log.error({ worker: worker.process.pid, code, signal, pause }, 'a worker died and is replaced');
      setTimeout(() => {
        if (!stopping) start();
      }, pause);
    });
    return worker;
  };

  gatherMetrics();
  open.add(async () => {
    stopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && end(worker)));
  });
  // One alone at first: what keeps it from starting would keep all of them.
  const first = start();
  const failed = once(first, 'exit').then(() => {
    throw new StartFailure();
  });
  await Promise.race([once(first, 'listening'), failed]);
  failed.catch(() => undefined);
  for (let started = 1; started < count; started += 1) start();
}

/** Lets a worker answer what it has begun, and waits for its end. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await ended;
}
