/** `custom_password_hash` of Auth0's bulk import. */
import { z } from 'zod';
import { validation } from '../../../platform/errors/errors.ts';
import { hashOfText, paddedBase64 } from '../hash-text.service.ts';

const encoded = { value: z.string(), encoding: z.string().nullish() };

export const customPasswordHash = z.looseObject({
  algorithm: z.string(),
  hash: z.looseObject(encoded),
  salt: z.looseObject({ ...encoded, position: z.enum(['prefix', 'suffix']).nullish() }).nullish(),
  password: z.looseObject({ encoding: z.string().nullish() }).nullish(),
  keylen: z.number().nullish(),
  cost: z.number().nullish(),
  blockSize: z.number().nullish(),
  parallelization: z.number().nullish(),
});

const FIELD = 'custom_password_hash';

/** Converts the hash to the schema of imported hashes. @throws {ApiError} validation of an algorithm that cannot be imported */
export function customHash({
  algorithm,
  hash,
  salt,
  password,
  cost,
  blockSize,
  parallelization,
}: z.output<typeof customPasswordHash>): object {
  if (password && (password.encoding ?? 'utf8') !== 'utf8') throw refused('password.encoding', 'must be utf8');
  switch (algorithm) {
    case 'argon2':
    case 'bcrypt':
    case 'pbkdf2':
      return hashOfText(hash.value, `${FIELD}.hash.value`);
    case 'scrypt':
      return {
        ...{ algorithm: 'SCRYPT', cost: cost ?? 16_384, blockSize: blockSize ?? 8, parallelism: parallelization ?? 1 },
        ...{ salt: base64Of(salt, 'utf8', 'salt'), value: base64Of(hash, 'base64', 'hash') },
      };
    case 'sha256':
    case 'sha512':
      return {
        ...{ algorithm: algorithm === 'sha256' ? 'SHA-256' : 'SHA-512', saltOrder: salt?.position === 'suffix' ? 'POSTFIX' : 'PREFIX' },
        ...{ salt: base64Of(salt, 'utf8', 'salt'), value: base64Of(hash, 'hex', 'hash') },
      };
    default:
      throw refused('algorithm', `must be argon2, bcrypt, pbkdf2, scrypt, sha256 or sha512, not ${algorithm}`);
  }
}

/** @param unless the encoding where none is named */
function base64Of(
  given: { readonly value: string; readonly encoding?: string | null | undefined } | null | undefined,
  unless: string,
  name: string,
): string {
  if (!given) throw refused(name, 'is required');
  const encoding = given.encoding ?? unless;
  if (encoding === 'base64') return paddedBase64(given.value);
  if (encoding === 'hex' || encoding === 'utf8') return Buffer.from(given.value, encoding).toString('base64');
  throw refused(`${name}.encoding`, 'must be base64, hex or utf8');
}

const refused = (name: string, message: string) => validation([{ field: `${FIELD}.${name}`, message }]);
