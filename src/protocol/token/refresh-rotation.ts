/** Does a refresh return a new refresh token (RFC 9700 section 4.14.2), or extend the old one? The application's setting decides. */

import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { isFapi2 } from '../servers/fapi2.ts';
import { requestStateOf } from '../storage/request-state.ts';
import { rowKey } from '../storage/row-keys.ts';
import type { AccessRules } from './access.ts';
import { refreshTokenLifetime } from './lifetimes.ts';

/**
 * Under the profile fapi2, tokens are bound and not rotated (FAPI 2.0 Security Profile section 5.3.2.1). A token that is not rotated is
 * evaluated like a new one and extended by its use; the request fails if the token was revoked meanwhile.
 * @throws {errors.AccessDenied} the access policies do not allow it any more
 */
export async function rotateRefreshToken(ctx: KoaContextWithOIDC, server: AuthorizationServer, access: AccessRules): Promise<boolean> {
  const { client, entities } = ctx.oidc;
  const token = entities.RefreshToken;
  if (client === undefined || token === undefined || (clientSettings(client).rotateRefreshTokens && !isFapi2(client, server))) return true;
  await access.evaluateToken(token);
  requestStateOf(ctx)?.writes.extensions.push({
    model: 'RefreshToken',
    id: rowKey(token.jti),
    serverKey: server.key,
    expiresAt: epochSeconds() + refreshTokenLifetime(access.lifetimesOf(token), token),
  });
  return false;
}
