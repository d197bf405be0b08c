/** Names of domains, and their TXT records, from the servers that `DNS_SERVERS` names, or those of the system. */

import { Resolver } from 'node:dns/promises';
import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';
import { z } from 'zod';
import type { Config } from '../config/config.ts';

// Names of domains: how they are written, and which can belong to one organization.

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

/** A domain that an organization may claim. */
export const organizationDomain = z
  .string()
  .trim()
  .max(255)
  .meta({ examples: ['example.com'] })
  .transform((typed, ctx) => {
    const ascii = asciiDomain(typed);
    if (ascii !== undefined && isOwnable(ascii)) return ascii;
    const message =
      ascii === undefined
        ? 'must be a domain, such as example.com'
        : 'is a public suffix, where anyone can register names. Enter your own domain, such as example.com';
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** Timeout in milliseconds for one server, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2000, tries: 2 };

/** Error codes for a missing name or record. */
const NOTHING: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** @returns the records of the name, each as one string; `unreachable`: no server has answered */
export async function txtRecords({ dnsServers }: Pick<Config, 'dnsServers'>, name: string): Promise<readonly string[] | 'unreachable'> {
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  try {
    // RFC 7208 section 3.3: the strings of one record belong together, without a space.
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
  } catch (error) {
    return NOTHING.has((error as NodeJS.ErrnoException).code) ? [] : 'unreachable';
  }
}
