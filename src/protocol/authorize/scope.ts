/**
 * The scope of an authorization request (RFC 6749 section 3.3, OpenID Connect Core section 11). oidc-provider drops unknown scopes in
 * silence and grants offline_access only after a consent prompt; here unknown ones are an error, and offline_access is a scope like others.
 */

import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { authorizationScopes, offeredTo, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

/** Not the library's own, which sends the scopes back in a field `scope`: that one comes with an access token only. */
const invalidScope = (description: string) => new errors.CustomOIDCProviderError('invalid_scope', description);

/** Short, and of the characters of a scope that a description may hold (RFC 6749 sections 3.3 and 4.1.2.1). */
const isNameable = (scope: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope);

/**
 * @param requested the parameter as it came, before oidc-provider filtered it
 * @throws {errors.CustomOIDCProviderError} `invalid_scope`: a scope that the server does not have, or nothing at all
 */
export function checkScope(
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
    throw invalidScope('no scope was requested, and the authorization server has no default one');
  const [unknown] = refused;
  if (unknown !== undefined) {
    throw invalidScope(
      `the authorization server has no scope ${isNameable(unknown) ? unknown : 'of a requested name'}: add it there, or ask for less`,
    );
  }
  params.scope = granted.join(' ') || undefined;
}
