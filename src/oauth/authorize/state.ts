/** The state parameter: required on every request, of letters, digits, comma, period, underscore and hyphen (RFC 6749 section 10.12). */
import { errors } from 'oidc-provider';

/** A server's profile: `openid` relaxes the rule to OpenID Connect Core's, optional and any VSCHAR (RFC 6749 appendix A.5). */
export type Profile = 'service' | 'openid';

const ALLOWED: Readonly<Record<Profile, RegExp>> = { service: /^[A-Za-z0-9,._-]+$/, openid: /^[\x20-\x7e]+$/ };

/** May a request carry this state, and an answer bring it back? */
export const isStateAllowed = (state: string, profile: Profile): boolean => ALLOWED[profile].test(state);

/**
 * @param state as it came
 * @throws {errors.InvalidRequest}
 */
export function checkState(state: string | undefined, profile: Profile): void {
  if (state === undefined || state === '') {
    if (profile === 'openid') return;
    throw new errors.InvalidRequest('missing required parameter state');
  }
  if (!isStateAllowed(state, profile)) throw new errors.InvalidRequest('the parameter state contains characters that are not allowed');
}
