/**
 * Simulates a token request: the same functions decide in the same order as for real requests, based on facts that were read in advance. It assumes a
 * signed-in user who gives every consent and, if a page can ask for it, uses their second factor.
 */

import { consentMethodOf } from '../applications/application-settings.policy.ts';
import { fapi2Refusal, profileInForce } from '../applications/fapi2.policy.ts';
import { decideDetails } from '../authorization-details/details.policy.ts';
import { audienceClaim, audiencesOf, decideAudiences, isForServer } from '../authorization-servers/audience.policy.ts';
import { jsonSize, limitToTokenSize } from '../authorization-servers/token-size.policy.ts';
import { idTokenClaims, idTokenContent, opensUserinfo, userClaims, userinfoClaims } from '../claims/claims.policy.ts';
import { type ClaimFacts, type ClaimStep, type ClaimType, decideClaims } from '../claims/custom-claims.policy.ts';
import { acceptsClientId } from '../client-documents/client-id.policy.ts';
import { decideConsent, decideDetailConsent, type ScopeDecision } from '../consents/consent.policy.ts';
import { decideAmong, organizationRefusal, signedInFor } from '../organizations/sign-in-organization.policy.ts';
import { isAcceptedAt } from '../registration/registration.policy.ts';
import {
  authorizationScopes,
  clientCredentialsScopes,
  exchangedScopes,
  offeredTo,
  passwordScopes,
  type ScopeGrant,
} from '../scopes/granted-scopes.policy.ts';
import {
  type AccessDecision,
  type AccessGrantType,
  CIBA_GRANT,
  DEVICE_GRANT,
  decideAccess,
  JWT_BEARER_GRANT,
  TOKEN_EXCHANGE_GRANT,
} from './access-policy.policy.ts';
import type { SimulatedRefusal, SimulatedUser, SimulationFacts } from './simulation-facts.policy.ts';

type Claims = Readonly<Record<string, unknown>>;

interface SimulatedTokens {
  /** Claims of the JWT or the introspection response, without times and IDs. */
  readonly accessToken: Claims | undefined;
  /** Without times, hashes, nonce and session. */
  readonly idToken: Claims | undefined;
  /** Claims of userinfo; undefined: refused, or no access token. */
  readonly userinfo: Claims | undefined;
  readonly refreshToken: boolean;
  /** Result for each custom claim of the server, in the access token or the ID token. */
  readonly claims: readonly (ClaimStep & { readonly claimType: ClaimType })[];
}

export interface Simulation {
  /** CONSENT: the dialog is shown; the rest applies if the user allows everything. */
  readonly outcome: 'TOKENS' | 'CONSENT' | 'REFUSED';
  /** The first in the order of the checks. */
  readonly refusal: SimulatedRefusal | undefined;
  /** response_type for the authorize endpoint; undefined if the grant does not use it or the application has none. */
  readonly responseType: string | undefined;
  readonly scopes: ScopeGrant;
  readonly access: AccessDecision;
  /** undefined without user interaction. */
  readonly consent: readonly ScopeDecision[] | undefined;
  /** undefined: the request is refused. */
  readonly tokens: SimulatedTokens | undefined;
  /** ID of the organization that the user signs in for; undefined: none, or a choice is still needed. */
  readonly organization?: string | undefined;
}

export function simulate(facts: SimulationFacts): Simulation {
  const { server, application, grantType } = facts;
  const responseType = responseTypeOf(facts);
  const scopes = scopesOf(facts);
  const access = decideAccess(server.policies, { ...facts, clientId: application.id, scopes: scopes.granted }, server.lifetimes);
  const consent = asksUser(grantType) ? consentFor(facts, scopes.granted) : undefined;
  const asks = consent?.some(({ ask }) => ask) === true;
  const refusal = refusalOf(facts, responseType, scopes, access) ?? (asks && facts.prompts.has('none') ? CONSENT_REQUIRED : undefined);
  const outcome = refusal !== undefined ? 'REFUSED' : asks ? 'CONSENT' : 'TOKENS';
  const decided = organizationOf(facts);
  const tokens =
    refusal === undefined ? tokensOf({ ...facts, user: signedInFor(facts.user, decided) }, responseType, scopes.granted) : undefined;
  const organization = decided.kind === 'organization' ? decided.orgId : undefined;
  return { outcome, refusal, responseType, scopes, access, consent, tokens, organization };
}

const CONSENT_REQUIRED: SimulatedRefusal = { error: 'consent_required', reason: 'the user must consent, but the request has prompt=none' };

/** Can the user be asked for consent? */
const asksUser = (grantType: AccessGrantType): boolean => atAuthorize(grantType) || grantType === DEVICE_GRANT || grantType === CIBA_GRANT;
/** Does the application get an access token for another token or an assertion, without a sign-in? */
export const isExchange = (grantType: AccessGrantType): boolean => grantType === TOKEN_EXCHANGE_GRANT || grantType === JWT_BEARER_GRANT;
const atAuthorize = (grantType: AccessGrantType): boolean => grantType === 'authorization_code' || grantType === 'implicit';

/** The first response type of the application for the grant; with an ID token if the request contains openid. */
function responseTypeOf({ grantType, application, asked }: SimulationFacts): string | undefined {
  const implicit = asked.includes('openid') ? ['id_token token', 'token', 'id_token'] : ['token'];
  const fitting = grantType === 'authorization_code' ? ['code'] : grantType === 'implicit' ? implicit : [];
  return fitting.find((type) => application.settings.response_types.includes(type));
}

function scopesOf({ server, application, grantType, asked }: SimulationFacts): ScopeGrant {
  const { settings, origin } = application;
  const mayRefresh = settings.grant_types.includes('refresh_token');
  if (grantType === 'client_credentials') return clientCredentialsScopes(asked, server.scopes);
  if (isExchange(grantType)) return exchangedScopes(asked, server.scopes, consentMethodOf(application));
  if (grantType === 'password')
    return passwordScopes(asked, server.scopes, { consentMethod: consentMethodOf(application), refreshable: mayRefresh });
  return authorizationScopes(asked, offeredTo(origin, server.scopes, server.registration.allowedScopes), {
    refreshable: mayRefresh && grantType !== 'implicit',
    origin,
  });
}

function consentFor(
  { server, application, prompts, remembered, details, detailTypes }: SimulationFacts,
  granted: readonly string[],
): readonly ScopeDecision[] {
  const facts = { method: consentMethodOf(application), prompted: prompts.has('consent'), remembered };
  const scopes = granted.flatMap((name) => server.scopes.find((scope) => scope.name === name) ?? []);
  // Whether the same detail was allowed before depends on its content.
  const unknown = detailTypes
    .filter((type) => !details.some(({ detail }) => detail.type === type))
    .map((type) => ({ detail: { type }, key: '', rememberConsent: false }));
  return [...decideConsent({ ...facts, scopes }), ...decideDetailConsent([...details, ...unknown], facts)];
}

/** Authorization details, and types of details whose content is not known (RFC 9396 section 5). */
function detailRefusal({ server, application, grantType, details, detailTypes }: SimulationFacts): SimulatedRefusal | undefined {
  const refused = (reason: string): SimulatedRefusal => ({ error: 'invalid_authorization_details', reason });
  if (!detailTypes.every((type) => server.detailTypes.has(type)))
    return refused('the authorization server does not have a requested authorization detail type. Create it there');
  const allowed = application.settings.authorization_details_types ?? [];
  if (!detailTypes.every((type) => allowed.includes(type)))
    return refused('the application may not use a requested authorization detail type. Add it to its authorization_details_types');
  const asked = details.map(({ detail }) => detail);
  const decision = decideDetails({ requested: asked, granted: undefined, types: server.detailTypes, allowed });
  if ('problem' in decision) return refused(`authorization_details ${decision.index}: ${decision.problem}`);
  if (detailTypes.length === 0) return undefined;
  if (grantType === 'implicit') return { error: 'invalid_request', reason: 'authorization_details requires the response type code' };
  if (grantType === 'password' && consentMethodOf(application) !== 'TRUSTED')
    return refused("authorization details cannot be granted without the user's consent");
  return undefined;
}

/** The checks before consent, in the order in which a request meets them. */
function refusalOf(
  facts: SimulationFacts,
  responseType: string | undefined,
  scopes: ScopeGrant,
  access: AccessDecision,
): SimulatedRefusal | undefined {
  const { server, application, user, grantType } = facts;
  const { settings } = application;
  const visits = asksUser(grantType);
  if (server.status !== 'ACTIVE') return { error: 'invalid_request', reason: 'the authorization server is not active' };
  if (application.status !== 'ACTIVE') return { error: 'invalid_client', reason: 'the application is not active' };
  if (!isAcceptedAt(server.id, application))
    return { error: 'invalid_client', reason: 'the application was registered at another authorization server' };
  if (application.origin === 'INTRODUCED' && !acceptsClientId(server.clientIdMetadata, application.id))
    return {
      error: 'invalid_client',
      reason: 'the authorization server does not accept client ID metadata documents, or not from this host',
    };
  if (!settings.grant_types.includes(grantType) || (atAuthorize(grantType) && responseType === undefined))
    return { error: 'unauthorized_client', reason: 'the application may not use this grant type. Add it to its grant_types' };
  const breach = profileInForce(settings.profile, server.profile) === 'fapi2' ? fapi2Refusal(settings) : undefined;
  if (breach !== undefined) return { error: 'unauthorized_client', reason: `the application does not follow FAPI 2.0: ${breach}` };
  if (scopes.refused.length > 0)
    return {
      error: 'invalid_scope',
      reason: `scopes that do not exist or cannot be granted with this grant type: ${scopes.refused.join(' ')}`,
    };
  if (visits && scopes.requested.length === 0)
    return { error: 'invalid_scope', reason: 'no scope was requested, and the authorization server has no default scope' };
  const target = audienceOf(facts);
  if (target.audiences === undefined) return { error: 'invalid_target', reason: target.reason };
  const details = detailRefusal(facts);
  if (details !== undefined) return details;
  if (facts.byPassword?.refusal !== undefined) return facts.byPassword.refusal;
  if (user !== undefined && user.status !== 'ACTIVE')
    return { error: visits ? 'login_required' : 'invalid_grant', reason: `the user is ${user.status}` };
  if (user !== undefined && settings.assignment === 'ASSIGNED' && !facts.isAssigned)
    return { error: 'access_denied', reason: 'the application is not assigned to the user' };
  if (facts.byPassword?.aloneRefusal !== undefined) return facts.byPassword.aloneRefusal;
  const organization = organizationRefusal(organizationOf(facts), facts.prompts.has('none'));
  if (organization !== undefined) return organization;
  if (!access.allowed) return { error: 'access_denied', reason: 'no access policy of the authorization server allows this request' };
  if (visits && scopes.granted.length === 0) return { error: 'access_denied', reason: 'none of the requested scopes can be granted' };
  return undefined;
}

const organizationOf = ({ application, user, grantType, organization: wanted }: SimulationFacts) =>
  decideAmong({ setting: application.settings.organization, wanted }, asksUser(grantType) ? user?.memberships : undefined);

/**
 * Bytes of tokens apart from these claims: times, IDs and authentication class of an access token; for an ID token also hashes, nonce and
 * authentication methods.
 */
const REST_OF_ACCESS_TOKEN = 192;
const REST_OF_ID_TOKEN = 492;
function tokensOf(facts: SimulationFacts, responseType: string | undefined, granted: readonly string[]): SimulatedTokens {
  return {
    accessToken: responseType === 'id_token' ? undefined : accessTokenOf(facts, granted),
    idToken:
      facts.user === undefined || !hasIdToken(facts, responseType, granted)
        ? undefined
        : idTokenOf(facts, facts.user, responseType, granted),
    userinfo:
      facts.user === undefined ||
      responseType === 'id_token' ||
      !opensUserinfo(profileInForce(facts.application.settings.profile, facts.server.profile), new Set(granted)) ||
      !isForServer(audOf(facts), facts.server)
        ? undefined
        : userinfoOf(facts, facts.user, granted),
    refreshToken: granted.includes('offline_access'),
    claims: claimsOf(facts, responseType, granted),
  };
}

function claimsOf({ server, user, application }: SimulationFacts, responseType: string | undefined, granted: readonly string[]) {
  const facts = { scopes: granted, person: user };
  const identity = { besideAccessToken: responseType !== 'id_token', chosen: application.settings.id_token_claims };
  const steps = (claimType: ClaimType, more: Partial<ClaimFacts>) =>
    decideClaims(server.claims, { ...facts, ...more, claimType }).steps.map((step) => ({ ...step, claimType }));
  return [...(responseType === 'id_token' ? [] : steps('RESOURCE', {})), ...(user === undefined ? [] : steps('IDENTITY', identity))];
}

const hasIdToken = ({ grantType }: SimulationFacts, responseType: string | undefined, granted: readonly string[]): boolean =>
  granted.includes('openid') && !isExchange(grantType) && (grantType !== 'implicit' || responseType?.includes('id_token') === true);

const audienceOf = ({ server, resources }: SimulationFacts) =>
  decideAudiences({ offered: audiencesOf(server), requested: resources, granted: undefined });

const audOf = (facts: SimulationFacts) => audienceClaim(facts.server, audienceOf(facts).audiences ?? []);

function accessTokenOf(facts: SimulationFacts, granted: readonly string[]): Claims {
  const { server, application, user, subject } = facts;
  const protocol = {
    iss: server.issuer,
    sub: subject ?? application.id,
    aud: audOf(facts),
    client_id: application.id,
    ...(granted.length > 0 && { scope: granted.join(' ') }),
    ...(facts.actor !== undefined && { act: { sub: facts.actor } }),
    ...(facts.details.length > 0 && { authorization_details: facts.details.map(({ detail }) => detail) }),
  };
  const own = decideClaims(server.claims, { claimType: 'RESOURCE', scopes: granted, person: user }).claims;
  return {
    ...(server.accessTokenFormat === 'jwt' ? limitToTokenSize(own, jsonSize(protocol) + REST_OF_ACCESS_TOKEN).claims : own),
    ...protocol,
  };
}

function idTokenOf(
  { server, application, subject }: SimulationFacts,
  user: SimulatedUser,
  responseType: string | undefined,
  granted: readonly string[],
): Claims {
  const chosen = application.settings.id_token_claims;
  const besideAccessToken = responseType !== 'id_token';
  const own = decideClaims(server.claims, { claimType: 'IDENTITY', scopes: granted, person: user, besideAccessToken, chosen });
  const held = idTokenClaims(chosen, granted);
  const standard = Object.fromEntries(Object.entries(userClaims(user)).filter(([name]) => held.includes(name)));
  const protocol = { iss: server.issuer, sub: subject, aud: application.id };
  return { ...idTokenContent(standard, own, protocol, REST_OF_ID_TOKEN).claims, ...protocol };
}

const userinfoOf = ({ server, subject }: SimulationFacts, user: SimulatedUser, granted: readonly string[]): Claims => ({
  ...userinfoClaims(userClaims(user), decideClaims(server.claims, { claimType: 'IDENTITY', scopes: granted, person: user })),
  sub: subject,
});
