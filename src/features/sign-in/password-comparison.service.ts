/** Compares a typed password with that of the user, where there is one, so that neither time nor load tells which accounts exist. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isHookQueueFull, verifyElsewhere } from '../inline-hooks/password-hook.service.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password-hashes.resource.ts';
import { importedInTurn, isImported, verifyPassword } from '../passwords/passwords.service.ts';
import { isLocked } from './lockout.policy.ts';
import type { SignInCandidate } from './sign-ins.store.ts';

interface Comparison {
  readonly matches: boolean;
  /** When it began, as `performance.now()`. */
  readonly begun: number;
  /** Costly comparisons wait in a full queue: every refusal is answered as overload, for all accounts and unknown names. */
  readonly isOverloaded: boolean;
  /** The password was not compared, because the queue for it is full. */
  readonly isSkipped: boolean;
}

/** @param user undefined: nobody has that name, which takes the same time @throws {Overloaded} when the queue of all passwords is full */
export async function comparePassword(
  services: Services,
  user: SignInCandidate | undefined,
  password: string,
  request: RequestContext,
): Promise<Comparison> {
  const hash = user?.passwordHash ?? null;
  // Nothing is awaited between this and the queue: the comparison finds it as it was here.
  const isOverloaded = importedInTurn.isFull() || isHookQueueFull();
  // No costly comparison for a locked account: nothing follows from it.
  const isLeftOut = user !== undefined && isImported(hash) && isLockedNow(user, present());
  // Only its own queue: a hook that does not respond shall not keep out those whose hash is here.
  const isFull = hash === PASSWORD_ELSEWHERE ? isHookQueueFull : importedInTurn.isFull;
  const isSkipped = isImported(hash) && !isLeftOut && isFull();
  const compared = isLeftOut || isSkipped ? null : hash;
  let begun = performance.now();
  const begins = () => {
    begun = performance.now();
  };
  const matches =
    user !== undefined && compared === PASSWORD_ELSEWHERE
      ? await verifyElsewhere(services, user, password, begins, request)
      : await verifyPassword(compared, password, begins);
  return { matches, begun, isOverloaded, isSkipped };
}

/** A browser in which the user signed in before has a count of its own: it is heard whatever others behind the same address did. */
export const isKnownTo = (user: SignInCandidate | undefined, now: Date): boolean =>
  user !== undefined && user.deviceExpires !== null && user.deviceExpires > now;

/** Is the user's password locked, in this browser? */
export const isLockedNow = (user: SignInCandidate, now: Date): boolean =>
  isLocked({ lockedUntil: isKnownTo(user, now) ? user.deviceLockedUntil : user.lockedUntil }, now);
