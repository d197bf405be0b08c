/** Adds the reason of `invalid_grant` for the application (RFC 6749 section 5.2), which oidc-provider does not report. */

import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { minuteOf } from '../storage/row-keys.ts';

const OTHERS = 'client mismatch';
const EXPIRED = 'authorization code is expired';

/** By the error detail of oidc-provider and of this service. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'authorization code not found': 'the authorization code does not exist, or was issued by another authorization server',
  [EXPIRED]: 'the authorization code has expired',
  'authorization code already consumed': 'the authorization code was already used. Tokens issued for it are revoked',
  'authorization code redirect_uri mismatch': 'redirect_uri must be the same as in the authorization request',
  'code_verifier must be provided': 'code_verifier is missing: the authorization request had a code_challenge',
  'code_verifier does not match code_challenge':
    'code_verifier is wrong: it does not match the code_challenge of the authorization request',
  'unsupported code_challenge_method': 'code_verifier cannot be used: the authorization request had no code_challenge',
  'refresh token not found': 'the refresh token does not exist: it has expired, was revoked, or was issued by another authorization server',
  'refresh token is expired': 'the refresh token has expired',
  'refresh token already used': 'the refresh token was already used. All tokens of this sign-in are revoked',
  'used by a parallel request': 'the code or token was just used by another request, or revoked',
  'grant not found': 'the code or token was revoked',
  'grant is expired': 'the code or token was revoked',
  'the user name or the password is wrong': 'the user name or the password is wrong',
  'the user can no longer sign in': 'the user can no longer sign in',
  'DPoP proof JWT not provided': 'the application must send a DPoP proof: its access tokens are bound to a key (dpop_bound_access_tokens)',
  'missing DPoP proof JWT': 'a DPoP proof is missing: the authorization request had a dpop_jkt',
  'DPoP proof key thumbprint does not match dpop_jkt':
    'the DPoP proof must be signed with the key of the dpop_jkt of the authorization request',
  'DPoP proof JWT Replay detected': 'the DPoP proof was already used. Create a new one for each request',
  'mutual TLS client certificate not provided': 'a client certificate is missing: the tokens of the application are bound to one',
  'failed x5t#S256 verification': 'the refresh token is bound to another certificate',
  'failed jkt verification': 'the refresh token is bound to a key. Send a DPoP proof signed with that key',
  [OTHERS]: 'the code or token was issued to another application',
};

/** Adds the reason to the error. Unauthenticated clients learn nothing about values of others. */
export function explainGrantError({ oidc }: KoaContextWithOIDC, error: unknown): void {
  if (!(error instanceof errors.InvalidGrant)) return;
  const { error_detail: detail = '' } = error;
  if (detail === OTHERS && oidc.client?.clientAuthMethod === 'none') return;
  const reason = detail === 'authorization code not found' && isOld(oidc.params?.code) ? EXPIRED : detail;
  error.error_description = DESCRIPTIONS[reason] ?? error.error_description;
}

/** Expired codes are no longer stored; the minute in the code shows that it is old. */
const isOld = (code: unknown): boolean =>
  epochSeconds() >= (minuteOf(String(code)) ?? Number.POSITIVE_INFINITY) + LIFETIMES.authorizationCode;
