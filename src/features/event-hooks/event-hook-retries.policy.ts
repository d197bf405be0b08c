/** Retries of failed deliveries to hooks: for three days, with increasing pauses. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds before the second attempt, the third and so on; the last pause is repeated. */
const PAUSES = [5, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 4 * HOUR] as const;
const LONGEST = 4 * HOUR;

/** Seconds after the event, after which deliveries are given up. */
export const GIVEN_UP_AFTER = 3 * 24 * HOUR;
/** Minimum number of attempts regardless of age: the event may have waited for an earlier event of its object, or for the service. */
const LEAST_ATTEMPTS = 3;

/** @returns approximate sum of the pauses in seconds after a number of attempts */
export const pausesOf = (attempts: number): number =>
  PAUSES.slice(0, attempts).reduce<number>((sum, pause) => sum + pause, 0) + Math.max(0, attempts - PAUSES.length) * LONGEST;

/**
 * @param attempts number of failed attempts
 * @param age of the event, in seconds
 * @param chance 0 to 1, spreads retries of deliveries that failed together: a pause is up to a tenth longer or shorter
 * @returns seconds to the next attempt; undefined: no further attempt
 */
export function pauseBeforeNext(attempts: number, age: number, chance: number): number | undefined {
  if (age >= GIVEN_UP_AFTER && attempts >= LEAST_ATTEMPTS) return undefined;
  return (PAUSES[attempts - 1] ?? LONGEST) * (0.9 + chance / 5);
}
