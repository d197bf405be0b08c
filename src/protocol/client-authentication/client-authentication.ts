/**
 * Prepares client authentication for oidc-provider. RFC 6749 section 2.3.1 requires both parts of a `Basic` header to be form-encoded, but
 * most HTTP libraries send them as they are, so both readings are tried. Assertions (RFC 7523) may have a type.
 */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { basicCredentials } from '../servers/credentials.ts';
import { ROUTES } from '../servers/endpoints.ts';
import { CLOCK_OFFSET, isFromFuture } from '../token/clock-offset.ts';

// Does a certificate have the subject that an application registered (RFC 8705 section 2.1.2)? One of five properties, compared character
// by character.

const ALTERNATIVE_NAMES: Readonly<Record<string, string>> = {
  tls_client_auth_san_dns: 'DNS',
  tls_client_auth_san_uri: 'URI',
  tls_client_auth_san_ip: 'IP Address',
  tls_client_auth_san_email: 'email',
};

/** @param property name in the client's metadata @param expected its value */
export function namesSubject(certificate: X509Certificate, property: string, expected: string): boolean {
  if (property === 'tls_client_auth_subject_dn') return sameName(certificate.subject, expected);
  const kind = ALTERNATIVE_NAMES[property];
  if (kind === undefined) return false;
  // Node quotes a value that could be read as several values. It then equals nothing.
  const names = (certificate.subjectAltName ?? '').match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  const values = names.map((name) => name.trim()).flatMap((name) => (name.startsWith(`${kind}:`) ? [name.slice(kind.length + 1)] : []));
  if (kind === 'IP Address') return values.some((value) => sameAddress(value, expected));
  const fold = (value: string) => (kind === 'DNS' ? value.toLowerCase() : value);
  return values.some((value) => fold(value) === fold(expected));
}

const sameAddress = (a: string, b: string): boolean =>
  ipaddr.isValid(a) && ipaddr.isValid(b) && ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();

/**
 * @param subject in Node's format: one part per line, most general first
 * @param expected RFC 4514: parts separated by commas, most general last
 */
function sameName(subject: string, expected: string): boolean {
  const parts = (expected.match(/(?:[^,\\]|\\.)+/g) ?? []).map(normal).reverse();
  return parts.join('\n') === subject.split('\n').map(normal).join('\n');
}

/** Attribute types are case-insensitive; spaces around parts are ignored. */
function normal(part: string): string {
  const [, type = '', value = ''] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
  return `${type.toUpperCase()}=${value}`;
}

const literalSecrets = new WeakMap<IncomingMessage, string>();

/** The raw secret of the header, if it differs from the decoded one. */
export const literalSecret = (req: IncomingMessage): string | undefined => literalSecrets.get(req);

/**
 * Replaces credentials that oidc-provider would reject as malformed, and keeps the literal reading of the secret. Call before the library
 * reads the header.
 */
export function prepareBasic({ req }: Pick<KoaContextWithOIDC, 'req'>): void {
  const [, id = '', secret = ''] = /^([^:]+):(.*)$/s.exec(basicCredentials(req.headers.authorization) ?? '') ?? [];
  if (id === '') return;
  // An ID without a secret is handled, and counted, as a wrong secret.
  const written = secret === '' ? randomToken() : secret;
  const readable = [id, written].map((part) => (isFormEncoded(part) ? part : encodeURIComponent(part)));
  if (isFormEncoded(written) && /[%+]/.test(written)) literalSecrets.set(req, written);
  req.headers.authorization = `Basic ${Buffer.from(readable.join(':')).toString('base64')}`;
}

function isFormEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** Accepted audiences of a client assertion. RFC 9126 section 2 adds the pushed authorization request endpoint. @param path below the issuer */
export function assertionAudiences(
  { strictAssertionAudience }: Pick<Config, 'strictAssertionAudience'>,
  issuer: string,
  path: string,
): string[] {
  const endpoints = path === ROUTES.pushed_authorization_request ? [ROUTES.token, path] : [ROUTES.token];
  return strictAssertionAudience ? [issuer] : [issuer, ...endpoints.map((endpoint) => issuer + endpoint)];
}

const verified = new WeakSet<object>();

/** Records that the library has verified the request's assertion. */
export const noteAssertion = (ctx: object): void => void verified.add(ctx);

/** Clock tolerance in seconds: only for client assertions that the library has not verified yet. */
export const clockTolerance = (ctx: KoaContextWithOIDC | undefined): number =>
  ctx?.oidc?.params?.client_assertion === undefined || verified.has(ctx) ? 0 : CLOCK_OFFSET;

/** Maximum seconds until an assertion expires, and how long it is remembered. */
const LONGEST_LIFE = 86_400;

interface AssertionClaims {
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly iat?: unknown;
}

const TYPES: readonly unknown[] = [undefined, 'JWT', 'client-authentication+jwt'];

/**
 * Requires this server as the only audience. With a second audience, the other server could present the assertion here (CVE-2025-27370).
 * @param audiences accepted: the issuer, and the token endpoint where that is allowed
 * @param claims of the assertion
 * @param type the header `typ`; other kinds of tokens must not serve as assertions
 * @throws {errors.InvalidClientAuth}
 */
export function checkAssertion(audiences: readonly string[], { aud, exp, iat }: AssertionClaims, type: unknown): void {
  const [only, ...others] = [aud].flat();
  if (others.length > 0 || !audiences.includes(only as string))
    throw new errors.InvalidClientAuth(`the client assertion must have one audience: ${audiences.join(' or ')}`);
  if (!TYPES.includes(type))
    throw new errors.InvalidClientAuth('the typ of the client assertion must be JWT, client-authentication+jwt or absent');
  // The library applies its clock tolerance to the expiry as well. Expiry gets no tolerance here.
  if (Number(exp) <= epochSeconds()) throw new errors.InvalidClientAuth('the client assertion has expired');
  if (isFromFuture(iat, epochSeconds()))
    throw new errors.InvalidClientAuth('the iat of the client assertion is in the future. Check the clock of the application');
  if (Number(exp) > epochSeconds() + LONGEST_LIFE)
    throw new errors.InvalidClientAuth('the client assertion is valid for too long. Use an earlier exp');
}
