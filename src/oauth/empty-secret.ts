/**
 * `Basic` with an application's id and no secret: credentials that are wrong (RFC 6749 section 5.2, `invalid_client`), where oidc-provider sees a header
 * that is malformed. It is given a secret that nobody has, and answers, and counts, as for any wrong one.
 */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { randomToken } from '../secrets.ts';

const COLON = ':'.charCodeAt(0);

export function fillEmptySecret({ req }: KoaContextWithOIDC): void {
  const [, encoded = ''] = /^basic (\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded, 'base64');
  if (decoded.at(-1) !== COLON) return;
  // What is no base64 stays what it is: malformed.
  if (![decoded.toString('base64'), decoded.toString('base64').replace(/=+$/, '')].includes(encoded)) return;
  const credentials = decoded.toString('utf8');
  if (credentials.length < 2 || credentials.indexOf(':') !== credentials.length - 1) return;
  req.headers.authorization = `Basic ${Buffer.from(credentials + randomToken()).toString('base64')}`;
}
