/**
 * Rules of the sign-in policy: network, browser and time since the last sign-in decide whether a user can sign in, and whether a second factor is
 * required. The first rule with all conditions met decides; otherwise the rest of the policy.
 */

/** ALLOW: as in the rest of the policy. SECOND_FACTOR: required, even in trusted browsers. DENY: refused. */
export const SIGN_IN_ACTIONS = ['ALLOW', 'SECOND_FACTOR', 'DENY'] as const;
export type SignInAction = (typeof SIGN_IN_ACTIONS)[number];

/** A condition that is absent restricts nothing. */
export interface SignInConditions {
  /** Names of zones: the address must be in one of the included, and in none of the excluded ones. */
  readonly zones?: { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined } | undefined;
  /** true: a browser in which the user has not signed in before; false: any other. */
  readonly newBrowser?: boolean | undefined;
  /**
   * true: a country from which the user has not signed in for a year; false: one from which they have. Neither matches for an unknown country, or the
   * user's first one.
   */
  readonly newCountry?: boolean | undefined;
  /** Minimum days since the last sign-in. Users who never signed in do not match. */
  readonly daysSinceLastSignIn?: number | undefined;
}

export interface SignInRule {
  readonly name: string;
  readonly conditions: SignInConditions;
  readonly action: SignInAction;
}

export const MOST_RULES = 20;

/**
 * The country of the address, compared with the user's earlier sign-ins. `first`: none of these has a known country; `unknown`: the address has none,
 * or there is no database.
 */
export type CountryFact = 'known' | 'new' | 'first' | 'unknown';

/** Facts about a sign-in. */
export interface SignInFacts {
  /** Names of the zones that the address is in. */
  readonly zones: readonly string[];
  readonly newBrowser: boolean;
  readonly country: CountryFact;
  /** undefined: there was none. */
  readonly lastSignIn: Date | undefined;
}

export type RuleReason =
  | 'the rule fits'
  | 'the address is in none of its zones'
  | 'the address is in an excluded zone'
  | 'the browser is new'
  | 'the browser is known'
  | 'the country is new'
  | 'the country is known'
  | 'the country is the first'
  | 'the country is not known'
  | 'the last sign-in is not that long ago';

export interface SignInDecision {
  readonly action: SignInAction;
  /** The rule that decided; undefined: none matches. */
  readonly rule: SignInRule | undefined;
  /** Evaluated rules in order. */
  readonly steps: readonly { readonly rule: string; readonly reason: RuleReason }[];
}

const DAY_MS = 86_400_000;

export function decideSignIn(rules: readonly SignInRule[], facts: SignInFacts, now: Date): SignInDecision {
  const steps: { rule: string; reason: RuleReason }[] = [];
  for (const rule of rules) {
    const reason = reasonAgainst(rule.conditions, facts, now) ?? 'the rule fits';
    steps.push({ rule: rule.name, reason });
    if (reason === 'the rule fits') return { action: rule.action, rule, steps };
  }
  return { action: 'ALLOW', rule: undefined, steps };
}

const COUNTRY_REASONS: Readonly<Record<CountryFact, RuleReason>> = {
  known: 'the country is known',
  new: 'the country is new',
  first: 'the country is the first',
  unknown: 'the country is not known',
};

function reasonAgainst(
  { zones, newBrowser, newCountry, daysSinceLastSignIn }: SignInConditions,
  facts: SignInFacts,
  now: Date,
): RuleReason | undefined {
  const isIn = (names: readonly string[]) => names.some((name) => facts.zones.includes(name));
  if (zones?.include !== undefined && !isIn(zones.include)) return 'the address is in none of its zones';
  if (zones?.exclude !== undefined && isIn(zones.exclude)) return 'the address is in an excluded zone';
  if (newBrowser !== undefined && newBrowser !== facts.newBrowser) return facts.newBrowser ? 'the browser is new' : 'the browser is known';
  if (newCountry !== undefined && facts.country !== (newCountry ? 'new' : 'known')) return COUNTRY_REASONS[facts.country];
  if (daysSinceLastSignIn === undefined) return undefined;
  const isLongAgo = facts.lastSignIn !== undefined && facts.lastSignIn.getTime() + daysSinceLastSignIn * DAY_MS <= now.getTime();
  return isLongAgo ? undefined : 'the last sign-in is not that long ago';
}

/** @returns the names of all zones in the rule */
export const zonesOf = ({ conditions: { zones } }: Pick<SignInRule, 'conditions'>): readonly string[] => [
  ...(zones?.include ?? []),
  ...(zones?.exclude ?? []),
];
