/** Decides who can create an account: where sign-up is enabled, and for which e-mail addresses. */
import { asciiDomain } from '../../platform/dns/domain-name.ts';

interface SignUpField {
  /** Name of an attribute that users can change. */
  readonly name: string;
  readonly required: boolean;
}

export interface SignUpSettings {
  readonly enabled: boolean;
  /** Fields beside the e-mail address, in order. */
  readonly fields: readonly SignUpField[];
  /** The address is verified before anything is stored under it. */
  readonly emailVerification: 'REQUIRED';
  /** Allowed e-mail domains in lower case; empty: all. */
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** IDs of the groups that new users join. */
  readonly groups: readonly string[];
  /** ID of the organization that new users join; null: none. */
  readonly organization: string | null;
  /** Terms that users accept; null: the branding's terms are only linked. */
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
  /** ADMIN: an administrator activates each account. */
  readonly approval: 'NONE' | 'ADMIN';
}

/** Sign-up on an application's sign-in page. INHERIT: as in settings/registration. */
export const APPLICATION_REGISTRATION = ['INHERIT', 'ON', 'OFF'] as const;
export type ApplicationRegistration = (typeof APPLICATION_REGISTRATION)[number];

/** @param application setting of the user's application; undefined: none */
export const isSignUpOpen = ({ enabled }: Pick<SignUpSettings, 'enabled'>, application: ApplicationRegistration | undefined): boolean =>
  application === 'ON' ? true : application === 'OFF' ? false : enabled;

/** Domains are stored as they were typed. */
const comparable = (domain: string): string => asciiDomain(domain) ?? domain.toLowerCase();

/** Can an account with this address be created? The same for every address of a domain, so that it reveals nothing about accounts. */
export function isDomainAllowed(
  { allowedDomains, blockedDomains }: Pick<SignUpSettings, 'allowedDomains' | 'blockedDomains'>,
  address: string,
): boolean {
  const domain = comparable(address.slice(address.lastIndexOf('@') + 1));
  const isIn = (domains: readonly string[]) => domains.some((listed) => comparable(listed) === domain);
  return !isIn(blockedDomains) && (allowedDomains.length === 0 || isIn(allowedDomains));
}
