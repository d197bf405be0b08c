/** E-mails to users: which events are reported, to which addresses and in which language. Pure; the texts are in views/locales. */
import { domainToUnicode } from 'node:url';
import type { EventType } from '../audit/event-types.policy.ts';

/** E-mails with a one-time link, and other requested ones. */
export type RequestedMail =
  | 'invitation'
  | 'activation'
  | 'password-reset'
  | 'password-elsewhere'
  | 'email-verification'
  | 'sign-in-code'
  | 'factor-code'
  | 'sign-in-request'
  | 'sign-up'
  | 'sign-up-existing'
  | 'account-approved'
  | 'account-refused'
  | 'organization-invitation'
  | 'test';

/** Changes of an account of which its user is notified, in case someone else made them. */
export type Notice =
  | 'new-sign-in'
  | 'password-changed'
  | 'password-removed'
  | 'factor-added'
  | 'factor-removed'
  | 'recovery-codes-replaced'
  | 'account-linked'
  | 'account-unlinked'
  | 'data-downloaded'
  | 'email-changed'
  | 'email-removed';

export type MailKind = RequestedMail | Notice;

const NOTICES: Readonly<Partial<Record<EventType, Notice>>> = {
  'user.account.update_password': 'password-changed',
  'user.mfa.factor.activate': 'factor-added',
  'user.mfa.factor.deactivate': 'factor-removed',
  'user.mfa.factor.reset_all': 'factor-removed',
  'user.identity_provider.link': 'account-linked',
  'user.identity_provider.unlink': 'account-unlinked',
};

/** @returns the notification for a successful event; undefined: none. Sign-ins, addresses, recovery codes and downloads have their own rules. */
export const noticeOf = (eventType: EventType): Notice | undefined => NOTICES[eventType];

/** RFC 5321 section 4.5.3.1: a path has 256 octets with its angle brackets, a local part 64. */
const LONGEST_ADDRESS = 254;
const LONGEST_LOCAL_PART = 64;
/** An encoded word (RFC 2047): some mail servers decode it and deliver to another mailbox. */
const ENCODED_WORD = /=\?.*\?=/;
/** A single address: no list, comment, quoted string or source route (RFC 5322 section 3.4.1), and nothing that could start a header. */
const ADDRESS = /^[^\s"(),:;<>@[\\\]\p{C}]+@[^\s"(),:;<>@[\\\]\p{C}]+$/u;

/**
 * Is the domain in the spelling in which mail servers look it up? Two spellings would be two addresses here, but the same mailbox (RFC 5891 section
 * 5.3).
 */
function isOneDomain(domain: string): boolean {
  const written = domain.toLowerCase();
  if (written.endsWith('.') || !URL.canParse(`http://${written}`)) return false;
  const { hostname } = new URL(`http://${written}`);
  // Node 24 accepts labels that look encoded but are not.
  if (written.split('.').some((label) => label.startsWith('xn--') && /^[!-~]*$/.test(domainToUnicode(label)))) return false;
  return written === (/^[!-~]*$/.test(written) ? hostname : domainToUnicode(hostname));
}

const localPart = (address: string): string => address.slice(0, address.lastIndexOf('@'));

/** Do mail servers use the address as it is written? Otherwise two addresses here could be the same mailbox. */
export const isOneSpelling = (address: string): boolean =>
  !ENCODED_WORD.test(localPart(address)) && isOneDomain(address.slice(address.lastIndexOf('@') + 1));

/** Can e-mail be sent to the address? */
export function isMailable(address: string): boolean {
  const octets = (text: string) => new TextEncoder().encode(text).length;
  const isDotted = !/^\.|\.@|@\.|\.\.|\.$/.test(address);
  return (
    ADDRESS.test(address) &&
    isOneSpelling(address) &&
    isDotted &&
    octets(address) <= LONGEST_ADDRESS &&
    octets(localPart(address)) <= LONGEST_LOCAL_PART
  );
}

/** @returns space-separated BCP 47 tags, best first: the user's choice, and the page's language; undefined: unknown */
export function languageOf(
  { preferredLanguage, locale }: { readonly preferredLanguage?: string; readonly locale?: string },
  page: string | undefined,
): string | undefined {
  const tags = [preferredLanguage, locale, page].filter((tag) => tag !== undefined && tag !== '');
  // Profiles from Okta contain `en_US`.
  return tags.length === 0 ? undefined : tags.join(' ').replaceAll('_', '-');
}
