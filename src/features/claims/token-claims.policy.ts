/**
 * Claims of ID tokens and userinfo: the standard claims, except those that the server overrides, and the server's own (OpenID Connect Core 1.0
 * sections 2 and 5.1.2). custom-claims.policy.ts evaluates custom claims, token-size.policy.ts limits the size.
 */

import { type Fitted, fitIntoToken, jsonSize } from '../authorization-servers/token-size.policy.ts';
import type { ClaimDecision } from './custom-claims.policy.ts';

type Claims = Readonly<Record<string, unknown>>;
type Decision = Pick<ClaimDecision, 'claims' | 'decided'>;

const undecided = (standard: Claims, { decided }: Decision): Claims =>
  Object.fromEntries(Object.entries(standard).filter(([name]) => !decided.includes(name)));

/** Any one of these opens userinfo, and each maps to every claim: the endpoint always returns all of the user's claims. */
export const USERINFO_SCOPES = ['profile', 'email', 'address', 'phone'] as const;

/** Does userinfo answer to a token with these scopes? A server of the profile `openid` is content with that scope (OpenID Connect Core section 5.3). */
export const opensUserinfo = (profile: 'service' | 'openid' | 'fapi2', scopes: ReadonlySet<string>): boolean =>
  USERINFO_SCOPES.some((scope) => scopes.has(scope)) || (profile !== 'service' && scopes.has('openid'));

/** @param standard all claims of the user */
export const userinfoClaims = (standard: Claims, own: Decision): Claims => Object.assign({}, undecided(standard, own), own.claims);

/**
 * Omits custom claims that would make the token too large.
 * @param standard user claims that the application chose or requested
 * @param protocol known protocol claims
 * @param rest bytes of other content
 * @returns the user's claims in the token
 */
export function idTokenContent(standard: Claims, own: Decision, protocol: Claims, rest: number): Fitted {
  const others = undecided(standard, own);
  const { claims, omitted } = fitIntoToken(own.claims, jsonSize(Object.assign({}, others, protocol)) + rest);
  return { claims: Object.assign({}, others, claims), omitted };
}
