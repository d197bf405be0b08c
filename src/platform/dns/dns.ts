/** TXT records of DNS, from the servers of `DNS_SERVERS`, or those of the system. */
import { Resolver } from 'node:dns/promises';
import type { Config } from '../config/config.ts';

/** Timeout in milliseconds for one server, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2000, tries: 2 };

/** Error codes for a missing name or record. */
const NOTHING: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** @returns the records of the name, each as one string; `unreachable`: no server responded */
export async function txtRecords({ dnsServers }: Pick<Config, 'dnsServers'>, name: string): Promise<readonly string[] | 'unreachable'> {
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  try {
    // RFC 7208 section 3.3: the strings of one record are concatenated without a space.
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
  } catch (error) {
    return NOTHING.has((error as NodeJS.ErrnoException).code) ? [] : 'unreachable';
  }
}
