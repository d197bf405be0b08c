/** The state parameter: required on every request, of letters, digits, comma, period, underscore and hyphen (RFC 6749 section 10.12). */
import { errors } from 'oidc-provider';

const STATE = /^[A-Za-z0-9,._-]+$/;
/** RFC 6749 appendix A.5: any visible ASCII character and space. */
const ANY_STATE = /^[\x20-\x7e]+$/;

/**
 * @param profile `openid` relaxes the rule to OpenID Connect Core's: optional, any VSCHAR
 * @throws {errors.InvalidRequest}
 */
export function checkState(state: unknown, profile: 'service' | 'openid'): void {
  if (typeof state !== 'string' || state === '') {
    if (profile === 'openid') return;
    throw new errors.InvalidRequest('missing required parameter state');
  }
  if (!(profile === 'openid' ? ANY_STATE : STATE).test(state))
    throw new errors.InvalidRequest('the parameter state contains characters that are not allowed');
}

/** May this state be sent back? One that breaks the rule is not echoed. */
export const isEchoable = (state: unknown): state is string => typeof state === 'string' && STATE.test(state);
