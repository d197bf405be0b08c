/** Several processes on one port (`WORKERS`): the primary starts and stops them, and replaces those that exit; it answers no requests. */
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { gatherMetrics } from '../platform/metrics/metrics.ts';
import { type OpenResources, StartFailure } from './lifecycle.ts';

/** Milliseconds; a worker that exits earlier has failed to start. */
const AT_ONCE = 10_000;
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;

/** @returns milliseconds to wait before the next worker, after a number of consecutive early exits */
export const pauseAfter = (earlyExits: number): number =>
  earlyExits === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (earlyExits - 1), LONGEST_PAUSE);

/** A worker reports that it is ready to listen; the primary allows it. */
const PREPARED = 'gatehouse:prepared';
const LISTEN = 'gatehouse:listen';
/** Milliseconds that the first workers wait for the others before they listen: the database may not have enough connections for all. */
const LISTEN_TIMEOUT = 10_000;

/**
 * Starts the workers and replaces those that exit. They listen only when all are ready, so that the first connections are spread over them; a
 * kept-alive connection stays with its worker.
 * @returns when all serve requests
 * @throws {StartFailure} the first worker does not start; it has reported the reason
 */
export async function startWorkers(count: number, log: Logger, open: OpenResources): Promise<void> {
  let stopping = false;
  let earlyExits = 0;
  let mayListen = false;
  const prepared = new Set<Worker>();
  const listening = new Set<Worker>();
  const news = new EventEmitter();
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await once(news, 'change');
  };

  const start = (): Worker => {
    const worker = cluster.fork();
    const begun = performance.now();
    worker.on('message', (message: unknown) => {
      if (message !== PREPARED) return;
      prepared.add(worker);
      news.emit('change');
      if (mayListen) worker.send(LISTEN);
    });
    worker.once('listening', () => {
      listening.add(worker);
      news.emit('change');
    });
    // For example when the worker is exiting.
    worker.on('error', (error) => log.warn({ worker: worker.process.pid, err: error }, 'could not send a message to a worker'));
    worker.once('exit', (code, signal) => {
      prepared.delete(worker);
      listening.delete(worker);
      if (stopping) return;
      earlyExits = performance.now() - begun < AT_ONCE ? earlyExits + 1 : 0;
      const pause = pauseAfter(earlyExits);
      log.error({ worker: worker.process.pid, code, signal, pause }, 'a worker exited unexpectedly and is replaced');
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
  // First a single one: a problem with the start would affect all of them.
  const first = start();
  const failed = once(first, 'exit').then(() => {
    throw new StartFailure();
  });
  failed.catch(() => undefined);
  await Promise.race([until(() => prepared.has(first)), failed]);
  for (let started = 1; started < count; started += 1) start();
  await Promise.race([until(() => prepared.size === count), delay(LISTEN_TIMEOUT, undefined, { ref: false }), failed]);
  // Again a single one: it reports whether the port is free.
  first.send(LISTEN);
  await Promise.race([until(() => listening.has(first)), failed]);
  mayListen = true;
  for (const worker of prepared) if (worker !== first) worker.send(LISTEN);
  await until(() => listening.size === count);
}

/** In a worker: reports that it is ready and waits for permission to listen. @throws {StartFailure} on a stop signal */
export async function waitForTurn(): Promise<void> {
  const allowed = new Promise<void>((resolve, reject) => {
    process.on('message', (message: unknown) => message === LISTEN && resolve());
    process.once('SIGTERM', () => reject(new StartFailure()));
  });
  process.send?.(PREPARED);
  await allowed;
}

/** Lets a worker complete its requests, and waits for its end. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await ended;
}
