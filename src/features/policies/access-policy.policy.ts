/**
 * Evaluates the access policies of a server as a pure function that also returns its steps. The first policy for the client decides, with its first
 * matching rule; without a match, access is denied. The input has active policies and rules only, in order of priority.
 */

/** RFC 8628 section 3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8693 section 2.1. */
export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** RFC 7523 section 2.1. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** OpenID Connect CIBA Core 1.0: the application sends the request, the user answers on another device. */
export const CIBA_GRANT = 'urn:openid:params:grant-type:ciba';

/** The grant types that a rule can contain. A refresh is evaluated as the grant that it continues. */
export const ACCESS_GRANT_TYPES = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  DEVICE_GRANT,
  CIBA_GRANT,
  TOKEN_EXCHANGE_GRANT,
  JWT_BEARER_GRANT,
] as const;
export type AccessGrantType = (typeof ACCESS_GRANT_TYPES)[number];

/** In a policy's list of clients: every client. */
export const ALL_CLIENTS = 'ALL_CLIENTS';
/** In a rule's list of groups: every user. */
export const EVERYONE = 'EVERYONE';
/** In a rule's lists of grant types and of scopes: all of them. */
export const ANY = '*';

/** Listed users, groups or applications. An empty list matches none: a list whose last entry was deleted must not match everyone. */
interface Listed {
  readonly include: readonly string[];
}

/** A condition that is absent restricts nothing. */
export interface RuleConditions {
  /** One of the users, a member of one of the groups, or a user with one of the roles at the application; EVERYONE as a group means everyone. */
  readonly people?: { readonly users?: Listed | undefined; readonly groups?: Listed | undefined; readonly roles?: Listed };
  readonly grantTypes?: Listed;
  /** Every requested scope must be among them; `*` is all. */
  readonly scopes?: Listed;
  /** Names of types of authorization details (RFC 9396). Every type that the request has must be among them; `*` is all. Empty: requests without details. */
  readonly authorizationDetails?: Listed;
  /** Client IDs of applications that act for the user at a token exchange; `*` is any. Without an actor the rule never matches. */
  readonly actors?: Listed;
}

export interface RuleActions {
  readonly token?: {
    readonly accessTokenLifetimeMinutes?: number;
    /** 0: the maximum, see `LONGEST_REFRESH_TOKEN`. */
    readonly refreshTokenLifetimeMinutes?: number;
    readonly refreshTokenWindowMinutes?: number;
    /** Called before its tokens are issued. */
    readonly inlineHook?: { readonly id: string };
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
  /** `ALL_CLIENTS`, or client IDs. */
  readonly clients: readonly string[];
  readonly rules: readonly AccessRule[];
}

interface AccessUser {
  readonly id: string;
  readonly groupIds: readonly string[];
  /** Names of the roles at the application; absent if no rule contains roles. */
  readonly roles?: readonly string[];
}

export interface AccessFacts {
  readonly clientId: string;
  /** undefined: the application acts for itself. */
  readonly user: AccessUser | undefined;
  readonly grantType: AccessGrantType;
  readonly scopes: readonly string[];
  /** Types of the authorization details; absent: none requested. */
  readonly detailTypes?: readonly string[];
  /** Token exchange: the client ID of the acting application, or the ID of the acting user. */
  readonly actor?: string | undefined;
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
  | 'the rule is for other actors'
  | 'the rule is for other authorization details'
  | 'the rule fits'
  | 'no rule of the policy fits'
  | 'no policy is for this client';

/** The evaluation of a policy, or of one of its rules. */
export interface AccessStep {
  readonly policyId?: string;
  readonly policy?: string;
  readonly ruleId?: string;
  readonly rule?: string;
  readonly reason: AccessReason;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** The policy that decided; undefined if none applies to the client. */
  readonly policy: AccessPolicy | undefined;
  /** The rule that allowed the request. */
  readonly rule: AccessRule | undefined;
  /** The rule's, or by default the server's. */
  readonly lifetimes: TokenLifetimes;
  /** Evaluated steps in order; the last one gives the reason. */
  readonly reasons: readonly AccessStep[];
}

const names = ({ include }: Listed, value: string): boolean => include.includes(value);

/** Without a user, a rule with people matches only if it contains everyone. */
function matchesPeople({ people: { users, groups, roles } = {} }: RuleConditions, user: AccessFacts['user']): boolean {
  if (users === undefined && groups === undefined && roles === undefined) return true;
  if (groups !== undefined && names(groups, EVERYONE)) return true;
  if (user === undefined) return false;
  return (
    (users !== undefined && names(users, user.id)) ||
    (groups !== undefined && user.groupIds.some((id) => names(groups, id))) ||
    (roles !== undefined && (user.roles ?? []).some((role) => names(roles, role)))
  );
}

const matchesGrantType = ({ grantTypes }: RuleConditions, type: AccessGrantType): boolean =>
  grantTypes === undefined || names(grantTypes, ANY) || names(grantTypes, type);

/** An empty list does not match a request without scopes either. */
const matchesScopes = ({ scopes }: RuleConditions, requested: readonly string[]): boolean =>
  scopes === undefined || names(scopes, ANY) || (scopes.include.length > 0 && requested.every((scope) => names(scopes, scope)));

const matchesDetails = ({ authorizationDetails: types }: RuleConditions, requested: readonly string[]): boolean =>
  types === undefined || names(types, ANY) || requested.every((type) => names(types, type));

const matchesActor = ({ actors }: RuleConditions, actor: string | undefined): boolean =>
  actors === undefined || (actor !== undefined && (names(actors, ANY) || names(actors, actor)));

/** @returns why the rule does not match, or that it matches */
function evaluateRule({ conditions }: AccessRule, facts: AccessFacts): AccessReason {
  if (!matchesGrantType(conditions, facts.grantType)) return 'the rule is for another grant type';
  if (!matchesPeople(conditions, facts.user)) return 'the rule is for other people';
  if (!matchesActor(conditions, facts.actor)) return 'the rule is for other actors';
  if (!matchesDetails(conditions, facts.detailTypes ?? [])) return 'the rule is for other authorization details';
  return matchesScopes(conditions, facts.scopes) ? 'the rule fits' : 'the rule is for other scopes';
}

/** A day: retired keys are published for that long. */
const LONGEST_ACCESS_TOKEN = 86_400;
/** Ten years, in seconds. */
const LONGEST_REFRESH_TOKEN = 315_360_000;

const seconds = (minutes: number | undefined, otherwise: number): number => (minutes === undefined ? otherwise : minutes * 60);

/** @param server lifetimes if the rule sets none */
export function decideAccess(policies: readonly AccessPolicy[], facts: AccessFacts, server: TokenLifetimes): AccessDecision {
  const reasons: AccessStep[] = [];
  const decided = (policy: AccessPolicy | undefined, rule: AccessRule | undefined): AccessDecision => {
    const token = rule?.actions.token;
    const lifetimes = {
      accessTokenSeconds: Math.min(LONGEST_ACCESS_TOKEN, seconds(token?.accessTokenLifetimeMinutes, server.accessTokenSeconds)),
      refreshTokenSeconds: seconds(token?.refreshTokenLifetimeMinutes, server.refreshTokenSeconds) || LONGEST_REFRESH_TOKEN,
      refreshTokenWindowSeconds: seconds(token?.refreshTokenWindowMinutes, server.refreshTokenWindowSeconds),
    };
    return { allowed: rule !== undefined, policy, rule, lifetimes, reasons };
  };

  for (const policy of policies) {
    const named = { policyId: policy.id, policy: policy.name };
    if (!policy.clients.includes(ALL_CLIENTS) && !policy.clients.includes(facts.clientId)) {
      reasons.push({ reason: 'the policy is for other clients', ...named });
      continue;
    }
    reasons.push({ reason: 'the policy is for this client', ...named });
    for (const rule of policy.rules) {
      const reason = evaluateRule(rule, facts);
      reasons.push({ reason, ruleId: rule.id, rule: rule.name, ...named });
      if (reason === 'the rule fits') return decided(policy, rule);
    }
    reasons.push({ reason: 'no rule of the policy fits', ...named });
    return decided(policy, undefined);
  }
  reasons.push({ reason: 'no policy is for this client' });
  return decided(undefined, undefined);
}

/** Can the user's groups change the decision? Otherwise they need not be read. */
export const dependsOnGroups = (policies: readonly AccessPolicy[]): boolean =>
  policies.some(({ rules }) => rules.some(({ conditions }) => conditions.people?.groups?.include.some((group) => group !== EVERYONE)));

/** Can the user's roles at the application change the decision? Otherwise they need not be read. */
export const dependsOnRoles = (policies: readonly AccessPolicy[]): boolean =>
  policies.some(({ rules }) => rules.some(({ conditions }) => (conditions.people?.roles?.include.length ?? 0) > 0));

/** Can the request's authorization details change the decision? Otherwise they need not be read. */
export const dependsOnDetails = (policies: readonly AccessPolicy[]): boolean =>
  policies.some(({ rules }) => rules.some(({ conditions }) => conditions.authorizationDetails !== undefined));

/** Objects in a rule's conditions that may have been deleted since. */
export type NamedInRule = 'user' | 'group' | 'application';

/** @returns the conditions without that name; a list that contained only this name stays, empty */
export function withoutName(conditions: RuleConditions, kind: NamedInRule, id: string): RuleConditions {
  const { people, actors } = conditions;
  if (kind === 'application')
    return actors === undefined ? conditions : { ...conditions, actors: { include: actors.include.filter((one) => one !== id) } };
  const list = kind === 'user' ? 'users' : 'groups';
  const include = people?.[list]?.include;
  return include === undefined
    ? conditions
    : { ...conditions, people: { ...people, [list]: { include: include.filter((one) => one !== id) } } };
}

/**
 * New order of policies or rules with one of them moved.
 * @param ids the others in order
 * @param priority from 1; undefined or too large: last
 */
export function inOrder(ids: readonly string[], id: string, priority: number | undefined): string[] {
  const others = ids.filter((other) => other !== id);
  return others.toSpliced(priority === undefined ? others.length : priority - 1, 0, id);
}
