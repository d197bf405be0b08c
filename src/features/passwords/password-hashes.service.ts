/**
 * Password hashes of other services, imported with their users: the accepted kinds, in the format of Okta's Users API ("Create user with imported
 * hashed password") with additional kinds, and their storage. bcrypt, PBKDF2 (RFC 8018 section 5.2), Argon2 (RFC 9106), scrypt (RFC 7914), Firebase's
 * scrypt and salted SHA-2; unsalted digests, MD5 and SHA-1 are refused. They last until the next sign-in, which hashes the password again.
 */
import { z } from 'zod';
import { firebaseKeyStream } from './imported-passwords.service.ts';

/**
 * Maximum cost of a hash: about one second of one core and 128 MiB. With a more expensive hash, anyone who knows the user name could overload the
 * service.
 */
const MOST = {
  bcryptWorkFactor: 14,
  pbkdf2Iterations: 1_500_000,
  /** Bytes. */
  scryptMemory: 128 * 1024 * 1024,
  /** Cost × block size × parallelism. */
  scryptWork: 2 ** 21,
  /** KiB. */
  argon2Memory: 128 * 1024,
  /** KiB × iterations. */
  argon2Work: 1024 * 1024,
  parallelism: 16,
};

const FEWEST_KEY_BYTES = 16;
/** Bytes of the digest: longer keys slow down verification but not guessing. */
const DIGEST_BYTES = { SHA1_HMAC: 20, SHA256_HMAC: 32, SHA512_HMAC: 64 };
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
  /** The logarithm of the rounds; bcrypt requires at least 4. */
  workFactor: z.int().min(4).max(MOST.bcryptWorkFactor),
  // The last character has unused bits. If they are set, no implementation accepts the password.
  salt: z.string().regex(/^[./A-Za-z0-9]{21}[.Oeu]$/, 'must be 22 characters of bcrypt base64 (16 bytes)'),
  value: z.string().regex(/^[./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/, 'must be 31 characters of bcrypt base64 (23 bytes)'),
});

const pbkdf2Hash = z
  .strictObject({
    algorithm: z.literal('PBKDF2'),
    digestAlgorithm: z.enum(['SHA1_HMAC', 'SHA256_HMAC', 'SHA512_HMAC']),
    iterationCount: z.int().min(1).max(MOST.pbkdf2Iterations),
    /** Bytes. */
    keySize: z.int().min(FEWEST_KEY_BYTES).max(MOST_KEY_BYTES),
    salt,
    value: bytes(FEWEST_KEY_BYTES, MOST_KEY_BYTES),
  })
  .refine(({ keySize, digestAlgorithm }) => keySize <= DIGEST_BYTES[digestAlgorithm], {
    path: ['keySize'],
    error: 'must be at most 20 with SHA1_HMAC, 32 with SHA256_HMAC, 64 with SHA512_HMAC',
  })
  .refine(({ keySize, value }) => sizeOf(value) === keySize, { path: ['value'], error: 'must have keySize bytes' });

const sha2 = <A extends string>(algorithm: A, size: number) =>
  z.strictObject({ algorithm: z.literal(algorithm), salt, saltOrder: z.enum(['PREFIX', 'POSTFIX']), value: bytes(size, size) });

const argon2 = z
  .strictObject({
    algorithm: z.literal('ARGON2'),
    variant: z.enum(['id', 'i', 'd']),
    /** 19 is version 1.3, 16 version 1.0. */
    version: z.union([z.literal(19), z.literal(16)], { error: 'must be 19 or 16' }).default(19),
    /** KiB. */
    memory: z.int().min(8).max(MOST.argon2Memory),
    iterations: z.int().min(1).max(MOST.argon2Work),
    parallelism: z.int().min(1).max(MOST.parallelism),
    salt: bytes(8, 64),
    value: bytes(FEWEST_KEY_BYTES, MOST_KEY_BYTES),
  })
  .refine(({ memory, parallelism }) => memory >= 8 * parallelism, { path: ['memory'], error: 'must be at least 8 times parallelism' })
  .refine(({ memory, iterations }) => memory * iterations <= MOST.argon2Work, {
    path: ['iterations'],
    error: `must be at most ${MOST.argon2Work} divided by memory`,
  });

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));
/** RFC 7914 section 2: of a smaller block no larger cost; OpenSSL refuses to compute it. */
const fitsScrypt = (cost: number, blockSize: number, parallelism: number): boolean =>
  128 * cost * blockSize <= MOST.scryptMemory && cost * blockSize * parallelism <= MOST.scryptWork && cost < 2 ** (16 * blockSize);
const SCRYPT_COST = `must be at most 128 MiB of memory (128 × cost × block size) and ${MOST.scryptWork} of cost × block size × parallelism, and less than 65536 with block size 1`;

const scrypt = z
  .strictObject({
    algorithm: z.literal('SCRYPT'),
    /** N of RFC 7914. */
    cost: z.int().min(2).max(MOST.scryptWork).refine(isPowerOfTwo, 'must be a power of two'),
    blockSize: z.int().min(1).max(32),
    parallelism: z.int().min(1).max(MOST.parallelism),
    salt,
    value: bytes(FEWEST_KEY_BYTES, MOST_KEY_BYTES),
  })
  .refine(({ cost, blockSize, parallelism }) => fitsScrypt(cost, blockSize, parallelism), { path: ['cost'], error: SCRYPT_COST });

/** Firebase Authentication: the project's hash parameters and the user's salt and hash. */
const firebaseScrypt = z
  .strictObject({
    algorithm: z.literal('FIREBASE_SCRYPT'),
    memoryCost: z.int().min(1).max(20),
    rounds: z.int().min(1).max(32),
    salt,
    saltSeparator: bytes(0, 64),
    signerKey: bytes(32, 256),
    value: bytes(32, 256),
  })
  .refine(({ memoryCost, rounds }) => fitsScrypt(2 ** memoryCost, rounds, 1), { path: ['memoryCost'], error: SCRYPT_COST })
  .refine(({ signerKey, value }) => sizeOf(signerKey) === sizeOf(value), {
    path: ['value'],
    error: 'must have the same number of bytes as signerKey',
  });

const KINDS = [argon2, bcrypt, firebaseScrypt, pbkdf2Hash, scrypt, sha2('SHA-256', 32), sha2('SHA-512', 64)] as const;

/** `credentials.password.hash` of a user. */
export const importedHash = z.discriminatedUnion('algorithm', KINDS, {
  error: ({ code }) =>
    code === 'invalid_union' ? 'must be ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512' : undefined,
});

export type ImportedHash = z.output<typeof importedHash>;

const unpadded = (base64: string): string => base64.replace(/=+$/, '');

/** @returns the hash as it is stored with the user, in the manner of PHC strings */
export function encodeImportedHash(hash: ImportedHash): string {
  switch (hash.algorithm) {
    case 'BCRYPT':
      return `$2b$${String(hash.workFactor).padStart(2, '0')}$${hash.salt}${hash.value}`;
    case 'PBKDF2':
      return `$pbkdf2-${PBKDF2_SCHEMES[hash.digestAlgorithm]}$i=${hash.iterationCount}$${hash.salt}$${hash.value}`;
    case 'ARGON2': {
      const { variant, version, memory, iterations, parallelism } = hash;
      // Not in the format of our own hashes: it may cost more, and waits in the queue of imported ones.
      return `$foreign-argon2${variant}$v=${version}$m=${memory},t=${iterations},p=${parallelism}$${unpadded(hash.salt)}$${unpadded(hash.value)}`;
    }
    case 'SCRYPT':
      return `$scrypt$ln=${Math.log2(hash.cost)},r=${hash.blockSize},p=${hash.parallelism}$${hash.salt}$${hash.value}`;
    case 'FIREBASE_SCRYPT': {
      const salted = Buffer.concat([Buffer.from(hash.salt, 'base64'), Buffer.from(hash.saltSeparator, 'base64')]);
      // The value is the project's secret key, encrypted with a key derived from the password. The stored value verifies the password without that
      // secret.
      const stream = firebaseKeyStream(Buffer.from(hash.value, 'base64'), Buffer.from(hash.signerKey, 'base64'));
      return `$firebase-scrypt$ln=${hash.memoryCost},r=${hash.rounds},p=1$${salted.toString('base64')}$${stream.toString('base64')}`;
    }
    default:
      return `$${hash.algorithm === 'SHA-256' ? 'sha256' : 'sha512'}$o=${hash.saltOrder.toLowerCase()}$${hash.salt}$${hash.value}`;
  }
}

const PBKDF2_SCHEMES = { SHA1_HMAC: 'sha1', SHA256_HMAC: 'sha256', SHA512_HMAC: 'sha512' } as const;
