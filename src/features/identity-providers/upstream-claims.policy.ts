/**
 * Evaluates claims of an external provider: the verified e-mail address and the mapped profile attributes. Unverified addresses are ignored: anyone
 * could have entered them (OpenID Connect Core 1.0 section 5.7).
 */
import { asciiAddress, isSameAddress, lowerAscii, readableAddress } from '../../platform/dns/address-spelling.ts';
import { isMailable } from '../mail/mail.policy.ts';
import type { IdentityProviderPolicy, IdentityProviderSettings, IdentityProviderType } from './identity-provider.policy.ts';

/** Claims as sent in the ID token or by userinfo. Only the signature is verified. */
export type UpstreamClaims = Readonly<Record<string, unknown>>;

const isTrue = (value: unknown): boolean => value === true || value === 1 || value === 'true' || value === '1';
/** Control characters and halves of surrogate pairs: a claim with one of them is ignored. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** @returns a claim as one line of text; undefined: it is not text */
export function textOfClaim(value: unknown): string | undefined {
  const written = typeof value === 'number' ? String(value) : value;
  return typeof written === 'string' && !UNPRINTABLE.test(written) ? written.trim() || undefined : undefined;
}

/** Domain of an e-mail address, in ASCII. */
function domainOf(email: string): string {
  const ascii = asciiAddress(email);
  return lowerAscii(ascii.slice(ascii.lastIndexOf('@') + 1));
}

/**
 * Verified addresses by provider type. GOOGLE: authoritative only for gmail.com and its customers' domains (`hd`); other addresses may have a new
 * owner. MICROSOFT: administrators of any tenant can set any address; `xms_edov` confirms that the tenant owns the domain. GITHUB: the claims contain
 * the primary verified address of the list.
 */
const VERIFIED: Readonly<Record<IdentityProviderType, (claims: UpstreamClaims, domain: string) => boolean>> = {
  OIDC: ({ email_verified }) => isTrue(email_verified),
  GITHUB: ({ email_verified }) => isTrue(email_verified),
  GOOGLE: ({ email_verified, hd }, domain) =>
    isTrue(email_verified) && (textOfClaim(hd) !== undefined || domain === 'gmail.com' || domain === 'googlemail.com'),
  MICROSOFT: ({ xms_edov }) => isTrue(xms_edov),
};

/** @returns the address if the provider has verified it and is trusted for its domain */
export function verifiedEmail(type: IdentityProviderType, policy: IdentityProviderPolicy, claims: UpstreamClaims): string | undefined {
  const email = textOfClaim(claims.email);
  // An address with surrounding spaces, or another spelling of its domain, would be another mailbox.
  if (email === undefined || email !== claims.email || !isMailable(email)) return undefined;
  const domain = domainOf(email);
  if (!VERIFIED[type](claims, domain)) return undefined;
  const { emailDomains } = policy.subject;
  return emailDomains === undefined || emailDomains.includes(domain) ? readableAddress(email) : undefined;
}

/** @returns a name by which users recognize their account: the verified address, otherwise a name that is not an address */
export function knownAs(claims: UpstreamClaims, email: string | undefined): string | null {
  const names = [claims.preferred_username, claims.login, claims.name].map(textOfClaim).filter((name) => name?.includes('@') === false);
  return [email, ...names].find((name) => name !== undefined && name.length <= 255) ?? null;
}

/** The standard attributes from the claims, not validated. E-mail addresses only if verified. */
export function mappedAttributes(
  { attributeMap }: IdentityProviderPolicy,
  claims: UpstreamClaims,
  email: string | undefined,
): Record<string, string> {
  const filled = Object.entries(attributeMap).flatMap(([attribute, claim]): [string, string][] => {
    const value = attribute !== 'email' ? textOfClaim(claims[claim]) : claim === 'email' ? email : undefined;
    return value === undefined ? [] : [[attribute, value]];
  });
  return Object.fromEntries(filled);
}

/**
 * @returns the user name of a new user. The claim `email`, and a value that looks like an address, must be the verified address, so that nobody can
 * take another user's name in advance.
 */
export function mappedLogin(policy: IdentityProviderPolicy, claims: UpstreamClaims, email: string | undefined): string | undefined {
  const claim = policy.subject.userNameTemplate.template.slice('idpuser.'.length);
  const login = claim === 'email' ? email : textOfClaim(claims[claim]);
  if (login?.includes('@') && (email === undefined || !isSameAddress(login, email))) return undefined;
  return login;
}

/** Claims about the e-mail address. */
const ABOUT_EMAIL: ReadonlySet<string> = new Set(['email', 'email_verified', 'xms_edov', 'hd']);

/** @returns the claims of both; the e-mail address and its verification come from the same source if they differ */
export function combinedClaims(idToken: UpstreamClaims, userinfo: UpstreamClaims): UpstreamClaims {
  const without = (claims: UpstreamClaims): UpstreamClaims =>
    Object.fromEntries(Object.entries(claims).filter(([name]) => !ABOUT_EMAIL.has(name)));
  if (idToken.email === undefined) return { ...userinfo, ...without(idToken) };
  return { ...(userinfo.email === idToken.email ? userinfo : without(userinfo)), ...idToken };
}

/** Names of the claims that a sign-in requires. */
export const neededClaims = ({ type, policy: { attributeMap, subject } }: Pick<IdentityProviderSettings, 'type' | 'policy'>): string[] => [
  ...new Set([
    'email',
    ...(type === 'MICROSOFT' ? [] : ['email_verified']),
    subject.userNameTemplate.template.slice('idpuser.'.length),
    ...Object.values(attributeMap),
  ]),
];
