/**
 * Passwords that another service hashed and that come along with their users: which hashes are taken, as Okta's Users API writes them
 * ("Create user with imported hashed password"), how they are stored, and how a password is compared with them. bcrypt, PBKDF2 (RFC 8018
 * section 5.2) and salted SHA-2; unsalted digests, MD5 and SHA-1 are not taken. They last until the next sign-in, which hashes again.
 */
import { createHash, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { z } from 'zod';

/** What a hash may cost: about a second of one core, at most. A dearer one would let anybody who knows the login occupy the service. */
const MOST = { bcryptWorkFactor: 14, pbkdf2Iterations: 1_500_000 };

const FEWEST_KEY_BYTES = 16;
/** Bytes of the digest: a longer key costs whom it belongs to more, and a guesser no more. */
const DIGEST_BYTES = { SHA256_HMAC: 32, SHA512_HMAC: 64 };
const MOST_KEY_BYTES = DIGEST_BYTES.SHA512_HMAC;

/** Bytes in base64 (RFC 4648 section 4, with padding). */
const bytes = (least: number, most: number) =>
  z
    .base64({ error: 'must be base64, with padding' })
    .refine((value) => sizeOf(value) >= least && sizeOf(value) <= most, least === most ? mustBe(least) : mustBe(`${least} to ${most}`));

const mustBe = (size: number | string): string => `must be ${size} bytes in base64`;
const sizeOf = (value: string): number => Buffer.from(value, 'base64').length;
const salt = bytes(1, 512);

const bcrypt = z.strictObject({
  algorithm: z.literal('BCRYPT'),
  /** The logarithm of the rounds; bcrypt begins at 4. */
  workFactor: z.int().min(4).max(MOST.bcryptWorkFactor),
  // The last character holds fewer bits than it could. Where others are set, no implementation finds the password right.
  salt: z.string().regex(/^[./A-Za-z0-9]{21}[.Oeu]$/, "must be 22 characters of bcrypt's base64, 16 bytes"),
  value: z.string().regex(/^[./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/, "must be 31 characters of bcrypt's base64, 23 bytes"),
});

const pbkdf2Hash = z
  .strictObject({
    algorithm: z.literal('PBKDF2'),
    digestAlgorithm: z.enum(['SHA256_HMAC', 'SHA512_HMAC']),
    iterationCount: z.int().min(1).max(MOST.pbkdf2Iterations),
    /** Bytes. */
    keySize: z.int().min(FEWEST_KEY_BYTES).max(MOST_KEY_BYTES),
    salt,
    value: bytes(FEWEST_KEY_BYTES, MOST_KEY_BYTES),
  })
  .refine(({ keySize, digestAlgorithm }) => keySize <= DIGEST_BYTES[digestAlgorithm], {
    path: ['keySize'],
    error: 'must be at most the bytes of the digest: 32 with SHA256_HMAC, 64 with SHA512_HMAC',
  })
  .refine(({ keySize, value }) => sizeOf(value) === keySize, { path: ['value'], error: 'must be as many bytes as keySize says' });

const sha2 = <A extends string>(algorithm: A, size: number) =>
  z.strictObject({ algorithm: z.literal(algorithm), salt, saltOrder: z.enum(['PREFIX', 'POSTFIX']), value: bytes(size, size) });

/** `credentials.password.hash` of a user. */
export const importedHash = z.discriminatedUnion('algorithm', [bcrypt, pbkdf2Hash, sha2('SHA-256', 32), sha2('SHA-512', 64)], {
  error: ({ code }) => (code === 'invalid_union' ? 'must be BCRYPT, PBKDF2, SHA-256 or SHA-512' : undefined),
});

export type ImportedHash = z.output<typeof importedHash>;

/** @returns the hash as it is stored with the user, in the manner of PHC strings */
export function encodeImportedHash(hash: ImportedHash): string {
  switch (hash.algorithm) {
    case 'BCRYPT':
      return `$2b$${String(hash.workFactor).padStart(2, '0')}$${hash.salt}${hash.value}`;
    case 'PBKDF2':
      return `$pbkdf2-${hash.digestAlgorithm === 'SHA256_HMAC' ? 'sha256' : 'sha512'}$i=${hash.iterationCount}$${hash.salt}$${hash.value}`;
    default:
      return `$${hash.algorithm === 'SHA-256' ? 'sha256' : 'sha512'}$o=${hash.saltOrder.toLowerCase()}$${hash.salt}$${hash.value}`;
  }
}

const derive = promisify(pbkdf2);

/**
 * Compares a password with a stored hash of `encodeImportedHash`. The other service hashed what was typed as it was typed; here it may have
 * been typed on a keyboard that composes characters differently, so the composed form is tried as well. bcrypt knows 72 bytes, no more.
 * @throws when the stored string is no such hash
 */
export async function verifyImportedHash(stored: string, password: string): Promise<boolean> {
  const composed = password.normalize('NFC');
  if (await matches(stored, password)) return true;
  return composed !== password && (await matches(stored, composed));
}

async function matches(stored: string, password: string): Promise<boolean> {
  if (stored.startsWith('$2b$')) return verifyBcrypt(password, stored);
  const [, scheme = '', parameter = '', salt64 = '', value64 = ''] = stored.split('$');
  const [saltBytes, value] = [Buffer.from(salt64, 'base64'), Buffer.from(value64, 'base64')];
  const parameterValue = parameter.slice(2);
  switch (scheme) {
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return timingSafeEqual(
        value,
        await derive(password, saltBytes, Number(parameterValue), value.length, scheme.slice('pbkdf2-'.length)),
      );
    case 'sha256':
    case 'sha512': {
      const parts = parameterValue === 'prefix' ? [saltBytes, Buffer.from(password)] : [Buffer.from(password), saltBytes];
      return timingSafeEqual(value, createHash(scheme).update(Buffer.concat(parts)).digest());
    }
    default:
      throw new Error('a stored password hash is of no known kind');
  }
}
