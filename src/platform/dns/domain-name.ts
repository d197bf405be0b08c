/** Domain names: their spelling, and which can belong to one organization. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';
import { z } from 'zod';

/** RFC 1035 section 2.3.4 allows 253 characters; the challenge's prefix needs some of them. */
const LONGEST = 230;

/** RFC 1123 section 2.1. With a last label of digits only, it would be an IPv4 address. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** @returns the domain in lower-case ASCII (RFC 5890); undefined: not a domain */
export function asciiDomain(typed: string): string | undefined {
  const ascii = domainToASCII(typed.trim().replace(/\.$/, '')).toLowerCase();
  return ascii !== '' && ascii.length <= LONGEST && DOMAIN.test(ascii) ? ascii : undefined;
}

/** @returns the domain in Unicode */
export const shownDomain = (ascii: string): string => domainToUnicode(ascii);

/** @returns the domain of an e-mail address, or of a user name that looks like one; undefined: none */
export function domainOfAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  return at > 0 ? asciiDomain(address.slice(at + 1)) : undefined;
}

/** Is the domain below a public suffix? Suffixes (`co.uk`, `github.io`) are shared and belong to no single organization. */
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

/** A domain that an organization can claim. */
export const organizationDomain = domainName.refine(
  isOwnable,
  'is a public suffix, where anyone can register names. Enter your own domain, such as example.com',
);
