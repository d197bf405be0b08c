/**
 * Repeats transactions that PostgreSQL rolled back because of a deadlock or serialization failure (PostgreSQL manual, "Serialization
 * Failure Handling"). The repetition succeeds, and nothing of the first attempt remains.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** serialization failure · deadlock */
const UNDONE_STATES = /^(40001|40P01)$/;
const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 10;

/** @param attempt number of the failed attempt, from 1 @returns whether PostgreSQL rolled it back and another attempt is due */
export const mayRepeat = (error: unknown, attempt: number): boolean =>
  attempt < MOST_ATTEMPTS && error instanceof pg.DatabaseError && UNDONE_STATES.test(error.code ?? '');

/** @returns random milliseconds, so that transactions that blocked each other do not collide again */
export const pauseAfterAttempt = (attempt: number): number => Math.random() * FIRST_PAUSE_MS * 2 ** attempt;

/**
 * Repeats the work while PostgreSQL rolls it back, at most five times.
 * @param work whole transactions, or statements outside of any; it has no other effects
 * @throws the work's error
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
