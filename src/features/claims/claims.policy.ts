/**
 * Claims of ID tokens and userinfo: the standard claims, except those that the server overrides, and the server’s own (OpenID Connect Core 1.0
 * sections 2 and 5.1.2). custom-claims.policy.ts evaluates custom claims, token-size.policy.ts limits the size.
 */

import { type ClaimsWithinLimit, jsonSize, limitToTokenSize } from '../authorization-servers/token-size.policy.ts';
import type { ClaimDecision } from './custom-claims.policy.ts';

type Claims = Readonly<Record<string, unknown>>;
type Decision = Pick<ClaimDecision, 'claims' | 'decided'>;

const undecided = (standard: Claims, { decided }: Decision): Claims =>
  Object.fromEntries(Object.entries(standard).filter(([name]) => !decided.includes(name)));

/** Any of these gives access to userinfo, and each maps to every claim: the endpoint always returns all of the user's claims. */
export const USERINFO_SCOPES = ['profile', 'email', 'address', 'phone'] as const;

/**
 * Does userinfo accept a token with these scopes? With the profiles `openid` and `fapi2`, the scope `openid` is enough (OpenID Connect Core section
 * 5.3).
 */
export const opensUserinfo = (profile: 'service' | 'openid' | 'fapi2', scopes: ReadonlySet<string>): boolean =>
  USERINFO_SCOPES.some((scope) => scopes.has(scope)) || (profile !== 'service' && scopes.has('openid'));

/** @param standard all claims of the user */
export const userinfoClaims = (standard: Claims, own: Decision): Claims => Object.assign({}, undecided(standard, own), own.claims);

/**
 * Omits custom claims that would make the token too large.
 * @param standard user claims that the application selected or requested
 * @param protocol known protocol claims
 * @param rest bytes of other content
 * @returns the user's claims in the token
 */
export function idTokenContent(standard: Claims, own: Decision, protocol: Claims, rest: number): ClaimsWithinLimit {
  const others = undecided(standard, own);
  const { claims, omitted } = limitToTokenSize(own.claims, jsonSize(Object.assign({}, others, protocol)) + rest);
  return { claims: Object.assign({}, others, claims), omitted };
}

/** User claims (OpenID Connect Core 1.0 section 5.1) from the account: pure, without empty values. */
export interface ClaimSource {
  readonly id: string;
  readonly login: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly lastUpdated: Date;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Full name of the user: the display name, otherwise first and last name. */
export function fullName(profile: Readonly<Record<string, unknown>>): string | undefined {
  const parts = [text(profile.firstName), text(profile.lastName)].filter((part) => part !== undefined);
  return text(profile.displayName) ?? (parts.length > 0 ? parts.join(' ') : undefined);
}

/** The supported standard claims of each scope (OpenID Connect Core 1.0 section 5.4), and the JSON type of each (section 5.1). */
const CLAIMS_OF_SCOPE = {
  profile: {
    name: 'string',
    nickname: 'string',
    given_name: 'string',
    middle_name: 'string',
    family_name: 'string',
    preferred_username: 'string',
    profile: 'string',
    picture: 'string',
    website: 'string',
    gender: 'string',
    birthdate: 'string',
    zoneinfo: 'string',
    locale: 'string',
    updated_at: 'number',
  },
  email: { email: 'string', email_verified: 'boolean' },
  address: { address: 'object' },
  phone: { phone_number: 'string', phone_number_verified: 'boolean' },
} as const;

type UnionKeys<T> = T extends unknown ? keyof T : never;
type UserClaim = 'sub' | UnionKeys<(typeof CLAIMS_OF_SCOPE)[keyof typeof CLAIMS_OF_SCOPE]>;
type ClaimTypeName = 'string' | 'number' | 'boolean' | 'object';

const SCOPES: readonly (readonly [scope: string, types: Readonly<Record<string, ClaimTypeName>>])[] = Object.entries(CLAIMS_OF_SCOPE);

/** Required JSON type of a standard claim; undefined for other names. */
const TYPES: ReadonlyMap<string, ClaimTypeName> = new Map(SCOPES.flatMap(([, types]) => Object.entries(types)));
export const standardClaimType = (name: string): ClaimTypeName | undefined => TYPES.get(name);

/** Every supported claim, in the order of the response. */
export const USER_CLAIMS: readonly string[] = ['sub', ...TYPES.keys()];

/** The scope of a standard claim. */
const SCOPE_OF: ReadonlyMap<string, string> = new Map(SCOPES.flatMap(([scope, types]) => Object.keys(types).map((name) => [name, scope])));

/** The scopes of individually requested standard claims (OpenID Connect Core 1.0 section 5.5): consent and access policies treat them like scopes. */
export const scopesOfClaims = (names: readonly string[]): string[] => [...new Set(names.flatMap((name) => SCOPE_OF.get(name) ?? []))];

/**
 * Claims of an ID token besides the subject.
 * @param chosen the application's subset; undefined: the claims of granted scopes and of the claims parameter
 */
export const idTokenClaims = (
  chosen: readonly string[] | undefined,
  scopes: readonly string[],
  requested: readonly string[] = [],
): readonly string[] =>
  chosen ?? [...SCOPES.filter(([scope]) => scopes.includes(scope)).flatMap(([, types]) => Object.keys(types)), ...requested];

/** The postal address (section 5.1.1). */
function addressOf(profile: Readonly<Record<string, unknown>>): object | undefined {
  const members = Object.entries({
    formatted: text(profile.postalAddress),
    street_address: text(profile.streetAddress),
    locality: text(profile.city),
    region: text(profile.state),
    postal_code: text(profile.zipCode),
    country: text(profile.countryCode),
  }).filter(([, value]) => value !== undefined);
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

/** All claims of a user, without empty ones. */
export function userClaims(user: ClaimSource): { readonly sub: string } & Partial<Record<UserClaim, unknown>> {
  const { profile, email } = user;
  const phone = text(profile.mobilePhone);
  const claims: Record<UserClaim, unknown> = {
    sub: user.id,
    name: fullName(profile),
    nickname: text(profile.nickName),
    given_name: text(profile.firstName),
    middle_name: text(profile.middleName),
    family_name: text(profile.lastName),
    preferred_username: user.login,
    profile: text(profile.profileUrl),
    picture: text(profile.picture),
    website: text(profile.website),
    gender: text(profile.gender),
    birthdate: text(profile.birthdate),
    zoneinfo: text(profile.zoneinfo),
    // Section 5.1 requires a language tag with a hyphen; profiles often have an underscore.
    locale: text(profile.locale)?.replaceAll('_', '-'),
    updated_at: Math.floor(user.lastUpdated.getTime() / 1000),
    email: email ?? undefined,
    email_verified: email === null ? undefined : user.emailVerified,
    address: addressOf(profile),
    phone_number: phone,
    // Phone numbers of profiles are not verified.
    phone_number_verified: phone === undefined ? undefined : false,
  };
  return { ...Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)), sub: user.id };
}
