/** Does a refresh answer with a new refresh token (RFC 9700 section 4.14.2), or does the old one live on? The application's setting decides. */

import { epochSeconds } from '../../platform/clock/clock.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { requestStateOf } from '../storage/request-state.ts';
import { rowKey } from '../storage/row-keys.ts';
import type { AccessRules } from './access.ts';
import { refreshTokenLifetime } from './lifetimes.ts';

/**
 * A token that is not rotated is judged like a new one, gets a new life by its use, and the request fails when the token was revoked meanwhile.
 * @throws {errors.AccessDenied} when the access policies do not allow it any more
 */
export async function rotateRefreshToken(ctx: KoaContextWithOIDC, serverKey: number, access: AccessRules): Promise<boolean> {
  const { client, entities } = ctx.oidc;
  const token = entities.RefreshToken;
  if (client === undefined || token === undefined || clientSettings(client).rotateRefreshTokens) return true;
  await access.judgeToken(token);
  requestStateOf(ctx)?.writes.extensions.push({
    model: 'RefreshToken',
    id: rowKey(token.jti),
    serverKey,
    expiresAt: epochSeconds() + refreshTokenLifetime(access.lifetimesOf(token), token.iiat),
  });
  return false;
}
