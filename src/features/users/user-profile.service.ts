/**
 * Schemas for creating and changing users. Profile: the attributes of Okta's base profile and of the claims `zoneinfo`, `picture`,
 * `website`, `gender` and `birthdate` (OpenID Connect Core section 5.1). Every value but `emailVerified` is a string; only the user name is
 * required. Credentials: a password or its hash.
 */

import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import { composedName } from '../../platform/dns/address-spelling.ts';
import { INVISIBLE, text } from '../../platform/validation/text.ts';
import { isOneSpelling } from '../mail/mail.policy.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password.policy.ts';
import { encodeImportedHash, importedHash } from '../passwords/password-hashes.service.ts';
import { type PasswordOwner, refuseWeakPassword } from '../passwords/password-policy.service.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { LONGEST_STRING } from '../user-schema/attribute-definitions.service.ts';
import { isBaseAttribute, isEmptyValue, LONGEST_VALUE, MOST_ELEMENTS } from '../user-schema/attribute-values.service.ts';
import type { BaseAttribute, ProfileValues, User } from './users.resource.ts';

/** null, sent by Okta's SDKs, means an unset attribute. */
const attribute = text().nullish();

const url = text({ most: 2048 }).refine(
  (value) => /^https?:\/\//i.test(value) && URL.canParse(value),
  'must be a URL that begins with https:// or http://',
);

/** Format of the claim `birthdate` (OpenID Connect Core section 5.1): the year can be 0000, or stand alone. */
const birthdate = text().regex(/^\d{4}(-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))?$/, 'must be a date like 1815-12-10, 0000-12-10 or 1815');

/** A sign-in name must not imitate another: composed as in lookups (RFC 8265 section 3.3), and without invisible characters. */
const name = ({ least = 0 } = {}) =>
  text({ least })
    .normalize('NFC')
    .refine((value) => !INVISIBLE.test(value), { abort: true, error: 'must not contain invisible characters or special spaces' });

const email = name()
  .refine((value) => z.regexes.unicodeEmail.test(value), { abort: true, error: 'must be an e-mail address' })
  .refine(isOneSpelling, 'must be in its normal form, such as ann@example.com: no “=?…?=” before the @, no period at the end');

/** Names that look like a user ID are refused. */
export const isUserId = (value: string): boolean => /^usr_[0-9A-Za-z]{20}$/.test(value);

/** Paths contain the user's ID or user name, so a user name must not look like an ID. */
const login = name({ least: 1 }).refine((value) => !isUserId(value), 'must not have the form of a user ID');

/** Custom attributes; their names and values are validated when the user is written. */
const added = z
  .union(
    [
      text({ most: LONGEST_STRING }),
      z.number(),
      z.boolean(),
      z
        .array(text({ most: LONGEST_VALUE }))
        .max(MOST_ELEMENTS)
        .readonly(),
    ],
    {
      error: 'must be a string, a number, true, false or a list of strings',
    },
  )
  .nullish();

const base = {
  login,
  email: email.nullish(),
  /** The claim `email_verified`. If it is absent, a changed address is unverified. */
  emailVerified: z.boolean().nullish(),
  secondEmail: email.nullish(),
  firstName: attribute,
  lastName: attribute,
  middleName: attribute,
  honorificPrefix: attribute,
  honorificSuffix: attribute,
  title: attribute,
  displayName: attribute,
  nickName: attribute,
  profileUrl: url.nullish(),
  picture: url.nullish(),
  website: url.nullish(),
  gender: attribute,
  birthdate: birthdate.nullish(),
  primaryPhone: attribute,
  mobilePhone: attribute,
  streetAddress: attribute,
  city: attribute,
  state: attribute,
  zipCode: attribute,
  countryCode: attribute,
  postalAddress: attribute,
  preferredLanguage: attribute,
  locale: attribute,
  timezone: attribute,
  zoneinfo: attribute,
  userType: attribute,
  employeeNumber: attribute,
  costCenter: attribute,
  organization: attribute,
  division: attribute,
  department: attribute,
  managerId: attribute,
  manager: attribute,
} satisfies Readonly<Record<BaseAttribute | 'login' | 'email' | 'emailVerified', z.ZodType>>;

export const userProfile = z.object(base).catchall(added);

export type UserProfile = z.output<typeof userProfile>;

/** Some attributes; the others are unchanged. */
export const profileChanges = userProfile.extend({ login: userProfile.shape.login.exactOptional() });

export type ProfileChanges = z.output<typeof profileChanges>;

export const userCredentials = z.strictObject({
  password: z
    .strictObject({
      value: z.string().min(8).max(1024).optional(),
      hash: importedHash.optional(),
      /** Another system has the password: an inline hook verifies it at sign-in. */
      hook: z.strictObject({ type: z.literal('default') }).optional(),
    })
    .refine((given) => Object.values(given).filter((one) => one !== undefined).length <= 1, 'must contain only one of value, hash and hook')
    .optional()
    .meta({ description: 'An empty object, as Okta’s Terraform provider sends it, gives no password' }),
});

/** A user as created by the API or an import. */
export const newUser = z
  .strictObject({
    profile: userProfile,
    credentials: userCredentials.optional(),
    orgId: text({ least: 1 }).optional(),
    depId: text({ least: 1 }).optional(),
  })
  .refine(({ orgId, depId }) => depId === undefined || orgId !== undefined, { path: ['orgId'], error: 'is required with depId' });

/** A password in clear or in stored form; neither: none is given. */
export interface GivenPassword {
  readonly password?: string | undefined;
  readonly passwordHash?: string | undefined;
}

export function givenPassword(credentials: z.output<typeof userCredentials> | undefined): GivenPassword {
  const { value, hash, hook } = credentials?.password ?? {};
  return { password: value, passwordHash: hook === undefined ? hash && encodeImportedHash(hash) : PASSWORD_ELSEWHERE };
}

/** @param owner the user's new names @returns null if none is given @throws {ApiError} validation: the password violates the policy */
export async function storedPassword(
  services: Services,
  { password, passwordHash }: GivenPassword,
  owner: () => Promise<PasswordOwner>,
): Promise<string | null> {
  if (password === undefined) return passwordHash ?? null;
  await refuseWeakPassword(services, password, await owner(), 'credentials.password.value');
  return hashPassword(password);
}

/** The profile for storage: user name and e-mail address separate and composed as in lookups, and only set values. */
export function splitProfile({ login, email, emailVerified: _, ...attributes }: UserProfile): Pick<User, 'login' | 'email' | 'profile'> {
  const isSet = ([name, value]: readonly [string, unknown]) => (isBaseAttribute(name) ? typeof value === 'string' : !isEmptyValue(value));
  return {
    login: composedName(login),
    email: typeof email === 'string' ? composedName(email) : null,
    profile: Object.fromEntries(Object.entries(attributes).filter(isSet)) as ProfileValues,
  };
}

/** Without an address, nothing is verified. */
export const isVerifiedAddress = ({ email, emailVerified }: Pick<UserProfile, 'email' | 'emailVerified'>): boolean =>
  typeof email === 'string' && emailVerified === true;
