/**
 * ID-JAGs (draft-ietf-oauth-identity-assertion-authz-grant): by token exchange an application gets a JWT about its signed-in user for
 * another authorization server, which trusts this one. There it is presented as an assertion (assertion-grant.ts), without another sign-in.
 */
import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { IdJagTarget } from '../../features/applications/application-settings.policy.ts';
import { readDetails } from '../../features/authorization-details/detail-types.service.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import { errors } from '../library/oidc-provider.ts';
import type { PresentedIdentity } from './presented-identity.ts';
import { ID_JAG } from './token-types.ts';

/** Header `typ`. */
export const ID_JAG_HEADER = 'oauth-id-jag+jwt';
/** Sections 7.1 and 7.2: metadata of a server that issues and accepts ID-JAGs. */
export const ID_JAG_METADATA = {
  identity_chaining_requested_token_types_supported: [ID_JAG],
  authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
} as const;

/** Seconds: the ID-JAG is presented immediately. */
const LIFETIME = 300;
/** Maximum characters: scopes of another server are not limited otherwise. */
const LONGEST_SCOPE = 1000;
const LONGEST_RESOURCE = 2000;
const MOST_RESOURCES = 20;

interface IdJagRequest {
  readonly clientId: string;
  readonly targets: readonly IdJagTarget[];
  readonly audience: readonly string[];
  readonly resource: readonly string[];
  readonly scope: string;
  /** The parameter `authorization_details`. */
  readonly details: unknown;
  /** Is the issuer one of this installation's? */
  isOurs(issuer: string): boolean;
}

interface IdJagClaims {
  readonly aud: string;
  readonly client_id: string;
  readonly scope?: string;
  readonly resource?: string | readonly string[];
  readonly authorization_details?: readonly AuthorizationDetail[];
}

interface IdJagFor {
  readonly target: IdJagTarget;
  /** Claims of the ID-JAG about its target. */
  readonly claims: IdJagClaims;
}

/** @throws {errors.InvalidTarget} @throws {errors.InvalidScope} @throws {errors.CustomOIDCProviderError} invalid_authorization_details */
export function idJagFor({ clientId, targets, audience, resource, scope, details, isOurs }: IdJagRequest): IdJagFor {
  const [only, ...others] = audience;
  if (only === undefined || others.length > 0)
    throw new errors.InvalidTarget('an ID-JAG requires one audience: the issuer of another authorization server');
  const target = targets.find((one) => one.audience === only);
  if (target === undefined || isOurs(only))
    throw new errors.InvalidTarget('the audience must be another authorization server. Add it to id_jag_targets of the application');
  if (scope.length > LONGEST_SCOPE)
    throw new errors.InvalidScope(`scope must have at most ${LONGEST_SCOPE} characters`, scope.slice(0, 100));
  if (resource.length > MOST_RESOURCES || resource.join('').length > LONGEST_RESOURCE)
    throw new errors.InvalidTarget(`resource must have at most ${MOST_RESOURCES} values, and ${LONGEST_RESOURCE} characters`);
  const read = readDetails(details);
  if ('problem' in read) throw new errors.CustomOIDCProviderError('invalid_authorization_details', `authorization_details ${read.problem}`);
  const claims = {
    aud: target.audience,
    client_id: target.client_id ?? clientId,
    ...(scope !== '' && { scope }),
    ...(resource.length > 0 && { resource: resource.length === 1 ? String(resource[0]) : resource }),
    ...(read.details.length > 0 && { authorization_details: read.details }),
  };
  return { target, claims };
}

/** A signing key of the server. */
export interface Signer {
  readonly alg?: string | undefined;
  readonly kid?: string | undefined;
  readonly privateKey: KeyObject;
}

/**
 * @param jkt thumbprint of the key that the request proved, which the ID-JAG is bound to (section 8.6.1); undefined: no proof
 * @returns the token response (RFC 8693 section 2.2.1)
 */
export async function issueIdJag(
  issuer: string,
  signer: Signer,
  claims: IdJagClaims,
  { sub, acr, amr, authTime }: Pick<PresentedIdentity, 'sub' | 'acr' | 'amr' | 'authTime'>,
  jkt: string | undefined,
): Promise<object> {
  const iat = epochSeconds();
  const { alg = '', kid = '', privateKey } = signer;
  const signIn = { acr, amr, auth_time: authTime };
  const payload = { ...claims, ...signIn, iss: issuer, sub, iat, exp: iat + LIFETIME, jti: randomToken(), cnf: jkt && { jkt } };
  const jwt = await new SignJWT(payload).setProtectedHeader({ alg, kid, typ: ID_JAG_HEADER }).sign(privateKey);
  const { scope, authorization_details } = claims;
  return { access_token: jwt, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: LIFETIME, scope, authorization_details };
}
