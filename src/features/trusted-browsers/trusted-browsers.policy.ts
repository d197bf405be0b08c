/** Decides when a trusted browser replaces the second factor. It is never a factor itself: `amr` and `acr` show what was used. */
import type { RequirementReason } from '../second-factors/second-factor.policy.ts';

/** Days. */
export const LONGEST_TRUST = 90;
/** Limit per user: adding another one ends the oldest. */
export const MOST_TRUSTED_BROWSERS = 20;

const DAY_MS = 86_400_000;

export interface TrustFacts {
  /** `settings/sign-in.rememberBrowserDays`; 0: browsers are not trusted. */
  readonly days: number;
  /** Has the user a role in the console? */
  readonly administrator: boolean;
}

/** Can the user trust a browser, and is existing trust valid? Never for administrators. */
export const mayTrust = ({ days, administrator }: TrustFacts): boolean => days > 0 && !administrator;

/**
 * Does a trusted browser replace the second factor?
 * @param demandedBy what requires the factor; undefined: the user has one. An application or a request that requires two factors gets two.
 */
export const trustSuffices = (facts: TrustFacts, demandedBy: RequirementReason | undefined): boolean =>
  mayTrust(facts) && (demandedBy === undefined || demandedBy === 'EVERYONE');

/** Trust from before this time is no longer valid: a shorter period applies to existing trust too. */
export const trustedSince = (days: number, now: Date): Date => new Date(now.getTime() - days * DAY_MS);

export const trustedUntil = (days: number, now: Date): Date => new Date(now.getTime() + days * DAY_MS);
