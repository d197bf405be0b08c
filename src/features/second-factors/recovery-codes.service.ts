/** Recovery codes for users who have lost their factor: ten, shown once, stored as digests; each works for one sign-in. */
import { randomInt } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import { consumeRecoveryCode, replaceRecoveryCodes } from './factors.store.ts';

const HOW_MANY = 10;
/** Crockford's base 32: no letter that is taken for another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 80 bits: too many to guess from a digest. */
const LENGTH = 16;

const newCode = (): string => Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
const grouped = (code: string): string => code.replace(/.{4}(?=.)/g, '$&-');

/** Ignores case and dashes, and accepts letters that look like digits. */
const hashOf = (typed: string): string =>
  digest(`recovery code ${typed.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')}`);

/** Makes new ones in place of those the user had. @returns as they are shown, this once */
export async function newRecoveryCodes(trx: Executor, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: HOW_MANY }, newCode);
  await replaceRecoveryCodes(trx, userId, codes.map(hashOf), present());
  return codes.map(grouped);
}

/** Uses a code up. @returns false when it is none of the user's, or was used before */
export const useRecoveryCode = (trx: Executor, userId: string, typed: string): Promise<boolean> =>
  consumeRecoveryCode(trx, userId, hashOf(typed));
