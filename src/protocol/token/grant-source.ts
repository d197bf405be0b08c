/** Basis of a token request: the code, the answered device or backchannel request, or the refresh token. */
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

export const isTokenRequest = ({ oidc }: KoaContextWithOIDC): boolean => oidc.route === 'token';

/** @returns the library's model; undefined: none */
export function grantSource(ctx: KoaContextWithOIDC | undefined): object | undefined {
  if (ctx === undefined || !isTokenRequest(ctx)) return undefined;
  const {
    AuthorizationCode: code,
    DeviceCode: deviceCode,
    BackchannelAuthenticationRequest: request,
    RefreshToken: refreshToken,
  } = ctx.oidc.entities;
  return code ?? deviceCode ?? request ?? (ctx.oidc.params?.grant_type === 'refresh_token' ? refreshToken : undefined);
}
