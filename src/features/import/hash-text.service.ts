/**
 * Parses password hashes in one string: modular crypt format and PHC strings. The schema of hashes, which has a field for each part, limits their
 * cost.
 */
import { validation } from '../../platform/errors/errors.ts';

/** Converts to base64 with padding. PHC strings have no padding; some programs use `.` for `+` (passlib's ab64), or the URL alphabet. */
export const paddedBase64 = (text: string): string =>
  Buffer.from(text.replaceAll('.', '+').replaceAll('-', '+').replaceAll('_', '/'), 'base64').toString('base64');

type Reader = (match: RegExpExecArray) => object;

const DIGESTS = { sha1: 'SHA1_HMAC', sha256: 'SHA256_HMAC', sha512: 'SHA512_HMAC' } as const;
const DIGEST_BYTES = { SHA1_HMAC: 20, SHA256_HMAC: 32, SHA512_HMAC: 64 } as const;

/** Keeps only the first block of a longer key (RFC 8018 section 5.2): it is enough to verify a password. */
export function pbkdf2Of(digest: keyof typeof DIGESTS, iterationCount: number, salt: string, value: Buffer): object {
  const digestAlgorithm = DIGESTS[digest];
  const key = value.subarray(0, DIGEST_BYTES[digestAlgorithm]);
  return { algorithm: 'PBKDF2', digestAlgorithm, iterationCount, keySize: key.length, salt, value: key.toString('base64') };
}

const bytes = (base64: string): Buffer => Buffer.from(paddedBase64(base64), 'base64');

/** `$2a$` and `$2y$` are computed like `$2b$`. */
const KINDS: readonly (readonly [RegExp, Reader])[] = [
  [
    /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
    ([, cost, salt, value]) => ({ algorithm: 'BCRYPT', workFactor: Number(cost), salt, value }),
  ],
  [
    /^\$argon2(id|i|d)\$(?:v=(\d+)\$)?m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/,
    ([, variant, version = '16', m, t, p, salt = '', value = '']) => ({
      ...{ algorithm: 'ARGON2', variant, version: Number(version), memory: Number(m), iterations: Number(t), parallelism: Number(p) },
      ...{ salt: paddedBase64(salt), value: paddedBase64(value) },
    }),
  ],
  [
    /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/,
    ([, ln, r, p, salt = '', value = '']) => ({
      ...{ algorithm: 'SCRYPT', cost: 2 ** Number(ln), blockSize: Number(r), parallelism: Number(p) },
      ...{ salt: paddedBase64(salt), value: paddedBase64(value) },
    }),
  ],
  [
    // passlib and passwap have only the number of rounds; PHC strings have named parameters.
    /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d+)(?:,l=\d+)?\$([^$]+)\$([^$]+)$/,
    ([, digest = 'sha1', rounds, salt = '', value = '']) =>
      pbkdf2Of(digest as keyof typeof DIGESTS, Number(rounds), paddedBase64(salt), bytes(value)),
  ],
  // Same formats as stored and exported here.
  [
    /^\$(sha256|sha512)\$o=(prefix|postfix)\$([^$]+)\$([^$]+)$/,
    ([, digest, order = '', salt, value]) => ({
      ...{ algorithm: digest === 'sha256' ? 'SHA-256' : 'SHA-512', saltOrder: order.toUpperCase(), salt, value },
    }),
  ],
  [
    // The stored key stream equals the result of encrypting a signer key of zeros.
    /^\$firebase-scrypt\$ln=(\d+),r=(\d+),p=1\$([^$]+)\$([^$]+)$/,
    ([, ln, rounds, salt, value = '']) => ({
      ...{ algorithm: 'FIREBASE_SCRYPT', memoryCost: Number(ln), rounds: Number(rounds), salt, saltSeparator: '', value },
      signerKey: Buffer.alloc(Buffer.from(value, 'base64').length).toString('base64'),
    }),
  ],
];

/** @param field that contained the text @returns the hash in the fields of `credentials.password.hash` @throws {ApiError} validation */
export function hashOfText(text: string, field: string): object {
  for (const [pattern, read] of KINDS) {
    const match = pattern.exec(text);
    if (match !== null) return read(match);
  }
  throw validation([
    { field, message: 'must be a hash of bcrypt, argon2, scrypt or PBKDF2 as $2b$…, $argon2id$…, $scrypt$… or $pbkdf2-sha256$…' },
  ]);
}
