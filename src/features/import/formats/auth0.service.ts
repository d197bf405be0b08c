/**
 * Users of Auth0: lines of a bulk export, elements of a file for its bulk import, or lines of its export of password hashes. The hashes can be in a
 * separate file, and are matched with the users by ID.
 */
import { z } from 'zod';
import { validation } from '../../../platform/errors/errors.ts';
import { parse } from '../../../platform/validation/parsing.ts';
import { hashOfText, paddedBase64 } from '../hash-text.service.ts';
import type { ImportItem } from '../import-record.service.ts';
import { recordsOf } from '../import-source.service.ts';
import { readRecord } from './ndjson.service.ts';

// `custom_password_hash` of Auth0's bulk import.

const encoded = { value: z.string(), encoding: z.string().nullish() };

const customPasswordHash = z.looseObject({
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
function customHash({ algorithm, hash, salt, password, cost, blockSize, parallelization }: z.output<typeof customPasswordHash>): object {
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

/** @param unless encoding to use if none is given */
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

const metadata = z.record(z.string(), z.unknown()).nullish();
const named = z.string().nullish();

const auth0User = z.looseObject({
  user_id: named,
  _id: z.union([z.string(), z.looseObject({ $oid: z.string() })]).nullish(),
  email: named,
  email_verified: z.boolean().nullish(),
  username: named,
  given_name: named,
  family_name: named,
  name: named,
  nickname: named,
  picture: named,
  phone_number: named,
  blocked: z.boolean().nullish(),
  password_hash: named,
  passwordHash: named,
  custom_password_hash: customPasswordHash.nullish(),
  mfa_factors: z.array(z.record(z.string(), z.looseObject({ secret: named, value: named }))).nullish(),
  /** Factor names of an export, without secrets. */
  multifactor: z.array(z.string()).nullish(),
  identities: z
    .array(
      z.looseObject({
        provider: z.string(),
        user_id: z.union([z.string(), z.number()]),
        connection: z.string(),
        isSocial: z.boolean().nullish(),
      }),
    )
    .nullish(),
  user_metadata: metadata,
  app_metadata: metadata,
});
type Auth0User = z.output<typeof auth0User>;

/** @param passwords hashes by user ID without the prefix `auth0|` */
export async function* itemsOfAuth0(
  source: AsyncIterable<Buffer>,
  passwords: ReadonlyMap<string, string> = new Map(),
): AsyncGenerator<ImportItem> {
  for await (const record of recordsOf(source)) {
    yield* readRecord(record, (value, place) => {
      const user = parse(auth0User, value);
      const metadata = { ownAttributes: user.user_metadata ?? {}, attributes: user.app_metadata ?? {} };
      return [...leftOf(user, passwords), { kind: 'user', place, value: recordOf(user, passwords), ...metadata }];
    });
  }
}

export const LEFT_BY_AUTH0 = {
  passwords: {
    what: 'passwords whose hashes are not in the file',
    instead: 'Add them with --passwords, or send each user a link to choose a new one',
  },
  passwordless: { what: 'identities by e-mail or SMS', instead: 'Let users sign in by e-mail' },
} as const;

function leftOf(user: Auth0User, passwords: ReadonlyMap<string, string>): ImportItem[] {
  const named = user.identities?.map(({ provider }) => provider) ?? [];
  const providers = named.length > 0 ? named : [/^[\w-]+(?=\|)/.exec(user.user_id ?? '')?.[0] ?? 'auth0'];
  return [
    ...(providers.includes('auth0') && !user.custom_password_hash && hashTextOf(user, passwords) === undefined
      ? [LEFT_BY_AUTH0.passwords]
      : []),
    ...(providers.some((one) => one === 'email' || one === 'sms') ? [LEFT_BY_AUTH0.passwordless] : []),
  ].map((one) => ({ kind: 'left', count: 1, ...one }));
}

const passwordLine = z.looseObject({ _id: z.union([z.string(), z.looseObject({ $oid: z.string() })]), passwordHash: z.string().max(500) });

/** Reads an export of password hashes and keeps one per user in memory, about 150 bytes each. Other lines are skipped. */
export async function passwordsOfAuth0(source: AsyncIterable<Buffer>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { text } of recordsOf(source)) {
    const line = passwordLine.safeParse(jsonOf(text)).data;
    if (line !== undefined) found.set(idOf(line._id), line.passwordHash);
  }
  return found;
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const idOf = (id: string | { readonly $oid: string }): string => (typeof id === 'string' ? id : id.$oid).replace(/^auth0\|/, '');

function recordOf(user: Auth0User, passwords: ReadonlyMap<string, string>): object {
  const { email, email_verified: isVerified, username, picture } = user;
  const hash = hashOf(user, passwords);
  const own = { login: username ?? email ?? undefined, email, ...(email && { emailVerified: isVerified === true }) };
  const names = { firstName: user.given_name, lastName: user.family_name, nickName: user.nickname };
  return {
    // A name that equals the e-mail address adds nothing to the profile.
    profile: { ...own, ...names, ...(user.name !== email && { displayName: user.name }), picture, primaryPhone: user.phone_number },
    ...(hash !== undefined && { credentials: { password: { hash } } }),
    status: user.blocked === true ? 'SUSPENDED' : 'ACTIVE',
    links: (user.identities ?? [])
      .filter(({ provider }) => provider !== 'auth0' && provider !== 'email' && provider !== 'sms')
      .map(({ connection, user_id: subject }) => ({ provider: connection, subject: String(subject), ...(email && { knownAs: email }) })),
    factors: factorsOf(user),
  };
}

function hashOf(user: Auth0User, passwords: ReadonlyMap<string, string>): object | undefined {
  if (user.custom_password_hash) return customHash(user.custom_password_hash);
  const found = hashTextOf(user, passwords);
  return found === undefined ? undefined : hashOfText(found.text, found.field);
}

function hashTextOf(
  user: Auth0User,
  passwords: ReadonlyMap<string, string>,
): { readonly field: string; readonly text: string } | undefined {
  if (typeof user.password_hash === 'string') return { field: 'password_hash', text: user.password_hash };
  const id = user.user_id ?? user._id;
  const text = user.passwordHash ?? (id ? passwords.get(idOf(id)) : undefined);
  return text === undefined ? undefined : { field: 'passwordHash', text };
}

function factorsOf({ mfa_factors: factors, multifactor }: Auth0User): object[] {
  const found = (factors ?? []).flatMap((factor) => Object.entries(factor));
  const other = found.find(([kind]) => kind !== 'totp');
  if (other !== undefined) throw withoutFactor('mfa_factors', `has a second factor by ${other[0]}`);
  if (found.length === 0 && multifactor && multifactor.length > 0)
    throw withoutFactor('multifactor', `has a second factor (${multifactor.join(', ')}) whose secret is not in the export`);
  return found.map(([, { secret }]) => ({ type: 'TOTP', secret: secret ?? '' }));
}

/** Refuses a user whose second factor cannot be imported: with only the password, the account would be less secure than before. */
const withoutFactor = (field: string, what: string) =>
  validation([{ field, message: `${what}. Remove the field to import the user without it` }]);
