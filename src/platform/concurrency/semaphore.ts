/** Limits concurrent work: the rest waits in order of arrival, and is refused at once if it would wait too long. */
import { Overloaded } from '../database/database-failures.ts';

/** Runs the work when it is its turn. @throws {Overloaded} without having begun it, when too many wait already */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** @param atOnce maximum concurrency @param mostWaiting maximum queue length */
export function createSemaphore(atOnce: number, mostWaiting: number): Semaphore {
  let free = atOnce;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (free > 0) free -= 1;
    else if (waiting.length >= mostWaiting) throw new Overloaded();
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
