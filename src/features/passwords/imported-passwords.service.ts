/** Verifies a password against an imported hash, as stored by `encodeImportedHash`, which also limits the cost. */
import { createCipheriv, createHash, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';

const derive = promisify(pbkdf2);
const deriveScrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/**
 * Compares a password with a stored hash of `encodeImportedHash`. The other service hashed the input unchanged; here another keyboard may compose
 * characters differently, so the composed form is tried as well. bcrypt uses only 72 bytes.
 * @throws the stored string is not such a hash
 */
export async function verifyImportedHash(stored: string, password: string): Promise<boolean> {
  const composed = password.normalize('NFC');
  if (await matches(stored, password)) return true;
  return composed !== password && (await matches(stored, composed));
}

const FOREIGN = '$foreign-';

async function matches(stored: string, password: string): Promise<boolean> {
  if (stored.startsWith('$2b$')) return verifyBcrypt(password, stored);
  if (stored.startsWith(FOREIGN)) return verifyArgon2(`$${stored.slice(FOREIGN.length)}`, password);
  const [, scheme = '', parameter = '', salt64 = '', value64 = ''] = stored.split('$');
  const [saltBytes, value] = [Buffer.from(salt64, 'base64'), Buffer.from(value64, 'base64')];
  const parameterValue = parameter.slice(2);
  switch (scheme) {
    case 'pbkdf2-sha1':
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
    case 'scrypt':
      return timingSafeEqual(value, await deriveScrypt(password, saltBytes, value.length, scryptOptions(parameter)));
    case 'firebase-scrypt': {
      const key = await deriveScrypt(password, saltBytes, AES_KEY_BYTES, scryptOptions(parameter));
      return timingSafeEqual(value, keyStream(key, value.length));
    }
    default:
      throw new Error('a stored password hash is of no known kind');
  }
}

/** @param parameters `ln=14,r=8,p=1` */
function scryptOptions(parameters: string): ScryptOptions {
  const [, ln = '', r = '', p = ''] = /^ln=(\d+),r=(\d+),p=(\d+)$/.exec(parameters) ?? [];
  const [N, blockSize, parallelization] = [2 ** Number(ln), Number(r), Number(p)];
  // Node's own limit is 32 MiB. OpenSSL needs the second summand beside the large vector.
  return { N, r: blockSize, p: parallelization, maxmem: 128 * N * blockSize + 128 * blockSize * (parallelization + 2) };
}

const AES_KEY_BYTES = 32;

/** Key stream of AES-256 in counter mode. With it, Firebase encrypts its signer key under a key derived from the password. */
const keyStream = (key: Buffer, length: number): Buffer =>
  createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));

/** @returns the key stream that encrypted the signer key to a user's hash */
export const firebaseKeyStream = (hash: Buffer, signerKey: Buffer): Buffer => hash.map((byte, at) => byte ^ (signerKey[at] ?? 0)) as Buffer;
