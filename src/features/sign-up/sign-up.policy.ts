/** Who may create an account: where the page is open, and with which e-mail addresses. */
interface SignUpField {
  /** Of an attribute that users may change themselves. */
  readonly name: string;
  readonly required: boolean;
}

export interface SignUpSettings {
  readonly enabled: boolean;
  /** What the form asks beside the e-mail address, in this order. */
  readonly fields: readonly SignUpField[];
  /** The address is proved before anything is stored under it. */
  readonly emailVerification: 'REQUIRED';
  /** Of e-mail addresses, in lower case; none: all. */
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** The ids of groups that new users join. */
  readonly groups: readonly string[];
  /** The id of the organization that new users join; null: none. */
  readonly organization: string | null;
  /** Users accept them; null: those of the branding count as they stand there, and nothing is accepted. */
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
  /** ADMIN: an administrator activates each account. */
  readonly approval: 'NONE' | 'ADMIN';
}

/** What an application says of its own sign-in page. INHERIT: as settings/registration. */
export const APPLICATION_REGISTRATION = ['INHERIT', 'ON', 'OFF'] as const;
export type ApplicationRegistration = (typeof APPLICATION_REGISTRATION)[number];

/** @param application what the application that people come from says; undefined: they come from none */
export const isSignUpOpen = ({ enabled }: Pick<SignUpSettings, 'enabled'>, application: ApplicationRegistration | undefined): boolean =>
  application === 'ON' ? true : application === 'OFF' ? false : enabled;

/** May an account with this address be made? The same for every address of a domain, so that it reveals nothing about accounts. */
export function isDomainAllowed(
  { allowedDomains, blockedDomains }: Pick<SignUpSettings, 'allowedDomains' | 'blockedDomains'>,
  address: string,
): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  if (blockedDomains.includes(domain)) return false;
  return allowedDomains.length === 0 || allowedDomains.includes(domain);
}
