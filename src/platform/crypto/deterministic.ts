/**
 * Deterministic encryption of short texts: an HMAC of the text is the initialization vector of AES in counter mode, and its authentication tag (the
 * SIV construction of Rogaway and Shrimpton, which RFC 5297 builds on AES alone). The same text under the same key is the same value.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const VECTOR_BYTES = 16;

const subkey = (key: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));

const vectorOf = (key: Buffer, context: string, text: string): Buffer =>
  createHmac('sha256', subkey(key, 'vector'))
    .update(JSON.stringify([context, text]))
    .digest()
    .subarray(0, VECTOR_BYTES);

/**
 * @param key 32 random bytes
 * @param context needed to decrypt the value; in another context the same text has another value
 * @returns base64url
 */
export function encryptDeterministically(key: Buffer, context: string, text: string): string {
  const vector = vectorOf(key, context, text);
  const cipher = createCipheriv('aes-256-ctr', subkey(key, 'content'), vector);
  return Buffer.concat([vector, cipher.update(text, 'utf8'), cipher.final()]).toString('base64url');
}

/** @returns undefined if the value was not created with this key and context */
export function decryptDeterministically(key: Buffer, context: string, value: string): string | undefined {
  const bytes = Buffer.from(value, 'base64url');
  if (bytes.length <= VECTOR_BYTES || bytes.toString('base64url') !== value) return undefined;
  const vector = bytes.subarray(0, VECTOR_BYTES);
  const decipher = createDecipheriv('aes-256-ctr', subkey(key, 'content'), vector);
  const text = Buffer.concat([decipher.update(bytes.subarray(VECTOR_BYTES)), decipher.final()]).toString('utf8');
  return timingSafeEqual(vectorOf(key, context, text), vector) ? text : undefined;
}
