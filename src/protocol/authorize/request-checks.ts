/**
 * Our checks of an authorization request, in order. The library runs them last, after it has validated the redirect URI, so that errors go
 * back to the application.
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

// The scope of an authorization request (RFC 6749 section 3.3, OpenID Connect Core section 11). oidc-provider silently drops unknown scopes
// and grants offline_access only after a consent prompt. Here, unknown scopes are an error and offline_access is a scope like others.

/** Unlike the library's error, it does not return the scopes in a field `scope`, which belongs to access tokens only. */
const invalidScope = (description: string) => new errors.CustomOIDCProviderError('invalid_scope', description);

/** Can an error description contain the scope? It must be short and of valid characters (RFC 6749 sections 3.3 and 4.1.2.1). */
const isNameable = (scope: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope);

/**
 * @param requested the raw parameter, before oidc-provider filtered it
 * @throws {errors.CustomOIDCProviderError} `invalid_scope`: the scope is unknown to the server, or empty
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
  /** Counts requests that unauthenticated senders have stored. */
  countUnanswered(ctx: KoaContextWithOIDC): void;
}

/** @returns the library's setting of the same name: additional parameters, and those that are checked again */
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
    // Last, so that an invalid request does not use up the token.
    sessionToken: (ctx) =>
      onUserRequest(ctx, async () => {
        checkFapi2Client(ctx.oidc.client, server);
        checkPushed(ctx, isFapi2(ctx.oidc.client, server));
        checkSigned(ctx);
        await asRequested(ctx).use();
        if (ctx.oidc.route === 'authorization') return signInBySessionToken(ctx, state, endSession);
        // Anyone can push requests of a public client or request device codes with its ID. A client that authenticates can send many
        // requests from one address.
        if (ctx.oidc.client?.tokenEndpointAuthMethod === 'none') countUnanswered(ctx);
      }),
  };
}

const REQUEST_ROUTES: readonly unknown[] = ['authorization', 'pushed_authorization_request'];

/** Our parameter checks run after oidc-provider's, when the redirect_uri is valid, and for authorization requests only. */
function onRequest<T>(ctx: KoaContextWithOIDC, check: () => T): T | undefined {
  return REQUEST_ROUTES.includes(ctx.oidc.route) ? onUserRequest(ctx, check) : undefined;
}

/** Requests without redirect URI, state and nonce: device authorization (RFC 8628 section 3.1) and backchannel authentication (CIBA section 7.1). */
const ELSEWHERE: readonly unknown[] = ['device_authorization', 'backchannel_authentication'];

/** Like `onRequest`, but also for device and backchannel requests. */
function onUserRequest<T>(ctx: KoaContextWithOIDC, check: () => T): T | undefined {
  if (!REQUEST_ROUTES.includes(ctx.oidc.route) && !ELSEWHERE.includes(ctx.oidc.route)) return undefined;
  const { refusal } = asRequested(ctx);
  if (refusal !== undefined) throw refusal;
  return check();
}
