/** The claims that tell who a user is (OpenID Connect Core 1.0 section 5.1), made from the account: pure, without what is empty. */
export interface ClaimSource {
  readonly id: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly lastUpdated: Date;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** What the user is called: the display name, else first and last name. */
export function fullName(profile: Readonly<Record<string, unknown>>): string | undefined {
  const parts = [text(profile.firstName), text(profile.lastName)].filter((part) => part !== undefined);
  return text(profile.displayName) ?? (parts.length > 0 ? parts.join(' ') : undefined);
}

/** Any one of these opens userinfo, and each maps to every claim: the endpoint always returns all of the user's claims. */
export const USERINFO_SCOPES = ['profile', 'email', 'address', 'phone'] as const;

/** Every claim the service knows to make, in the order they are sent. */
export const USER_CLAIMS = [
  'sub',
  'name',
  'nickname',
  'given_name',
  'middle_name',
  'family_name',
  'profile',
  'zoneinfo',
  'updated_at',
  'email',
  'email_verified',
  'phone_number',
] as const;
/** What each scope asks for (OpenID Connect Core 1.0 section 5.4), as far as the service knows it. */
const CLAIMS_OF_SCOPE: Readonly<Record<string, readonly string[]>> = {
  profile: ['name', 'nickname', 'given_name', 'middle_name', 'family_name', 'profile', 'zoneinfo', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
};

/**
 * The claims that an ID token holds beside the subject.
 * @param chosen the application's choice, which holds whatever the scopes are; undefined: what the granted scopes ask for
 */
export const idTokenClaims = (chosen: readonly string[] | undefined, scopes: readonly string[]): readonly string[] =>
  chosen ?? scopes.flatMap((scope) => CLAIMS_OF_SCOPE[scope] ?? []);

export type UserClaim = (typeof USER_CLAIMS)[number];

/** All claims of a user; those without a value are left out. */
export function userClaims(user: ClaimSource): { readonly sub: string } & Partial<Record<UserClaim, unknown>> {
  const { profile, email } = user;
  const claims: Record<UserClaim, unknown> = {
    sub: user.id,
    name: fullName(profile),
    nickname: text(profile.nickName),
    given_name: text(profile.firstName),
    middle_name: text(profile.middleName),
    family_name: text(profile.lastName),
    profile: text(profile.profileUrl),
    zoneinfo: text(profile.zoneinfo),
    updated_at: Math.floor(user.lastUpdated.getTime() / 1000),
    email: email ?? undefined,
    email_verified: email === null ? undefined : user.emailVerified,
    phone_number: text(profile.mobilePhone),
  };
  return { ...Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)), sub: user.id };
}
