/**
 * When wrong passwords lock an account (OWASP Authentication Cheat Sheet, "Account Lockout"): ten in a row for one minute, every further ten for
 * twice as long, at most an hour. A browser in which the user signed in before is counted separately. Failures by address have other rules.
 */

/** Number of wrong passwords that causes a lock. */
export const WRONG_PASSWORDS = 10;
const SHORTEST_LOCK = 60;
const LONGEST_LOCK = 3600;

/** Failed attempts since the last success. */
export interface FailedAttempts {
  /** Since the last lock. */
  readonly failures: number;
  /** Locks so far. */
  readonly locks: number;
  readonly lockedUntil: Date | null;
}

export const NO_FAILURES: FailedAttempts = { failures: 0, locks: 0, lockedUntil: null };

export interface AttemptDecision {
  readonly admitted: boolean;
  readonly reason: 'right password' | 'wrong password' | 'wrong password, which locks' | 'locked';
  /** New value to store. */
  readonly remembered: FailedAttempts;
}

export const isLocked = ({ lockedUntil }: Pick<FailedAttempts, 'lockedUntil'>, now: Date): boolean =>
  lockedUntil !== null && lockedUntil.getTime() > now.getTime();

/**
 * Decides about one attempt; of several concurrent attempts, each is decided with the result of the previous one. Attempts during a lock do
 * not count, so they do not extend it.
 * @param right is the password correct?
 */
export function decideAttempt(before: FailedAttempts, right: boolean, now: Date): AttemptDecision {
  if (isLocked(before, now)) return { admitted: false, reason: 'locked', remembered: before };
  if (right) return { admitted: true, reason: 'right password', remembered: NO_FAILURES };
  const failures = before.failures + 1;
  if (failures < WRONG_PASSWORDS) return { admitted: false, reason: 'wrong password', remembered: { ...before, failures } };
  return {
    admitted: false,
    reason: 'wrong password, which locks',
    remembered: {
      failures: 0,
      locks: before.locks + 1,
      lockedUntil: new Date(now.getTime() + secondsOfLock(before.locks) * 1000),
    },
  };
}

/** @param locks number of earlier locks */
const secondsOfLock = (locks: number): number => Math.min(SHORTEST_LOCK * 2 ** locks, LONGEST_LOCK);
