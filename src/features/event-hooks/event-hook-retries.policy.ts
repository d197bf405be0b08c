/** When an event that did not reach its hook is sent again, and when it is given up: for three days, with growing pauses. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds before the second attempt, the third and so on; the last of them again and again. */
const PAUSES = [5, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 4 * HOUR] as const;
const LONGEST = 4 * HOUR;

/** Seconds after the event. */
export const GIVEN_UP_AFTER = 3 * 24 * HOUR;
/** However old it is: what waited behind another event of its object, or for the service itself, gets a chance of its own. */
const LEAST_ATTEMPTS = 3;

/** @returns approximate total of the pauses in seconds after a number of attempts */
export const pausesOf = (attempts: number): number =>
  PAUSES.slice(0, attempts).reduce<number>((sum, pause) => sum + pause, 0) + Math.max(0, attempts - PAUSES.length) * LONGEST;

/**
 * @param attempts that have failed
 * @param age of the event, in seconds
 * @param chance 0 to 1, so that many that failed together do not come again together: a pause is up to a tenth longer or shorter
 * @returns seconds to the next attempt; undefined: it is given up
 */
export function pauseBeforeNext(attempts: number, age: number, chance: number): number | undefined {
  if (age >= GIVEN_UP_AFTER && attempts >= LEAST_ATTEMPTS) return undefined;
  return (PAUSES[attempts - 1] ?? LONGEST) * (0.9 + chance / 5);
}
