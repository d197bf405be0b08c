/**
 * Signatures of cookies, as the package keygrip makes them (HMAC-SHA1, base64url), which koa's cookies take in its place: of its time it spends most on
 * comparing two texts by two further HMACs under a random key.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

export interface CookieSignatures {
  sign(data: string): string;
  /** @returns which of the keys has signed it, the newest being 0; -1: none */
  index(data: string, signature: string): number;
  verify(data: string, signature: string): boolean;
}

/** @param keys the newest first */
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
