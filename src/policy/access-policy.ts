/**
 * Who gets which tokens of a server, and for how long: its access policies, as a pure decision that also tells what it looked at. The first policy that
 * is for the client decides, by its first rule that fits; where none does, access is denied. Only active ones are handed in, in the order of their priority.
 */

/** The grant types that a rule may name. A refresh is judged as the grant that it continues. */
export type AccessGrantType = 'authorization_code' | 'implicit' | 'password' | 'client_credentials';

const EVERYONE = 'EVERYONE';

interface Listed {
  readonly include?: readonly string[];
}

/** Absent or empty: whatever it is. */
export interface RuleConditions {
  /** One of the users, or a member of one of the groups; the word EVERYONE among the groups is everyone. */
  readonly people?: { readonly users?: Listed; readonly groups?: Listed };
  readonly grantTypes?: Listed;
  /** Every requested scope must be among them; `*` is all. */
  readonly scopes?: Listed;
}

export interface RuleActions {
  readonly token?: {
    readonly accessTokenLifetimeMinutes?: number;
    readonly refreshTokenLifetimeMinutes?: number;
    readonly refreshTokenWindowMinutes?: number;
  };
}

export interface AccessRule {
  readonly id: string;
  readonly name: string;
  readonly conditions: RuleConditions;
  readonly actions: RuleActions;
}

export interface AccessPolicy {
  readonly id: string;
  readonly name: string;
  /** `ALL_CLIENTS` or client ids. */
  readonly clients: readonly string[];
  readonly rules: readonly AccessRule[];
}

export interface AccessFacts {
  readonly clientId: string;
  /** undefined: the application asks for itself. */
  readonly user: { readonly id: string; readonly groupIds: readonly string[] } | undefined;
  readonly grantType: AccessGrantType;
  readonly scopes: readonly string[];
}

/** Seconds. */
export interface TokenLifetimes {
  readonly accessTokenSeconds: number;
  /** Absolute, from the sign-in on. */
  readonly refreshTokenSeconds: number;
  /** Sliding, from the last use on. */
  readonly refreshTokenWindowSeconds: number;
}

export type AccessReason =
  | 'the policy is for other clients'
  | 'the policy is for this client'
  | 'the rule is for another grant type'
  | 'the rule is for other people'
  | 'the rule is for other scopes'
  | 'the rule fits'
  | 'no rule of the policy fits'
  | 'no policy is for this client';

/** One look at a policy, or at a rule of it. */
export interface AccessStep {
  readonly policy?: string;
  readonly rule?: string;
  readonly reason: AccessReason;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** The policy that decided; undefined when none is for the client. */
  readonly policy: AccessPolicy | undefined;
  /** The rule that allowed. */
  readonly rule: AccessRule | undefined;
  /** The rule's, and where it says nothing the server's. */
  readonly lifetimes: TokenLifetimes;
  /** What was looked at, in this order; the last tells why. */
  readonly reasons: readonly AccessStep[];
}

const restricts = (listed: Listed | undefined): listed is Required<Listed> => (listed?.include?.length ?? 0) > 0;
const names = ({ include }: Required<Listed>, value: string): boolean => include.includes(value);

/** Does a rule name people? Without a user it then fits nobody. */
function fitsPeople({ people }: RuleConditions, user: AccessFacts['user']): boolean {
  const { users, groups } = people ?? {};
  if (!restricts(users) && !restricts(groups)) return true;
  if (restricts(groups) && names(groups, EVERYONE)) return true;
  if (user === undefined) return false;
  return (restricts(users) && names(users, user.id)) || (restricts(groups) && user.groupIds.some((id) => names(groups, id)));
}

const fitsScopes = ({ scopes }: RuleConditions, requested: readonly string[]): boolean =>
  !restricts(scopes) || names(scopes, '*') || requested.every((scope) => names(scopes, scope));

/** @returns why the rule does not fit, or that it does */
function judge({ conditions }: AccessRule, facts: AccessFacts): AccessReason {
  if (restricts(conditions.grantTypes) && !names(conditions.grantTypes, '*') && !names(conditions.grantTypes, facts.grantType)) {
    return 'the rule is for another grant type';
  }
  if (!fitsPeople(conditions, facts.user)) return 'the rule is for other people';
  return fitsScopes(conditions, facts.scopes) ? 'the rule fits' : 'the rule is for other scopes';
}

/** A day: for so long a retired key is still published. */
const LONGEST_ACCESS_TOKEN = 86_400;

const seconds = (minutes: number | undefined, otherwise: number): number => (minutes === undefined ? otherwise : minutes * 60);

/** @param server the lifetimes that hold where the rule sets none */
export function decideAccess(policies: readonly AccessPolicy[], facts: AccessFacts, server: TokenLifetimes): AccessDecision {
  const reasons: AccessStep[] = [];
  const decided = (policy: AccessPolicy | undefined, rule: AccessRule | undefined): AccessDecision => {
    const token = rule?.actions.token;
    const lifetimes = {
      accessTokenSeconds: Math.min(LONGEST_ACCESS_TOKEN, seconds(token?.accessTokenLifetimeMinutes, server.accessTokenSeconds)),
      refreshTokenSeconds: seconds(token?.refreshTokenLifetimeMinutes, server.refreshTokenSeconds),
      refreshTokenWindowSeconds: seconds(token?.refreshTokenWindowMinutes, server.refreshTokenWindowSeconds),
    };
    return { allowed: rule !== undefined, policy, rule, lifetimes, reasons };
  };

  for (const policy of policies) {
    if (!policy.clients.includes('ALL_CLIENTS') && !policy.clients.includes(facts.clientId)) {
      reasons.push({ policy: policy.name, reason: 'the policy is for other clients' });
      continue;
    }
    reasons.push({ policy: policy.name, reason: 'the policy is for this client' });
    for (const rule of policy.rules) {
      const reason = judge(rule, facts);
      reasons.push({ policy: policy.name, rule: rule.name, reason });
      if (reason === 'the rule fits') return decided(policy, rule);
    }
    reasons.push({ policy: policy.name, reason: 'no rule of the policy fits' });
    return decided(policy, undefined);
  }
  reasons.push({ reason: 'no policy is for this client' });
  return decided(undefined, undefined);
}

/** Can the user's groups change the decision? When not, they need not be read. */
export const dependsOnGroups = (policies: readonly AccessPolicy[]): boolean =>
  policies.some(({ rules }) => rules.some(({ conditions }) => conditions.people?.groups?.include?.some((group) => group !== EVERYONE)));
