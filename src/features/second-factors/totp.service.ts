/** Codes of authenticator apps (TOTP, RFC 6238): SHA-1, six digits, steps of 30 seconds, which is what every app knows. Which code was used is kept in the store. */
import { Secret, TOTP } from 'otpauth';
import type { Keyring } from '../../platform/crypto/secrets.ts';

const STEP = 30;
const SHAPE = { algorithm: 'SHA1', digits: 6, period: STEP } as const;
/** Steps before and after the present one, for clocks that differ (RFC 6238 section 5.2). */
const WINDOW = 1;

/** 160 bits, as RFC 4226 section 4 recommends. @returns base32 (RFC 4648) */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** @param place the id of the row that holds it */
export const totpSecretContext = (place: string): string => `totp ${place}`;
export const sealTotpSecret = (keyring: Keyring, secret: string, place: string): string => keyring.seal(secret, totpSecretContext(place));
export const openTotpSecret = (keyring: Keyring, sealed: string, place: string): string => keyring.open(sealed, totpSecretContext(place));

/** URI for the QR code ("Key Uri Format" of Google Authenticator). */
export const totpUri = (secret: string, { issuer, login }: { readonly issuer: string; readonly login: string }): string =>
  new TOTP({ ...SHAPE, issuer: withoutColon(issuer), label: withoutColon(login), secret: Secret.fromBase32(secret) }).toString();

/** A colon separates the two and must not occur in them. */
const withoutColon = (name: string): string => name.replaceAll(':', '');

/** @param code as typed: spaces do not count @returns the time step that the code belongs to; undefined when it is none of now */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = new TOTP({ ...SHAPE, secret: Secret.fromBase32(secret) }).validate({ token, timestamp: now.getTime(), window: WINDOW });
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / STEP) + delta;
}
