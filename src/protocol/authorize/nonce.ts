/** The nonce parameter: required in the implicit and hybrid flows (OpenID Connect Core sections 3.2.2.1 and 3.3.2.11). */

import type { Profile } from '../../features/applications/application-settings.policy.ts';
import { errors } from '../library/oidc-provider.ts';
import { words } from './scope.ts';

/** Does the authorize endpoint itself deliver a token? */
export const deliversToken = (responseType: unknown): boolean =>
  words(responseType).some((type) => type === 'token' || type === 'id_token');

/**
 * @param nonce as it came: oidc-provider forgets it when the scope has no openid
 * @param profile `openid`: only where an ID token comes from the authorize endpoint, which oidc-provider demands itself
 * @throws {errors.InvalidRequest}
 */
export function checkNonce(nonce: unknown, responseType: unknown, profile: Profile): void {
  if (profile === 'service' && deliversToken(responseType) && !nonce) throw new errors.InvalidRequest('missing required parameter nonce');
}
