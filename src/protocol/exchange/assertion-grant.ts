/**
 * The JWT bearer grant (RFC 7523 section 2.1): an application presents a JWT of a trusted identity provider about a linked user and gets an
 * access token. An ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant) is such a JWT, issued for one application of this service.
 */

import type { JWTPayload } from 'jose';
import type { AuditEvent } from '../../features/audit/events.resource.ts';
import { readDetails } from '../../features/authorization-details/detail-types.service.ts';
import { JWT_BEARER_GRANT } from '../../features/policies/access-policy.policy.ts';
import { assertedScopes, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { assertionAudiences } from '../client-authentication/client-authentication.ts';
import { jwtType, unverifiedClaims } from '../client-authentication/foreign-jwt.ts';
import { type AccessToken, errors, type KoaContextWithOIDC, type Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { ROUTES } from '../servers/endpoints.ts';
import { AssertionRefused } from '../servers/errors.ts';
import { currentRequest } from '../storage/request-state.ts';
import { type AudienceRules, requestedAudiences } from '../token/audience.ts';
import { bindToken } from '../token/proof-of-possession.ts';
import { ASSERTED, type DelegatedTokens } from './delegated-tokens.ts';
import { ID_JAG_HEADER } from './id-jag.ts';
import { bindingIn, type IdentityParts, ofProvider } from './presented-identity.ts';

export const ASSERTION_PARAMETERS = ['assertion', 'scope'];

/** Header `typ`. RFC 7523 requires none; types of other JWTs are refused (RFC 8725 section 3.11). */
const TYPES = ['', 'jwt', ID_JAG_HEADER];

export interface AssertionParts extends IdentityParts {
  readonly provider: Provider;
  readonly scopes: readonly Scope[];
  readonly audiences: Pick<AudienceRules, 'limit'>;
  readonly delegated: DelegatedTokens;
  /** Is only the issuer accepted as the audience, not the token endpoint? */
  readonly strictAssertionAudience: boolean;
  /** @returns the audit event that is written with the token */
  asserted(ctx: KoaContextWithOIDC, assertion: Asserted): AuditEvent;
}

interface Asserted {
  readonly user: { readonly id: string; readonly login: string };
  readonly issuer: string;
  readonly idpId: string;
  readonly scope: string;
}

/** @returns the handler that oidc-provider calls for the grant type after client authentication */
export function assertionGrant(parts: AssertionParts): (ctx: KoaContextWithOIDC) => Promise<void> {
  return async (ctx) => {
    const { client, params } = ctx.oidc;
    if (client === undefined || params === undefined) throw new Error('the client is authenticated before the grant is carried out');
    if (client.tokenEndpointAuthMethod === 'none')
      throw new errors.UnauthorizedClient('a public application cannot use assertions. Set a token_endpoint_auth_method');
    if (typeof params.assertion !== 'string') throw new errors.InvalidRequest('missing required parameter(s): assertion');
    const { user, claims, idpId } = await verify(parts, params.assertion, { clientId: client.clientId, scope: params.scope });

    const named = claims.scope === undefined ? undefined : spaceSeparated(claims.scope);
    const { granted, refused } = assertedScopes(spaceSeparated(params.scope), parts.scopes, clientSettings(client).consentMethod, named);
    if (refused.length > 0)
      throw new errors.InvalidScope(
        'a requested scope does not exist, requires the consent of the user, or is not in the assertion',
        refused.join(' '),
      );
    const scope = granted.join(' ');
    const grantId = await new parts.provider.Grant({ accountId: user.id, clientId: client.clientId }).save();
    const given = { accountId: user.id, client, grantId, gty: ASSERTED, scope: scope === '' ? undefined : scope };
    const token = new parts.provider.AccessToken(given as ConstructorParameters<typeof parts.provider.AccessToken>[0]);
    const details = detailsIn(claims);
    if (details !== undefined && 'details' in details) parts.delegated.note(token, details);
    if (claims.resource !== undefined) parts.audiences.limit(token, requestedAudiences({ resource: claims.resource }));
    currentRequest()?.accounts.set(user.id, user);
    await bindToken(parts.provider, ctx, token);
    checkBinding(claims, token);
    ctx.oidc.entity('AccessToken', token);
    const access_token = await token.save();
    // Last, so that an assertion refused for another reason can be presented again.
    await useOnce(parts, claims);
    currentRequest()?.writes.events.push(parts.asserted(ctx, { user, issuer: String(claims.iss), idpId, scope }));
    const { tokenType: token_type, expiration: expires_in, rar: authorization_details } = token;
    ctx.body = { access_token, token_type, expires_in, scope, authorization_details };
  };
}

interface By {
  readonly clientId: string;
  readonly scope: unknown;
}

/** RFC 7523 section 3; for an ID-JAG also sections 3.1 and 4.4.1 of the draft. @throws {AssertionRefused} */
async function verify(parts: AssertionParts, token: string, by: By) {
  const { own } = parts;
  const isIdJag = jwtType(token) === ID_JAG_HEADER;
  const issuer = String(unverifiedClaims(token)?.iss);
  // An assertion that this service issued for another server must not be accepted here (section 8.3 of the draft).
  if (parts.isOurs(issuer)) throw new AssertionRefused('it was issued by this service. Send an assertion of a trusted identity provider');
  const audiences = isIdJag ? [own.issuer] : assertionAudiences(parts, own.issuer, ROUTES.token);
  const requester = { ...by, grantType: JWT_BEARER_GRANT } as const;
  const found = await ofProvider(parts, { issuer, token, audiencesOf: () => audiences, types: TYPES }, requester);
  if (typeof found === 'string') throw new AssertionRefused(found);
  const { claims, identity, provider } = found;
  if (identity.account === undefined) throw new AssertionRefused('its sub must be a user');
  const problem = problemOf(claims, isIdJag, by.clientId);
  if (problem !== undefined) throw new AssertionRefused(problem);
  return { user: identity.account, claims, idpId: provider.id };
}

/** Problems with claims beyond RFC 7519. Unknown restrictions must not be ignored. */
function problemOf(claims: JWTPayload, isIdJag: boolean, clientId: string): string | undefined {
  const { jti, iat, client_id: madeFor, scope, resource, tenant } = claims;
  if (jti === undefined) return 'its jti is missing';
  if (isIdJag && iat === undefined) return 'its iat is missing';
  if (isIdJag && madeFor === undefined) return 'its client_id is missing';
  if (madeFor !== undefined && madeFor !== clientId) return 'its client_id must be the application that sends it';
  if (scope !== undefined && typeof scope !== 'string') return 'its scope must be a string';
  if (resource !== undefined && !isText(resource)) return 'its resource must be a string or an array of strings';
  if (tenant !== undefined) return 'its tenant is not supported. Users are identified by iss and sub only';
  const details = detailsIn(claims);
  return details !== undefined && 'problem' in details ? `its authorization_details ${details.problem}` : undefined;
}

/** RFC 9396: limits of the token. @returns undefined: the assertion contains no details */
const detailsIn = ({ authorization_details: details }: JWTPayload) =>
  details === undefined ? undefined : readDetails(JSON.stringify(details));

const isText = (value: unknown): boolean => [value].flat().every((one) => typeof one === 'string');

/** An assertion with `cnf` works only with proof of the key (section 8.6 of the draft). @throws {AssertionRefused} */
function checkBinding(claims: JWTPayload, token: AccessToken): void {
  if (claims.cnf === undefined) return;
  const { jkt, x5t } = bindingIn(claims) ?? {};
  const isHolder = jkt === undefined ? x5t !== undefined && token['x5t#S256'] === x5t : token.jkt === jkt;
  if (!isHolder) throw new AssertionRefused('it is bound to a key. Send a DPoP proof signed with that key, or use its certificate');
}

/** A `jti` is accepted once by all processes: one conditional insert that lasts as long as the assertion. @throws {AssertionRefused} */
async function useOnce({ own }: AssertionParts, { iss, jti, exp = 0 }: JWTPayload): Promise<void> {
  if (!(await own.state.claim(`assertion ${JSON.stringify([iss, jti])}`, exp)))
    throw new AssertionRefused('it was already used. Send a new one');
}
