/** The claims parameter (OpenID Connect Core section 5.5): what is asked of each claim. oidc-provider checks the frame around them, and would fail inside. */
import { type ClaimsParameter, errors } from 'oidc-provider';

const isRequest = (value: unknown): boolean => value === null || (typeof value === 'object' && !Array.isArray(value));

/**
 * @throws {errors.InvalidRequest} a claim that is asked for by anything but null or an object
 * @throws {errors.UnmetAuthenticationRequirements} an authentication context class is essential: there is none to be had, and asking the user
 *   to sign in again and again would not bring it (section 5.5.1.1; Error Code unmet_authentication_requirements 1.0)
 */
export function checkClaims({ userinfo, id_token: idToken }: ClaimsParameter): void {
  if (![userinfo, idToken].every((claims) => Object.values(claims ?? {}).every(isRequest))) {
    throw new errors.InvalidRequest('each claim of the claims parameter must be null or a JSON object');
  }
  const { essential, value, values } = idToken?.acr ?? {};
  if (essential && (value ?? values) !== undefined) {
    throw new errors.UnmetAuthenticationRequirements('the essential authentication context class cannot be reached');
  }
}
