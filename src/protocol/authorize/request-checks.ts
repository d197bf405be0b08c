/**
 * Our checks of an authorization request, in the order in which it meets them. The library runs them last, when the redirect URI is known to be
 * good, so that refusals go back to the application.
 */
import type { AuthorizationServer, AuthorizationServerParts } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { authorizationScopes, offeredTo, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { type Configuration, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings, effectiveProfile } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { checkFapi2Client, isFapi2 } from '../servers/fapi2.ts';
import type { Directory } from '../storage/directory.ts';
import type { ServerState } from '../storage/server-state.ts';
import type { AudienceRules } from '../token/audience.ts';
import type { DetailRules } from '../token/authorization-details.ts';
import { checkOrganization } from './organization.ts';
import { checkIdp, checkIdpScope, checkNonce, checkPushed, checkState, restoreStepUp, WITHOUT_OPENID } from './parameters.ts';
import { asRequested, checkSigned } from './request.ts';
import { signInBySessionToken } from './session-token.ts';

// The scope of an authorization request (RFC 6749 section 3.3, OpenID Connect Core section 11). oidc-provider drops unknown scopes in
// silence and grants offline_access only after a consent prompt; here unknown ones are an error, and offline_access is a scope like
// others.

/** Not the library's own, which sends the scopes back in a field `scope`: that one comes with an access token only. */
const invalidScope = (description: string) => new errors.CustomOIDCProviderError('invalid_scope', description);

/** Short, and of the characters of a scope that a description may hold (RFC 6749 sections 3.3 and 4.1.2.1). */
const isNameable = (scope: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope);

/**
 * @param requested the parameter as it came, before oidc-provider filtered it
 * @throws {errors.CustomOIDCProviderError} `invalid_scope`: a scope that the server does not have, or nothing at all
 */
function checkScope(
  ctx: KoaContextWithOIDC,
  requested: string | undefined,
  { scopes: all, server }: { readonly scopes: readonly Scope[]; readonly server: AuthorizationServer },
): void {
  const { params, client, route } = ctx.oidc;
  if (params === undefined || client === undefined) return;
  const { origin } = clientSettings(client);
  const scopes = offeredTo(origin, all, server.registration.allowedScopes);
  const isElsewhere = route === 'device_authorization' || route === 'backchannel_authentication';
  const yieldsCode = isElsewhere || spaceSeparated(params.response_type).includes('code');
  const refreshable = yieldsCode && client.grantTypeAllowed('refresh_token');
  const { requested: asked, refused, granted } = authorizationScopes(spaceSeparated(requested), scopes, { refreshable, origin });
  // Authorization details alone are a valid request (RFC 9396 section 3).
  if (asked.length === 0 && params.authorization_details === undefined)
    throw invalidScope('no scope was requested, and the authorization server has no default scope');
  const [unknown] = refused;
  if (unknown !== undefined) {
    throw invalidScope(
      `the authorization server does not have ${isNameable(unknown) ? `the scope ${unknown}` : 'one of the requested scopes'}. Add it there, or request other scopes`,
    );
  }
  params.scope = granted.join(' ') || undefined;
}

interface RequestCheckParts {
  readonly parts: AuthorizationServerParts;
  readonly audiences: AudienceRules;
  readonly details: DetailRules;
  readonly directory: Directory;
  readonly state: ServerState;
  readonly endSession: ProviderParts['endSession'];
  /** Notes what a stranger stores. */
  countUnanswered(ctx: KoaContextWithOIDC): void;
}

/** @returns the library's setting of the same name: parameters that it does not know, and those that we look at again */
export function requestChecks({
  parts,
  audiences,
  details,
  directory,
  state,
  endSession,
  countUnanswered,
}: RequestCheckParts): NonNullable<Configuration['extraParams']> {
  const { server } = parts;
  return {
    state: (ctx) => onRequest(ctx, () => checkState(asRequested(ctx).state, effectiveProfile(ctx.oidc.client, server))),
    nonce: (ctx) =>
      onRequest(ctx, () => checkNonce(asRequested(ctx).nonce, ctx.oidc.params?.response_type, effectiveProfile(ctx.oidc.client, server))),
    scope: (ctx) => onUserRequest(ctx, () => checkScope(ctx, asRequested(ctx).scope, parts)),
    [WITHOUT_OPENID.acr_values]: null,
    [WITHOUT_OPENID.max_age]: (ctx) => onUserRequest(ctx, () => restoreStepUp(ctx)),
    audience: (ctx) => onUserRequest(ctx, () => audiences.check(ctx)),
    organization: (ctx) => onUserRequest(ctx, () => checkOrganization(ctx)),
    authorization_details: (ctx) => onUserRequest(ctx, () => details.check(ctx)),
    idp: (ctx) => onUserRequest(ctx, () => checkIdp(ctx, directory.identityProvider)),
    idp_scope: (ctx) => onUserRequest(ctx, () => checkIdpScope(ctx)),
    // The last: what is wrong with a request uses nothing up.
    sessionToken: (ctx) =>
      onUserRequest(ctx, async () => {
        checkFapi2Client(ctx.oidc.client, server);
        checkPushed(ctx, isFapi2(ctx.oidc.client, server));
        checkSigned(ctx);
        await asRequested(ctx).use();
        if (ctx.oidc.route === 'authorization') return signInBySessionToken(ctx, state, endSession);
        // Anybody can push requests of a public client, and ask for codes as its device; one that proves itself may ask for many from one address.
        if (ctx.oidc.client?.tokenEndpointAuthMethod === 'none') countUnanswered(ctx);
      }),
  };
}

const REQUEST_ROUTES: readonly unknown[] = ['authorization', 'pushed_authorization_request'];

/** Our checks of parameters run last among oidc-provider's, when the redirect_uri is known to be good, and on authorization requests only. */
function onRequest<T>(ctx: KoaContextWithOIDC, check: () => T): T | undefined {
  return REQUEST_ROUTES.includes(ctx.oidc.route) ? onUserRequest(ctx, check) : undefined;
}

/** Requests without a redirect URI, state and nonce: those of devices (RFC 8628 section 3.1), and those that the user answers elsewhere (CIBA section 7.1). */
const ELSEWHERE: readonly unknown[] = ['device_authorization', 'backchannel_authentication'];

/** Like `onRequest`, also for requests that are answered elsewhere. */
function onUserRequest<T>(ctx: KoaContextWithOIDC, check: () => T): T | undefined {
  if (!REQUEST_ROUTES.includes(ctx.oidc.route) && !ELSEWHERE.includes(ctx.oidc.route)) return undefined;
  const { refusal } = asRequested(ctx);
  if (refusal !== undefined) throw refusal;
  return check();
}
