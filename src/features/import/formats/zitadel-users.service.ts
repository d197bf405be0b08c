/** Human users of Zitadel. */
import { z } from 'zod';
import { hashOfText } from '../hash-text.service.ts';

const text = z.string().default('');

const human = z.looseObject({
  userName: z.string(),
  profile: z
    .looseObject({ firstName: text, lastName: text, nickName: text, displayName: text, preferredLanguage: text })
    .default({ firstName: '', lastName: '', nickName: '', displayName: '', preferredLanguage: '' }),
  email: z.looseObject({ email: text, isEmailVerified: z.boolean().default(false) }).default({ email: '', isEmailVerified: false }),
  phone: z.looseObject({ phone: text }).optional(),
  password: text,
  hashedPassword: z.looseObject({ value: text }).optional(),
  passwordChangeRequired: z.boolean().default(false),
  /** The secret of an authenticator app, base32. */
  otpCode: text,
});
export type ZitadelHuman = z.output<typeof human>;

export const zitadelUser = z.looseObject({ userId: text, user: human });

/** Roles at an application. */
export interface Grant {
  readonly clientId: string;
  readonly roles: readonly string[];
}

export interface ZitadelLink {
  readonly provider: string;
  readonly subject: string;
  readonly knownAs?: string;
}

interface UserContext {
  readonly organization: string;
  readonly grants: readonly Grant[];
  readonly links: readonly ZitadelLink[];
}

const filled = <T extends Readonly<Record<string, string | undefined>>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''));

/** @throws {ApiError} validation of a hash that cannot be imported */
export function userValue(user: ZitadelHuman, { organization, grants, links }: UserContext): object {
  const { userName, email, phone, password, hashedPassword, passwordChangeRequired, otpCode } = user;
  const { firstName, lastName, nickName, displayName, preferredLanguage } = user.profile;
  const hash =
    hashedPassword === undefined || hashedPassword.value === '' ? undefined : hashOfText(hashedPassword.value, 'hashedPassword.value');
  const given = hash === undefined ? (password === '' ? undefined : { value: password }) : { hash };
  return {
    profile: {
      login: userName,
      ...(email.email !== '' && { email: email.email, emailVerified: email.isEmailVerified }),
      ...filled({ firstName, lastName, nickName, displayName, preferredLanguage, primaryPhone: phone?.phone }),
    },
    ...(given !== undefined && { credentials: { password: given } }),
    status: given !== undefined && passwordChangeRequired ? 'PASSWORD_EXPIRED' : 'ACTIVE',
    organizations: [organization],
    applications: grants,
    links,
    factors: otpCode === '' ? [] : [{ type: 'TOTP', secret: otpCode }],
  };
}
