/**
 * Storage of secrets: values that are only compared are stored as SHA-256 (RFC 6819 section 5.1.4.1.3). Values that are needed again
 * (client secrets, private keys) are encrypted with AES-256-GCM under SECRET_KEY. Cookie keys are derived from it.
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Compares secrets in constant time, regardless of their lengths. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

/**
 * The form in which a bearer value (session ID, API token, link) is stored and looked up: SHA-256, base64url. Tokens and codes:
 * protocol/storage/row-keys.ts.
 */
export const digest = (value: string): string => hash('sha256', value, 'base64url');

/** @returns an unguessable value of 256 bits, base64url */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** @returns `length` characters of base62 without bias; 20 of them have 119 bits */
export function randomBase62(length: number): string {
  let out = '';
  while (out.length < length) {
    // 248 is the largest multiple of 62 below 256: larger bytes would favour the first characters.
    for (const byte of randomBytes(length)) if (byte < 248 && out.length < length) out += BASE62[byte % 62];
  }
  return out;
}

/** An ID of the API, e.g. `org_` and 20 base62 characters. */
export const newId = (prefix: string): string => `${prefix}_${randomBase62(20)}`;

/** Keys of one purpose, newest first: the newest creates values, all verify them. */
export type Keys = readonly [newest: Buffer, ...older: Buffer[]];

/** @returns the keys of a SECRET_KEY, 32 bytes each, newest first; undefined if it is invalid */
export function readSecretKeys(text: string): readonly Buffer[] | undefined {
  const keys = text.split(',').map((part) => part.trim());
  return keys.every((key) => /^[A-Za-z0-9_-]{43}=?$/.test(key)) ? keys.map((key) => Buffer.from(key, 'base64url')) : undefined;
}

/** Fewer than one in a billion random keys of 32 bytes have fewer different bytes. */
const FEWEST_DIFFERENT = 20;

/** Was this key chosen by a human, such as 43 times `A`, so that it can be guessed? */
export const looksGuessable = (key: Buffer): boolean => new Set(key).size < FEWEST_DIFFERENT;

/** Seals and opens values at rest. The first key seals; all keys open, so that keys can be rotated. */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #secrets: readonly Buffer[];
  readonly #newest: Buffer;
  readonly #sealing: { id: string; key: Buffer };
  /** Keys that sign cookies, newest first. */
  readonly cookieKeys: readonly string[];

  /** @param secrets 32 bytes each, newest first */
  constructor(secrets: readonly Buffer[]) {
    const derived = secrets.map((secret) => ({ id: keyId(secret), key: derive(secret, 'gatehouse sealing') }));
    const [newest] = secrets;
    const [sealing] = derived;
    if (newest === undefined || sealing === undefined) throw new Error('a keyring needs a key');
    this.#secrets = secrets;
    this.#newest = newest;
    this.#sealing = sealing;
    this.#keys = new Map(derived.map(({ id, key }) => [id, key]));
    this.cookieKeys = secrets.map((secret) => derive(secret, 'gatehouse cookies').toString('base64url'));
  }

  /** The ID of the newest secret, which seals values. */
  get id(): string {
    return this.#sealing.id;
  }

  /** The IDs of the secrets in sealed values, newest first. */
  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** @returns keys of 32 bytes for one purpose, derived from the secrets (HKDF, RFC 5869) */
  keysOf(purpose: string): Keys {
    const [, ...older] = this.#secrets;
    return [derive(this.#newest, purpose), ...older.map((secret) => derive(secret, purpose))];
  }

  /** For signed values that must be verified after a rotation: the keys of one purpose by the IDs of their secrets, newest first. */
  keysFor(purpose: string): ReadonlyMap<string, Buffer> {
    return new Map(this.#secrets.map((secret) => [keyId(secret), derive(secret, purpose)]));
  }

  /**
   * Encrypts a value (AES-256-GCM, a new nonce each time).
   * @param context identifies where the value is stored, e.g. its row's ID: it cannot be opened in another place
   */
  seal(plain: string, context: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#sealing.key, nonce).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return `v1.${this.#sealing.id}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')}`;
  }

  /** @throws the value was sealed with an unknown key or for another context, or was altered */
  open(sealed: string, context: string): string {
    const [version, id = '', data = ''] = sealed.split('.');
    const key = this.#keys.get(id);
    if (version !== 'v1' || key === undefined)
      throw new Error(
        'a stored secret cannot be decrypted: SECRET_KEY does not have the key that encrypted it. Add the old key to SECRET_KEY',
      );
    const bytes = Buffer.from(data, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8');
  }
}

const derive = (secret: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'gatehouse', purpose, 32));
const keyId = (secret: Buffer): string => derive(secret, 'gatehouse key id').toString('base64url').slice(0, 8);
