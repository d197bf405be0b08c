/** Limits concurrent work. Further work waits in order of arrival and is refused immediately if it would wait too long. */
import { Overloaded } from '../database/database-failures.ts';

export interface Semaphore {
  /** Runs the work when a slot is free. @throws {Overloaded} too much work is waiting; it was not started */
  <T>(work: () => Promise<T>): Promise<T>;
  /** Would further work be refused? */
  readonly isFull: () => boolean;
}

/** @param atOnce maximum concurrency @param mostWaiting maximum queue length */
export function createSemaphore(atOnce: number, mostWaiting: number): Semaphore {
  let free = atOnce;
  const waiting: (() => void)[] = [];

  const isFull = () => free === 0 && waiting.length >= mostWaiting;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isFull()) throw new Overloaded();
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  return Object.assign(run, { isFull });
}
