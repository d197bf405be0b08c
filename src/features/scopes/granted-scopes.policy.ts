/**
 * Scopes that a request is granted before any consent, by grant type (RFC 6749 section 3.3). Without scopes, the server's defaults apply. Consent is
 * decided in consent.policy.ts.
 */
import type { ApplicationOrigin } from '../applications/application-settings.policy.ts';
import type { ConsentMethod, RequestedScope } from '../consents/consent.policy.ts';

/** @returns the words of a space-separated parameter such as `scope`, `prompt` or `response_type` (RFC 6749 section 3.3); none if it is not a text */
export const spaceSeparated = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : [];

export interface OfferedScope extends RequestedScope {
  readonly isDefault: boolean;
}

export interface ScopeGrant {
  /** The named scopes; without any, the server's default ones that can be granted. No duplicates. */
  readonly requested: readonly string[];
  /** Unknown scopes, or scopes that this grant cannot get. If not empty, the request is refused with `invalid_scope`. */
  readonly refused: readonly string[];
  readonly granted: readonly string[];
}

/** The scopes that an application can request. @param allowed for applications that registered themselves; empty: all */
export const offeredTo = <S extends { readonly name: string }>(
  origin: ApplicationOrigin,
  scopes: readonly S[],
  allowed: readonly string[],
): readonly S[] => (origin === 'REGISTERED' && allowed.length > 0 ? scopes.filter(({ name }) => allowed.includes(name)) : scopes);

/** Names of the default scopes, for a request that names none. */
export const defaultScopes = (scopes: readonly OfferedScope[]): string[] =>
  scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);

function grant(given: readonly string[], grantable: readonly OfferedScope[]): ScopeGrant {
  const requested = given.length > 0 ? [...new Set(given)] : defaultScopes(grantable);
  const names = new Set(grantable.map(({ name }) => name));
  return {
    requested,
    refused: requested.filter((name) => !names.has(name)),
    granted: requested.filter((name) => names.has(name)),
  };
}

/** Omits offline_access for an application that cannot refresh, or that gets its tokens without a code. */
const unlessUseless = (scopes: ScopeGrant, refreshable: boolean): ScopeGrant =>
  refreshable ? scopes : { ...scopes, granted: scopes.granted.filter((name) => name !== 'offline_access') };

interface AuthorizationRules {
  readonly refreshable: boolean;
  readonly origin: ApplicationOrigin;
}

/** Authorization request: all scopes of the server, because the user can be asked. Without any scope: `invalid_scope`. */
export function authorizationScopes(
  requested: readonly string[],
  scopes: readonly OfferedScope[],
  { refreshable, origin }: AuthorizationRules,
): ScopeGrant {
  const names = new Set(scopes.map(({ name }) => name));
  // Clients with a metadata document know scopes of other servers, and request them everywhere.
  const granted = grant(origin === 'INTRODUCED' ? requested.filter((name) => names.has(name)) : requested, scopes);
  const asksUnasked = origin !== 'ADMIN' && refreshable && names.has('offline_access') && granted.requested.length > 0;
  return unlessUseless(asksUnasked ? withOfflineAccess(granted) : granted, refreshable);
}

/** MCP clients request refresh tokens by their grant types (SEP-2207 of MCP), and always need consent. */
const withOfflineAccess = ({ requested, refused, granted }: ScopeGrant): ScopeGrant => ({
  requested: [...new Set([...requested, 'offline_access'])],
  refused,
  granted: [...new Set([...granted, 'offline_access'])],
});

/** The password grant: a trusted application gets the requested scopes, others none that need consent. */
export const passwordScopes = (
  requested: readonly string[],
  scopes: readonly OfferedScope[],
  { consentMethod, refreshable }: { readonly consentMethod: ConsentMethod; readonly refreshable: boolean },
): ScopeGrant => {
  const grantable = scopes.filter(({ consent }) => consent !== 'REQUIRED' || consentMethod === 'TRUSTED');
  return unlessUseless(grant(requested, grantable), refreshable);
};

/**
 * Token exchange for an absent user. The scopes of a subject token limit it further; there are no refresh tokens.
 * @param held scopes of the subject token; undefined: it has none, like an ID token
 */
export function exchangedScopes(
  requested: readonly string[],
  scopes: readonly OfferedScope[],
  consentMethod: ConsentMethod,
  held?: readonly string[],
): ScopeGrant {
  if (held === undefined) return passwordScopes(requested, scopes, { consentMethod, refreshable: false });
  const grantable = scopes.filter(({ name }) => held.includes(name));
  const wanted = requested.length > 0 ? requested : grantable.map(({ name }) => name);
  return wanted.length === 0 ? { requested: [], refused: [], granted: [] } : unlessUseless(grant(wanted, grantable), false);
}

/**
 * Assertion of an identity provider about an absent user. The provider can only limit what is granted; scopes that require consent are for trusted
 * applications only.
 * @param named scopes in the assertion; undefined: not limited
 */
export function assertedScopes(
  requested: readonly string[],
  scopes: readonly OfferedScope[],
  consentMethod: ConsentMethod,
  named?: readonly string[],
): ScopeGrant {
  const grantable = scopes.filter(({ consent }) => consent !== 'REQUIRED' || consentMethod === 'TRUSTED');
  return exchangedScopes(requested, grantable, consentMethod, named);
}

/** Scopes about a user, which are refused here because there is none. */
const OF_USERS: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/** Application without a user (RFC 6749 section 4.4.2): nothing about users, nothing that requires consent. */
export const clientCredentialsScopes = (requested: readonly string[], scopes: readonly OfferedScope[]): ScopeGrant =>
  grant(
    requested,
    scopes.filter(({ name, consent }) => consent !== 'REQUIRED' && !OF_USERS.has(name)),
  );
