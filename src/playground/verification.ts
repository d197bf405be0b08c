/**
 * Checks of an application before it trusts a token: signature, issuer, audience, time (RFC 7519 section 7.2), nonce and hashes (OpenID Connect Core
 * 1.0 sections 3.1.3.7, 3.2.2.11 and 3.3.2.11), and RFC 9068 section 4 for access tokens. openid-client does not support the implicit and hybrid
 * flows, so jose is used for all seven response types, check by check for display.
 */
import { createHash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { present } from '../platform/clock/clock.ts';
import { phrase, type Text } from '../platform/i18n/phrase.ts';

export interface Check {
  readonly passed: boolean;
  readonly label: Text;
  readonly source: string;
}

/** The parts of a JWT; an opaque token has none. */
export interface Decoded {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: JWTPayload;
}

/** @returns undefined if the token is not a JWT */
export function decodeToken(token: string): Decoded | undefined {
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: decodeJwt(token) };
  } catch (error) {
    // jose reports a value that is not a JWT as a TypeError or as an error of its own.
    if (error instanceof TypeError || error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** at_hash and c_hash: the left half of the hash that the token's algorithm uses, SHA-512 for EdDSA and SHA-256 for the others. */
function halfHash(alg: unknown, value: string): string {
  const hash = createHash(alg === 'EdDSA' ? 'sha512' : 'sha256')
    .update(value)
    .digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}

async function signatureCheck(token: string, keys: JWTVerifyGetKey, options: { issuer: string; audience?: string }): Promise<Check> {
  const what = phrase(options.audience === undefined ? 'signature, issuer and time' : 'signature, issuer, audience and time');
  const source = 'RFC 7519, section 7.2';
  try {
    await jwtVerify(token, keys, { ...options, currentDate: present() });
    return { passed: true, label: phrase('{what} are right', { what }), source };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { passed: false, label: 'it has expired', source: 'RFC 7519, section 4.1.4' };
    if (error instanceof errors.JOSEError)
      return { passed: false, label: phrase('{what}: {reason}', { what, reason: error.message }), source };
    // The keys come over the network.
    if (error instanceof TypeError) return { passed: false, label: 'the keys of the server could not be fetched', source };
    throw error;
  }
}

export interface IdTokenContext {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  readonly keys: JWTVerifyGetKey;
  /** Values received with the ID token that it must be bound to. */
  readonly accessToken?: string | undefined;
  readonly code?: string | undefined;
}

/** @param isRenewed came from a refresh, which need not repeat the nonce (OpenID Connect Core section 12.2) */
export async function checkIdToken(token: string, isRenewed: boolean, context: IdTokenContext): Promise<Check[]> {
  const { header, claims } = decodeToken(token) ?? {};
  const checks = [await signatureCheck(token, context.keys, { issuer: context.issuer, audience: context.clientId })];
  if (!isRenewed || claims?.nonce !== undefined) {
    const passed = claims?.nonce === context.nonce;
    checks.push({
      passed,
      label: passed ? 'nonce is the one that was sent' : 'nonce is not the one that was sent',
      source: 'OpenID Connect Core 1.0, section 3.1.3.7',
    });
  }
  for (const [claim, value, section, right, wrong] of [
    ['at_hash', context.accessToken, '3.2.2.9', 'at_hash matches the access token', 'at_hash does not match the access token'],
    ['c_hash', context.code, '3.3.2.10', 'c_hash matches the code', 'c_hash does not match the code'],
  ] as const) {
    if (value === undefined || claims?.[claim] === undefined) continue;
    const passed = claims[claim] === halfHash(header?.alg, value);
    checks.push({
      passed,
      label: passed ? right : wrong,
      source: `OpenID Connect Core 1.0, section ${section}`,
    });
  }
  return checks;
}

/** The checks of an API that the application can make too: signature and issuer. None for an opaque token. */
export async function checkAccessToken(token: string, { issuer, keys }: Pick<IdTokenContext, 'issuer' | 'keys'>): Promise<Check[]> {
  return decodeToken(token) === undefined ? [] : [await signatureCheck(token, keys, { issuer })];
}
