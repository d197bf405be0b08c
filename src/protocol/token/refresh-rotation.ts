/** Does a refresh answer with a new refresh token (RFC 9700 section 4.14.2), or does the old one live on? The application's setting decides. */

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
 * Under the profile fapi2 none is rotated (FAPI 2.0 Security Profile section 5.3.2.1): its tokens are bound. A token that is not rotated is judged like a new one, gets a new life by its use, and the request fails when the token was revoked meanwhile.
 * @throws {errors.AccessDenied} when the access policies do not allow it any more
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
