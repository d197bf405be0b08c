/** Is a sign-in recent enough for a sensitive change? */
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isEnrolled } from '../second-factors/factors.service.ts';
import { isMultiFactor } from '../second-factors/second-factor.policy.ts';

/** Seconds. */
export const FRESH = 900;

/** A browser's session. */
export interface SignedIn {
  readonly accountId: string;
  readonly amr: readonly string[];
  /** Epoch seconds. */
  readonly signedInAt: number;
}

/**
 * @param at time of the change in epoch seconds
 * @returns whether the session's user can make it: with their second factor, if they have one
 */
export async function isFreshSignIn(
  { services }: { readonly services: Services },
  { accountId, amr, signedInAt }: SignedIn,
  at = epochSeconds(),
): Promise<boolean> {
  if (at - signedInAt > FRESH) return false;
  return isMultiFactor(amr) || !(await isEnrolled(services, accountId, amr));
}
