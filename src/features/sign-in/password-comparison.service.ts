/**
 * Compares a submitted password with the stored one. An unknown name takes the same time and gets the same refusals, so that responses do not
 * reveal which accounts exist.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isHookQueueFull, verifyByHook } from '../inline-hooks/password-hook.service.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password.policy.ts';
import { importedHashSemaphore, isImported, verifyPassword } from '../passwords/passwords.service.ts';
import { isLocked } from './lockout.policy.ts';
import type { SignInCandidate } from './sign-ins.store.ts';

interface Comparison {
  readonly matches: boolean;
  /** Start of the comparison, as `performance.now()`. */
  readonly begun: number;
  /** A queue of costly comparisons is full. Every refusal is then an `Overloaded` error, for all accounts and for unknown names. */
  readonly isOverloaded: boolean;
  /** The password was not compared, because its queue is full. */
  readonly isSkipped: boolean;
}

/** @param user undefined: no user has the name @throws {Overloaded} if the queue of all passwords is full */
export async function comparePassword(
  services: Services,
  user: SignInCandidate | undefined,
  password: string,
  request: RequestContext,
): Promise<Comparison> {
  const hash = user?.passwordHash ?? null;
  // Nothing is awaited before the comparison is queued, so the queues cannot change in between.
  const isOverloaded = importedHashSemaphore.isFull() || isHookQueueFull();
  // A locked account is refused anyway, so skip the costly comparison.
  const isLeftOut = user !== undefined && isImported(hash) && isLockedNow(user, present());
  // Check only the queue that this password needs: an unresponsive hook must not block users whose hash is stored here.
  const isFull = hash === PASSWORD_ELSEWHERE ? isHookQueueFull : importedHashSemaphore.isFull;
  const isSkipped = isImported(hash) && !isLeftOut && isFull();
  const compared = isLeftOut || isSkipped ? null : hash;
  let begun = performance.now();
  const begins = () => {
    begun = performance.now();
  };
  const matches =
    user !== undefined && compared === PASSWORD_ELSEWHERE
      ? await verifyByHook(services, user, password, begins, request)
      : await verifyPassword(compared, password, begins);
  return { matches, begun, isOverloaded, isSkipped };
}

/** Has the user signed in with this browser before? Its failures are counted separately, so that others at the same IP address cannot block it. */
export const isKnownBrowser = (user: SignInCandidate | undefined, now: Date): boolean =>
  user !== undefined && user.deviceExpires !== null && user.deviceExpires > now;

/** Is the user's password locked in this browser? */
export const isLockedNow = (user: SignInCandidate, now: Date): boolean =>
  isLocked({ lockedUntil: isKnownBrowser(user, now) ? user.deviceLockedUntil : user.lockedUntil }, now);
