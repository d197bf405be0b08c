/** Credentials in the Authorization header. Every endpoint uses these functions. */

/** @returns the token of `Authorization: Bearer …` (RFC 6750 section 2.1); undefined for anything else */
export const bearerToken = (header = ''): string | undefined => /^Bearer (\S+)$/i.exec(header)?.[1];

/** @returns the token of `Authorization: Bearer …` or `DPoP …` (RFC 9449 section 7.1); undefined for anything else */
export const presentedToken = (header = ''): string | undefined => /^(?:Bearer|DPoP) (\S+)$/i.exec(header)?.[1];

/** @returns the decoded text of `Authorization: Basic …` (RFC 7617 section 2); undefined for anything else. Padding may be missing */
export function basicCredentials(header = ''): string | undefined {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header) ?? [];
  const decoded = Buffer.from(encoded, 'base64');
  const canonical = decoded.toString('base64');
  return encoded !== '' && [canonical, canonical.replace(/=+$/, '')].includes(encoded) ? decoded.toString('utf8') : undefined;
}
