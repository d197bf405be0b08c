/** The parameters of an authorization request and the validation of nonce, state and idp (OpenID Connect Core 1.0 section 3.1.2.1). */

import type { Profile } from '../../features/applications/application-settings.policy.ts';
import { areScopes } from '../../features/identity-providers/upstream-request.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

/** The supported parameters of the authorize endpoint (IANA OAuth Parameters registry). Others are ignored (RFC 6749 section 3.1). */
export const PARAMETERS: ReadonlySet<string> = new Set([
  ...[
    'client_id',
    'response_type',
    'redirect_uri',
    'scope',
    'state',
    'response_mode',
    'nonce',
    'code_challenge',
    'code_challenge_method',
    'dpop_jkt',
  ],
  ...['prompt', 'max_age', 'display', 'ui_locales', 'claims_locales', 'id_token_hint', 'login_hint', 'acr_values', 'claims'],
  ...[
    'request',
    'request_uri',
    'registration',
    'resource',
    'audience',
    'organization',
    'authorization_details',
    'idp',
    'idp_scope',
    'sessionToken',
  ],
]);

/** These can be repeated (RFC 8707 section 2, RFC 8693 section 2.1). */
export const MANY: ReadonlySet<string> = new Set(['resource', 'audience']);

/** @returns the name of a repeated parameter (RFC 6749 sections 3.1 and 3.2) */
export const repeated = (parameters: Readonly<Record<string, string | readonly string[] | undefined>>): string | undefined =>
  Object.keys(parameters).find((name) => Array.isArray(parameters[name]) && !MANY.has(name));

/** A parameter's name for an error description, without quotes and non-ASCII characters (RFC 6749 section 5.2). */
export const describable = (name: string): string => (/^[\w.-]{1,100}$/.test(name) ? name : 'of another name');

/** Does the authorize endpoint itself issue a token? */
export const deliversToken = (responseType: unknown): boolean =>
  spaceSeparated(responseType).some((type) => type === 'token' || type === 'id_token');

/**
 * @param nonce the raw value: oidc-provider drops it if the scope has no openid
 * @param profile `openid`: required only if the authorize endpoint issues an ID token, which oidc-provider checks itself
 * @throws {errors.InvalidRequest}
 */
export function checkNonce(nonce: unknown, responseType: unknown, profile: Profile): void {
  if (profile === 'service' && deliversToken(responseType) && !nonce) throw new errors.InvalidRequest('missing required parameter nonce');
}

/** @throws {errors.InvalidRequest} the application must push its requests (RFC 9126 section 6), and this one was not pushed */
export function checkPushed({ oidc: { client, route, entities } }: KoaContextWithOIDC, isFapi2: boolean): void {
  const mustPush = isFapi2 || (client !== undefined && clientSettings(client).pushRequired);
  if (mustPush && route === 'authorization' && entities.PushedAuthorizationRequest === undefined)
    throw new errors.InvalidRequest(
      'the application must use pushed authorization requests: send the request to the PAR endpoint, then use its request_uri',
    );
}

/** Characters that a profile accepts in the state. All profiles but `service` allow those of RFC 6749 appendix A.5 and do not require a state. */
const PRINTABLE = /^[\x20-\x7e]+$/;
const ALLOWED: Readonly<Record<Profile, RegExp>> = { service: /^[A-Za-z0-9,._-]+$/, openid: PRINTABLE, fapi2: PRINTABLE };

/** Can an error response contain this state? Refused states are returned too, because clients find their request by it (RFC 6749 section 4.1.2.1). */
export const isReturnable = (state: string): boolean => ALLOWED.openid.test(state);

/**
 * @param state the raw value
 * @throws {errors.InvalidRequest}
 */
export function checkState(state: string | undefined, profile: Profile): void {
  if (state === undefined || state === '') {
    if (profile !== 'service') return;
    throw new errors.InvalidRequest(`missing required parameter state${NEEDS_OPENID}`);
  }
  if (!ALLOWED[profile].test(state))
    throw new errors.InvalidRequest(
      `the parameter state contains characters that are not allowed${profile === 'service' && isReturnable(state) ? NEEDS_OPENID : ''}`,
    );
}

const NEEDS_OPENID = ' (or set the profile of the application or the authorization server to openid)';

/** @throws {errors.InvalidRequest} */
export async function checkIdp(
  ctx: KoaContextWithOIDC,
  find: (id: string) => Promise<{ readonly status: 'ACTIVE' | 'INACTIVE' } | undefined>,
): Promise<void> {
  const { params, client } = ctx.oidc;
  const idp = params?.idp;
  if (typeof idp !== 'string') return;
  const allowed = client && clientSettings(client).identityProviders;
  const found = isPrintable(idp) && (allowed === undefined || allowed.includes(idp)) ? await find(idp) : undefined;
  if (found?.status !== 'ACTIVE')
    throw new errors.InvalidRequest('idp must be the ID of an active identity provider that the application may use');
}

/** @throws {errors.InvalidRequest} */
export function checkIdpScope(ctx: KoaContextWithOIDC): void {
  const scopes = ctx.oidc.params?.idp_scope;
  if (typeof scopes === 'string' && !areScopes(scopes))
    throw new errors.InvalidRequest('idp_scope must be a list of scopes separated by spaces');
}

/**
 * Internal names for `acr_values` and `max_age`, because the library requires the scope openid with these. Parameters that a client sends
 * under the internal names are dropped.
 */
export const WITHOUT_OPENID = { acr_values: 'acr_values_without_openid', max_age: 'max_age_without_openid' } as const;

/**
 * An API can require a stronger or more recent sign-in from an application that does not request an ID token (RFC 9470 section 4).
 * @returns the parameters to replace
 */
export const withoutOpenid = (
  { acr_values: acr, max_age: age }: Readonly<Record<string, string | string[] | undefined>>,
  isOpenid: boolean,
): Record<string, string | string[] | undefined> => ({
  ...(!isOpenid && { acr_values: undefined, max_age: undefined }),
  [WITHOUT_OPENID.acr_values]: isOpenid ? undefined : acr,
  [WITHOUT_OPENID.max_age]: isOpenid ? undefined : age,
});

/**
 * Restores both names after the library's check. Pushed parameters keep the internal names and are checked again on use.
 * @throws {errors.InvalidRequest}
 */
export function restoreStepUp({ oidc: { params, prompts, route } }: KoaContextWithOIDC): void {
  const { [WITHOUT_OPENID.acr_values]: acr, [WITHOUT_OPENID.max_age]: age } = params ?? {};
  // Same error as the library's for requests with openid.
  if (age !== undefined && !(/^\d+$/.test(String(age)) && Number.isSafeInteger(Number(age))))
    throw new errors.InvalidRequest('max_age must be a whole number of seconds');
  if (params === undefined || route === 'pushed_authorization_request') return;
  for (const name of Object.values(WITHOUT_OPENID)) params[name] = undefined;
  if (acr !== undefined) params.acr_values = acr;
  if (age !== undefined && Number(age) > 0) params.max_age = age;
  if (age !== undefined && Number(age) === 0) params.prompt = [...prompts.add('login')].join(' ');
}
