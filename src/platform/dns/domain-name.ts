/** Names of domains: how they are written, and which can belong to one organization. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';
import { z } from 'zod';

/** RFC 1035 section 2.3.4 allows 253 characters; the name of the challenge needs some of them. */
const LONGEST = 230;

/** RFC 1123 section 2.1; a last label of digits alone would be an IPv4 address. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** @returns the domain as DNS has it: lower case, in the ASCII of RFC 5890; undefined: it is none */
export function asciiDomain(typed: string): string | undefined {
  const ascii = domainToASCII(typed.trim().replace(/\.$/, '')).toLowerCase();
  return ascii !== '' && ascii.length <= LONGEST && DOMAIN.test(ascii) ? ascii : undefined;
}

/** @returns the domain as its owner reads it */
export const shownDomain = (ascii: string): string => domainToUnicode(ascii);

/** @returns the domain of an e-mail address, or of a user name that looks like one; undefined: it has none */
export function domainOfAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  return at > 0 ? asciiDomain(address.slice(at + 1)) : undefined;
}

/** Registrars and hosts give out names below a public suffix (`co.uk`, `github.io`): it belongs to no single organization. */
const isOwnable = (ascii: string): boolean => getDomain(ascii, { allowPrivateDomains: true }) !== null;

/** A domain in any spelling. @returns it in ASCII */
export const domainName = z
  .string()
  .trim()
  .max(255)
  .meta({ examples: ['example.com'] })
  .transform((typed, ctx) => {
    const ascii = asciiDomain(typed);
    if (ascii !== undefined) return ascii;
    ctx.addIssue({ code: 'custom', message: 'must be a domain, such as example.com' });
    return z.NEVER;
  });

/** A domain that an organization may claim. */
export const organizationDomain = domainName.refine(
  isOwnable,
  'is a public suffix, where anyone can register names. Enter your own domain, such as example.com',
);
