/**
 * PostgreSQL ends one of several transactions that block each other (deadlock), or that cannot be put in an order (serialization failure), and undoes all of it
 * (PostgreSQL manual, "Serialization Failure Handling"). The same work succeeds when it is done again, and nothing of the first attempt is left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** serialization failure · deadlock */
const UNDONE_STATES = /^(40001|40P01)$/;
const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 10;

/** @param attempt the one that failed, from 1 on @returns whether it was undone by PostgreSQL, and another attempt is due */
export const mayRepeat = (error: unknown, attempt: number): boolean =>
  attempt < MOST_ATTEMPTS && error instanceof pg.DatabaseError && UNDONE_STATES.test(error.code ?? '');

/** @returns milliseconds, at random: those that blocked each other shall not meet again */
export const pauseAfterAttempt = (attempt: number): number => Math.random() * FIRST_PAUSE_MS * 2 ** attempt;

/**
 * Does the work until PostgreSQL does not undo it, five times at most.
 * @param work whole transactions, or statements outside of any; it has no effect elsewhere
 * @throws what the work throws
 */
export async function repeatUndone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!mayRepeat(error, attempt)) throw error;
      await delay(pauseAfterAttempt(attempt));
    }
  }
}
