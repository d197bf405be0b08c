/** Work that goes on only so much at once: the rest waits for its turn, in the order in which it came, and what would wait too long is refused at once. */
import { Overloaded } from '../database/database-failures.ts';

/** Runs the work when it is its turn. @throws {Overloaded} without having begun it, when too many wait already */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** @param atOnce works that go on together @param mostWaiting works that wait for their turn */
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
