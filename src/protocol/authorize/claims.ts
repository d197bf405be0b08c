/**
 * The claims parameter (OpenID Connect Core section 5.5): validates the request for each claim. oidc-provider validates only the outer
 * structure and would fail on invalid contents.
 */

import { scopesOfClaims } from '../../features/claims/claims.policy.ts';
import { ACR_VALUES } from '../../features/second-factors/second-factor.policy.ts';
import { type ClaimsParameter, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

const isRequest = (value: unknown): boolean => value === null || (typeof value === 'object' && !Array.isArray(value));

/**
 * @throws {errors.InvalidRequest} a claim is requested with something other than null or an object
 * @throws {errors.UnmetAuthenticationRequirements} an essential authentication context class is not supported: repeated sign-ins would not help
 * (section 5.5.1.1; Error Code unmet_authentication_requirements 1.0)
 */
export function checkClaims({ userinfo, id_token: idToken }: ClaimsParameter): void {
  if (![userinfo, idToken].every((claims) => Object.values(claims ?? {}).every(isRequest))) {
    throw new errors.InvalidRequest('each claim of the claims parameter must be null or a JSON object');
  }
  const { essential, value, values } = idToken?.acr ?? {};
  if (values !== undefined && !Array.isArray(values)) throw new errors.InvalidRequest('the values of the claim acr must be an array');
  const classes = [value ?? values ?? []].flat();
  if (essential && classes.length > 0 && !classes.some((name) => ACR_VALUES.includes(String(name)))) {
    throw new errors.UnmetAuthenticationRequirements(
      'none of the essential acr values can be reached. Request one of acr_values_supported',
    );
  }
}

/**
 * The scopes of the standard claims that a request names for its ID token. Claims are released by scope, so a request for a claim is
 * evaluated like a request for its scope. None if the application selected its claims, because it gets no others.
 */
export function scopesOfRequestedClaims({ oidc: { client, claims } }: KoaContextWithOIDC): string[] {
  if (client === undefined || clientSettings(client).idTokenClaims !== undefined) return [];
  return scopesOfClaims(Object.keys(claims.id_token ?? {}));
}

/** Removes the claims of scopes that the user did not allow from the request. @returns the names of the rest */
export function allowedClaims({ oidc: { claims } }: KoaContextWithOIDC, scopes: readonly string[]): string[] {
  const idToken: Record<string, unknown> = claims.id_token ?? {};
  for (const name of Object.keys(idToken)) if (scopesOfClaims([name]).some((scope) => !scopes.includes(scope))) delete idToken[name];
  return [...new Set([...Object.keys(claims.userinfo ?? {}), ...Object.keys(idToken)])];
}
