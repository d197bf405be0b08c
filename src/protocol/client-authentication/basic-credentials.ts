/**
 * The credentials of a `Basic` header as oidc-provider can read them. RFC 6749 section 2.3.1 wants both parts form-encoded, and most HTTP
 * libraries send them as they are: both readings are tried.
 */
import type { IncomingMessage } from 'node:http';
import { randomToken } from '../../platform/crypto/secrets.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

const literalSecrets = new WeakMap<IncomingMessage, string>();

/** The secret as it stands in the header, where that is not the secret as it is decoded. */
export const literalSecret = (req: IncomingMessage): string | undefined => literalSecrets.get(req);

/** Replaces credentials that oidc-provider would call malformed, and notes the literal reading of the secret. Call before the library reads the header. */
export function prepareBasic({ req }: Pick<KoaContextWithOIDC, 'req'>): void {
  const [, encoded = ''] = /^basic (\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded, 'base64');
  // What is no base64 stays what it is: malformed.
  if (![decoded.toString('base64'), decoded.toString('base64').replace(/=+$/, '')].includes(encoded)) return;
  const [, id = '', secret = ''] = /^([^:]+):(.*)$/s.exec(decoded.toString('utf8')) ?? [];
  if (id === '') return;
  // An id without a secret is a wrong secret: one that nobody has answers, and counts, as any wrong one.
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
