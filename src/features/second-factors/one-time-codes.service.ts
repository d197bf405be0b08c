/**
 * Codes of authenticator apps (TOTP, RFC 6238: SHA-1, six digits, steps of 30 seconds, which all apps support), and recovery codes for users who have
 * lost their factor: ten, shown once, stored as digests; each works for one sign-in.
 */

import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { present } from '../../platform/clock/clock.ts';
import { digest, type Keyring } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import { consumeRecoveryCode, replaceRecoveryCodes } from './factors.store.ts';

const STEP = 30;
const SHAPE = { algorithm: 'SHA1', digits: 6, period: STEP } as const;
/** Steps before and after the present one, for clocks that differ (RFC 6238 section 5.2). */
const WINDOW = 1;

/** 160 bits, as RFC 4226 section 4 recommends. @returns base32 (RFC 4648) */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** @param place ID of the row that contains it */
export const totpSecretContext = (place: string): string => `totp ${place}`;
export const sealTotpSecret = (keyring: Keyring, secret: string, place: string): string => keyring.seal(secret, totpSecretContext(place));
export const openTotpSecret = (keyring: Keyring, sealed: string, place: string): string => keyring.open(sealed, totpSecretContext(place));

/** URI for the QR code ("Key Uri Format" of Google Authenticator). */
export const totpUri = (secret: string, { issuer, login }: { readonly issuer: string; readonly login: string }): string =>
  new TOTP({ ...SHAPE, issuer: withoutColon(issuer), label: withoutColon(login), secret: Secret.fromBase32(secret) }).toString();

/** A colon separates the two and must not occur in them. */
const withoutColon = (name: string): string => name.replaceAll(':', '');

/** @param code as typed: spaces are ignored @returns the code's time step; undefined if it is not currently valid */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = new TOTP({ ...SHAPE, secret: Secret.fromBase32(secret) }).validate({ token, timestamp: now.getTime(), window: WINDOW });
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / STEP) + delta;
}

// Recovery codes.

const HOW_MANY = 10;
/** Crockford's base 32, without letters that are easily confused. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 80 bits: too many to guess from a digest. */
const LENGTH = 16;

const newCode = (): string => Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
const grouped = (code: string): string => code.replace(/.{4}(?=.)/g, '$&-');

/** Ignores case and dashes, and accepts letters that look like digits. */
const hashOf = (typed: string): string =>
  digest(`recovery code ${typed.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')}`);

/** Creates new codes that replace the user's former ones. @returns the codes, shown only this once */
export async function newRecoveryCodes(trx: Executor, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: HOW_MANY }, newCode);
  await replaceRecoveryCodes(trx, userId, codes.map(hashOf), present());
  return codes.map(grouped);
}

/** Uses a code up. @returns false when it is none of the user's, or was used before */
export const useRecoveryCode = (trx: Executor, userId: string, typed: string): Promise<boolean> =>
  consumeRecoveryCode(trx, userId, hashOf(typed));
