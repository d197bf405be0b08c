/** The state parameter: required on every request, of letters, digits, comma, period, underscore and hyphen (RFC 6749 section 10.12). */

import type { Profile } from '../../features/applications/application-settings.policy.ts';
import { errors } from '../library/oidc-provider.ts';

/** What a profile accepts; `openid` takes what RFC 6749 appendix A.5 allows, and needs none. */
const ALLOWED: Readonly<Record<Profile, RegExp>> = { service: /^[A-Za-z0-9,._-]+$/, openid: /^[\x20-\x7e]+$/ };

/** May an error bring this state back? Also one that is refused: clients find their request by it (RFC 6749 section 4.1.2.1). */
export const isReturnable = (state: string): boolean => ALLOWED.openid.test(state);

/**
 * @param state as it came
 * @throws {errors.InvalidRequest}
 */
export function checkState(state: string | undefined, profile: Profile): void {
  if (state === undefined || state === '') {
    if (profile === 'openid') return;
    throw new errors.InvalidRequest(`missing required parameter state${NEEDS_OPENID}`);
  }
  if (!ALLOWED[profile].test(state))
    throw new errors.InvalidRequest(
      `the parameter state contains characters that are not allowed${profile === 'service' && isReturnable(state) ? NEEDS_OPENID : ''}`,
    );
}

const NEEDS_OPENID = ' (profile openid of the application or the authorization server accepts this client)';
