/** Web addresses, and the networks that contain an IP address (RFC 4632, RFC 4291 section 2.3). */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Is this an https URL without user and password? */
export function isHttpsAddress(value: string): boolean {
  if (!/^https:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}

/** The same by http, for loopback hosts only. */
export function isLocalAddress(value: string): boolean {
  if (!/^http:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { hostname, username, password } = new URL(value);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) && username === '' && password === '';
}

/** @returns whether it is a network in CIDR notation, without host bits. Octal and hexadecimal numbers are refused: `010.0.0.0` is not 10.0.0.0 */
export function isNetwork(value: string): boolean {
  const [, written = ''] = /^(.+)\/(?:0|[1-9]\d*)$/.exec(value) ?? [];
  if (isIP(written) === 0 || !ipaddr.isValidCIDR(value) || ipaddr.parse(written).kind() !== ipaddr.process(written).kind()) return false;
  const [address] = ipaddr.parseCIDR(value);
  const first = address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(value) : ipaddr.IPv6.networkAddressFromCIDR(value);
  return first.toNormalizedString() === address.toNormalizedString();
}

/** @param address of the client; IPv4-mapped IPv6 counts as IPv4. undefined: unknown, and in none of them */
export function isInNetworks(networks: readonly string[], address: string | undefined): boolean {
  if (address === undefined) return false;
  const bare = address.replace(/%.*/, '');
  if (!ipaddr.isValid(bare)) return false;
  const parsed = ipaddr.process(bare);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}
