/** The claims parameter (OpenID Connect Core section 5.5): what is asked of each claim. oidc-provider checks the frame around them, and would fail inside. */
import { type ClaimsParameter, errors } from 'oidc-provider';

const isRequest = (value: unknown): boolean => value === null || (typeof value === 'object' && !Array.isArray(value));

/** @throws {errors.InvalidRequest} a claim that is asked for by anything but null or an object */
export function checkClaims({ userinfo, id_token: idToken }: ClaimsParameter): void {
  if ([userinfo, idToken].every((claims) => Object.values(claims ?? {}).every(isRequest))) return;
  throw new errors.InvalidRequest('each claim of the claims parameter must be null or a JSON object');
}
