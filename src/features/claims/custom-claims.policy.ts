/**
 * Custom claims of an authorization server: selection, values and reasons (RFC 7519 section 4.3, OpenID Connect Core 1.0 section 5.1.2, RFC 9068
 * section 2.2). Pure; token-size.policy.ts limits the size.
 */
import { type GroupFilterType, groupFilter } from '../groups/group-filter.policy.ts';

/** IDENTITY: ID tokens and userinfo. RESOURCE: access tokens. */
export type ClaimType = 'IDENTITY' | 'RESOURCE';
/** Possible values of a STATIC claim. */
export type StaticValue = string | number | boolean | (string | number | boolean)[];
export type ClaimValueType = 'USER_ATTRIBUTE' | 'GROUPS' | 'ORGANIZATION' | 'DEPARTMENT' | 'APP_ROLES' | 'STATIC';
/** SIGNED_IN_FOR: about the organization that the user has signed in for. It cannot be configured. */
type ValueType = ClaimValueType | 'SIGNED_IN_FOR';

/** A claim as it is configured. */
export interface ServerClaim {
  readonly id: string;
  readonly name: string;
  readonly claimType: ClaimType;
  readonly valueType: ClaimValueType;
  /**
   * USER_ATTRIBUTE: name of an attribute, also as `user.profile.<name>`. GROUPS: the text of the filter. ORGANIZATION, DEPARTMENT: `id` or `name`,
   * empty for both. APP_ROLES: empty. STATIC: the value, in the format of `valueFormat`.
   */
  readonly value: string;
  /** JSON: a STATIC value that is not a string, as JSON. */
  readonly valueFormat: 'TEXT' | 'JSON';
  /** Included if one of these is granted; none: always. */
  readonly scopes: readonly string[];
  /** IDENTITY claims; false: in ID tokens only if no access token is issued with it. */
  readonly alwaysIncludeInToken: boolean;
  /** For GROUPS claims. */
  readonly groupFilterType: GroupFilterType | null;
  readonly status: 'ACTIVE' | 'INACTIVE';
}

/** A claim to evaluate: a configured one, or one that belongs to a scope on every server. */
type DecidedClaim = Omit<ServerClaim, 'valueType'> & { readonly valueType: ValueType };

export interface ClaimMembership {
  readonly orgId: string;
  readonly orgName: string;
  /** Absent: directly in the organization. */
  readonly department?: { readonly depId: string; readonly name: string } | undefined;
  /** Names of the member's roles in the organization: the built-in ones first, then its own in alphabetical order. */
  readonly roles?: readonly string[] | undefined;
}

/** The user that a token is about. */
export interface ClaimPerson {
  readonly login: string;
  readonly email: string | null;
  readonly profile: Readonly<Record<string, unknown>>;
  /** Names, in alphabetical order; empty if no active claim uses them. */
  readonly groups: readonly string[];
  /** Empty if no active claim uses them. */
  readonly memberships: readonly ClaimMembership[];
  /** Names of the roles at the token's application; absent if no active claim uses them. */
  readonly roles?: readonly string[];
  /** The organization that the user signed in for; undefined: none, or they are no longer a member. */
  readonly organization?: ClaimMembership | undefined;
}

/** Groups, organizations and roles of a user. */
export type Belongings = Pick<ClaimPerson, 'groups' | 'memberships' | 'roles'>;

export interface ClaimFacts {
  readonly claimType: ClaimType;
  /** Granted scopes. */
  readonly scopes: readonly string[];
  /** undefined: the application acts for itself. */
  readonly person: ClaimPerson | undefined;
  /** Is the ID token issued with an access token, or with a code for one? Then the application can call userinfo. Default false. */
  readonly besideAccessToken?: boolean;
  /** Claims that the application has selected for its ID tokens; undefined: no selection. */
  readonly chosen?: readonly string[] | undefined;
  /** Claims that the request names for its ID token (OpenID Connect Core 1.0 section 5.5). */
  readonly requested?: readonly string[] | undefined;
}

export type ClaimReason =
  | 'included'
  | 'the claim is inactive'
  | 'the claim is for other scopes'
  | 'the application chose other claims'
  | 'userinfo returns the claim'
  | 'there is no user'
  | 'the user has no value for it';

export interface ClaimStep {
  readonly claim: string;
  readonly reason: ClaimReason;
}

export interface ClaimDecision {
  readonly claims: Readonly<Record<string, unknown>>;
  /** Names that the server overrides: standard claims with these names are omitted, even if the custom claim has no value. */
  readonly decided: readonly string[];
  /** Result for each claim of this type. */
  readonly steps: readonly ClaimStep[];
}

/** Claim for scope `groups` on every server, unless an active claim of that name exists. */
const GROUPS_CLAIM: ServerClaim = {
  id: 'groups',
  name: 'groups',
  claimType: 'IDENTITY',
  valueType: 'GROUPS',
  value: '',
  valueFormat: 'TEXT',
  scopes: ['groups'],
  alwaysIncludeInToken: true,
  groupFilterType: 'STARTS_WITH',
  status: 'ACTIVE',
};

/** Claim for scope `roles` on every server, unless an active claim of that name exists. */
const ROLES_CLAIM = {
  ...GROUPS_CLAIM,
  id: 'roles',
  name: 'roles',
  valueType: 'APP_ROLES',
  scopes: ['roles'],
  groupFilterType: null,
} as const;

/** The scope of the claims about the organization that a user has signed in for. */
export const ORGANIZATION_SCOPE = 'organization';

const ORGANIZATION_CLAIMS = ['org_id', 'org_name', 'org_roles', 'dep_id'].map(
  (name): DecidedClaim => ({ ...ROLES_CLAIM, id: name, name, valueType: 'SIGNED_IN_FOR', value: name, scopes: [ORGANIZATION_SCOPE] }),
);

const IDENTITY: readonly DecidedClaim[] = [GROUPS_CLAIM, ROLES_CLAIM, ...ORGANIZATION_CLAIMS];
const IMPLICIT: readonly DecidedClaim[] = [
  ...IDENTITY,
  ...IDENTITY.slice(1).map((claim) => ({ ...claim, claimType: 'RESOURCE' as const })),
];
/** IDs of implicit claims that are reported only if their scope is granted. */
const BY_SCOPE_ALONE: ReadonlySet<string> = new Set(IDENTITY.slice(1).map(({ id }) => id));

/** The claims of one type: the server's own, and those of the scopes `groups`, `roles` and `organization`. */
function claimsOfType(claims: readonly ServerClaim[], claimType: ClaimType): readonly DecidedClaim[] {
  const own = claims.filter((claim) => claim.claimType === claimType);
  const decided = new Set(own.filter(({ status }) => status === 'ACTIVE').map(({ name }) => name));
  return [...own, ...IMPLICIT.filter((claim) => claim.claimType === claimType && !decided.has(claim.name))];
}

const isForScopes = ({ scopes }: DecidedClaim, granted: readonly string[]): boolean =>
  scopes.length === 0 || scopes.some((scope) => granted.includes(scope));

/** @returns the reason to omit the claim regardless of its value; undefined: none */
function obstacle(
  claim: DecidedClaim,
  { chosen, requested = [], besideAccessToken = false, claimType, person }: ClaimFacts,
): ClaimReason | undefined {
  if (chosen !== undefined && !chosen.includes(claim.name)) return 'the application chose other claims';
  const leftToUserinfo = besideAccessToken && !claim.alwaysIncludeInToken && !requested.includes(claim.name);
  if (claimType === 'IDENTITY' && leftToUserinfo) return 'userinfo returns the claim';
  if (person === undefined && claim.valueType !== 'STATIC') return 'there is no user';
  return undefined;
}

const isInForce = (claim: DecidedClaim, facts: Pick<ClaimFacts, 'scopes'>): boolean =>
  claim.status === 'ACTIVE' && isForScopes(claim, facts.scopes);

/** Decides which custom claims a token or userinfo response contains. */
export function decideClaims(claims: readonly ServerClaim[], facts: ClaimFacts): ClaimDecision {
  const held: Record<string, unknown> = {};
  const decided: string[] = [];
  const reasonFor = (claim: DecidedClaim): ClaimReason => {
    if (claim.status !== 'ACTIVE') return 'the claim is inactive';
    if (!isForScopes(claim, facts.scopes)) return 'the claim is for other scopes';
    decided.push(claim.name);
    const reason = obstacle(claim, facts);
    if (reason !== undefined) return reason;
    const value = claimValue(claim, facts.person);
    if (value === undefined) return 'the user has no value for it';
    held[claim.name] = value;
    return 'included';
  };
  // Omit implicit claims whose scope was not granted.
  const considered = claimsOfType(claims, facts.claimType).filter(
    (claim) => !BY_SCOPE_ALONE.has(claim.id) || isForScopes(claim, facts.scopes),
  );
  const steps = considered.map((claim) => ({ claim: claim.name, reason: reasonFor(claim) }));
  return { claims: held, decided, steps };
}

/** User data, in addition to the profile, that these claims require. */
export interface ClaimNeeds {
  readonly groups: boolean;
  readonly memberships: boolean;
  readonly roles: boolean;
}

/** @param facts of the later decision */
export function claimNeeds(claims: readonly ServerClaim[], facts: Omit<ClaimFacts, 'person'>): ClaimNeeds {
  const anybody: ClaimPerson = { login: '', email: null, profile: {}, groups: [], memberships: [] };
  const needed = claimsOfType(claims, facts.claimType)
    .filter((claim) => isInForce(claim, facts) && obstacle(claim, Object.assign({}, facts, { person: anybody })) === undefined)
    .map(({ valueType }) => valueType);
  return {
    groups: needed.includes('GROUPS'),
    memberships: needed.some((type) => type === 'ORGANIZATION' || type === 'DEPARTMENT' || type === 'SIGNED_IN_FOR'),
    roles: needed.includes('APP_ROLES'),
  };
}

/** Can a request for these scopes get any claim of this type? */
export const hasClaimsFor = (claims: readonly ServerClaim[], claimType: ClaimType, scopes: readonly string[]): boolean =>
  claimsOfType(claims, claimType).some((claim) => isInForce(claim, { scopes }));

/** Names of possible IDENTITY claims, for discovery. */
export const announcedClaims = (claims: readonly ServerClaim[]): string[] =>
  claimsOfType(claims, 'IDENTITY')
    .filter(({ status }) => status === 'ACTIVE')
    .map(({ name }) => name);

/** The value of a STATIC claim. Older versions may have stored a value that is not JSON; it is a string. */
export function staticValue({ value, valueFormat }: Pick<ServerClaim, 'value' | 'valueFormat'>): StaticValue {
  if (valueFormat === 'TEXT') return value;
  try {
    return JSON.parse(value) as StaticValue;
  } catch {
    return value;
  }
}

/** A STATIC value in stored form. */
export const storedValue = (value: StaticValue): Pick<ServerClaim, 'value' | 'valueFormat'> =>
  typeof value === 'string' ? { value, valueFormat: 'TEXT' } : { value: JSON.stringify(value), valueFormat: 'JSON' };

/** @returns undefined if there is no value */
function claimValue(claim: DecidedClaim, person: ClaimPerson | undefined): unknown {
  if (claim.valueType === 'STATIC') return staticValue(claim);
  if (person === undefined) return undefined;
  if (claim.valueType === 'SIGNED_IN_FOR') return organizationValue(claim.value, person.organization);
  if (claim.valueType === 'USER_ATTRIBUTE') return attributeValue(person, attributeOf(claim.value));
  return unlessEmpty(listOf(claim, person));
}

function organizationValue(name: string, organization: ClaimMembership | undefined): unknown {
  if (organization === undefined) return undefined;
  const { orgId, orgName, roles, department } = organization;
  const values: Readonly<Record<string, unknown>> = { org_id: orgId, org_name: orgName, org_roles: roles, dep_id: department?.depId };
  return values[name];
}

function listOf(claim: DecidedClaim, { groups, memberships, roles = [] }: ClaimPerson): readonly unknown[] {
  if (claim.valueType === 'APP_ROLES') return roles;
  if (claim.valueType === 'GROUPS') return groups.filter(groupFilter(claim.groupFilterType ?? 'STARTS_WITH', claim.value));
  if (claim.valueType === 'ORGANIZATION') {
    return memberships.map(({ orgId, orgName }) => part(claim.value, orgId, orgName) ?? { orgId, name: orgName });
  }
  return memberships.flatMap(({ orgId, department }) =>
    department === undefined ? [] : [part(claim.value, department.depId, department.name) ?? { ...department, orgId }],
  );
}

/** Selects the part of an organization or department named by `value`; undefined: both. */
function part(value: string, id: string, name: string): string | undefined {
  if (value === 'id') return id;
  return value === 'name' ? name : undefined;
}

const unlessEmpty = (list: readonly unknown[]): readonly unknown[] | undefined => (list.length > 0 ? list : undefined);

/** The attribute of a claim's value, plain or as an Okta expression. */
export const attributeOf = (value: string): string => value.replace(/^user\.(profile\.)?/, '');

function attributeValue({ login, email, profile }: ClaimPerson, attribute: string): unknown {
  const value = attribute === 'login' ? login : attribute === 'email' ? email : profile[attribute];
  return value === '' || value === null ? undefined : value;
}
