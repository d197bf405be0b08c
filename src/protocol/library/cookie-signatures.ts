/**
 * Signatures of cookies, compatible with the package keygrip (HMAC-SHA1, base64url), which koa's cookies would use. Keygrip spends most of
 * its time on comparing two texts by two further HMACs under a random key.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

export interface CookieSignatures {
  sign(data: string): string;
  /** @returns index of the key that made the signature, 0 is the newest; -1: none */
  index(data: string, signature: string): number;
  verify(data: string, signature: string): boolean;
}

/** @param keys newest first */
export function cookieSignatures(keys: readonly string[]): CookieSignatures {
  const secrets = keys.map((key) => createSecretKey(key, 'utf8'));
  const [newest] = secrets;
  if (newest === undefined) throw new Error('cookies cannot be signed without a key');
  const signed = (data: string, secret: typeof newest) => createHmac('sha1', secret).update(data).digest('base64url');
  const index = (data: string, signature: string) => {
    const presented = Buffer.from(signature);
    return secrets.findIndex((secret) => {
      const right = Buffer.from(signed(data, secret));
      return right.length === presented.length && timingSafeEqual(right, presented);
    });
  };
  return { sign: (data) => signed(data, newest), index, verify: (data, signature) => index(data, signature) >= 0 };
}
