/** The form in which user codes of devices are stored and looked up. They are short: a reader of the table could guess them from a bare hash. */
import { createHmac } from 'node:crypto';
import type { Keyring } from '../../platform/crypto/secrets.ts';

/**
 * @param userCode in capital letters, without hyphens
 * @returns HMAC-SHA-256, base64url, under each key of SECRET_KEY; the first is stored
 */
export function userCodeDigests(keyring: Keyring, userCode: string): readonly [stored: string, ...older: string[]] {
  const [newest, ...older] = keyring.keysOf('user codes of devices');
  const digestUnder = (key: Buffer): string => createHmac('sha256', key).update(userCode).digest('base64url');
  return [digestUnder(newest), ...older.map(digestUnder)];
}
