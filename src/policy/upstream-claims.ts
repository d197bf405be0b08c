/**
 * What counts of an external provider's word about somebody: which e-mail address it has verified, and what of a profile its claims fill. An address
 * that is not verified is worth nothing here: anybody may have typed it in there (OpenID Connect Core 1.0 section 5.7).
 */
import type { IdentityProviderPolicy, IdentityProviderType } from './identity-provider.ts';

/** As the provider sent them, in the ID token or at its userinfo endpoint. Nothing of them is checked but the signature. */
export type UpstreamClaims = Readonly<Record<string, unknown>>;

const isTrue = (value: unknown): boolean => value === true || value === 1 || value === 'true' || value === '1';
/** Control characters and halves of surrogate pairs: such a claim is taken for none. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

function textOf(value: unknown): string | undefined {
  const written = typeof value === 'number' ? String(value) : value;
  return typeof written === 'string' && !UNPRINTABLE.test(written) ? written.trim() || undefined : undefined;
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/**
 * By type, for each says it in its own way.
 * GOOGLE: its documentation calls it an authority on gmail.com and on the domains of its customers (`hd`) only; other addresses may have a new owner.
 * MICROSOFT: any tenant's administrator may write any address; `xms_edov` says that the tenant has proved to own the domain.
 * GITHUB: the list of addresses was asked, and the claims are made of the primary verified one.
 */
const VERIFIED: Readonly<Record<IdentityProviderType, (claims: UpstreamClaims, domain: string) => boolean>> = {
  OIDC: ({ email_verified }) => isTrue(email_verified),
  GITHUB: ({ email_verified }) => isTrue(email_verified),
  GOOGLE: ({ email_verified, hd }, domain) =>
    isTrue(email_verified) && (textOf(hd) !== undefined || domain === 'gmail.com' || domain === 'googlemail.com'),
  MICROSOFT: ({ xms_edov }) => isTrue(xms_edov),
};

/** @returns the address that the provider has verified, and that its policy lets it vouch for */
export function verifiedEmail(type: IdentityProviderType, policy: IdentityProviderPolicy, claims: UpstreamClaims): string | undefined {
  const email = textOf(claims.email);
  if (email === undefined || !email.includes('@') || !VERIFIED[type](claims, domainOf(email))) return undefined;
  const { emailDomains } = policy.subject;
  return emailDomains === undefined || emailDomains.includes(domainOf(email)) ? email : undefined;
}

/** The attributes of the profile that the claims fill, unchecked. Of e-mail addresses the verified one only. */
export function mappedAttributes(
  { attributeMap }: IdentityProviderPolicy,
  claims: UpstreamClaims,
  email: string | undefined,
): Record<string, string> {
  const filled = Object.entries(attributeMap).flatMap(([attribute, claim]): [string, string][] => {
    const value = attribute !== 'email' ? textOf(claims[claim]) : claim === 'email' ? email : undefined;
    return value === undefined ? [] : [[attribute, value]];
  });
  return Object.fromEntries(filled);
}

/** @returns the login of a new user. One that looks like an e-mail address must be the verified one: nobody takes another's name beforehand. */
export function mappedLogin(policy: IdentityProviderPolicy, claims: UpstreamClaims, email: string | undefined): string | undefined {
  const claim = policy.subject.userNameTemplate.template.slice('idpuser.'.length);
  const login = textOf(claims[claim]);
  if (login?.includes('@') && login.toLowerCase() !== email?.toLowerCase()) return undefined;
  return login;
}

/** The claims that a sign-in needs to see. */
export const neededClaims = ({ attributeMap, subject }: IdentityProviderPolicy): string[] => [
  ...new Set(['email', subject.userNameTemplate.template.slice('idpuser.'.length), ...Object.values(attributeMap)]),
];
