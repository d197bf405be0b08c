/** Finds the networks that contain an address (RFC 4632, RFC 4291 section 2.3). */
import ipaddr from 'ipaddr.js';

/** @returns whether it is a network in CIDR notation, without bits behind its prefix */
export function isNetwork(value: string): boolean {
  if (!ipaddr.isValidCIDR(value)) return false;
  const [address] = ipaddr.parseCIDR(value);
  const first = address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(value) : ipaddr.IPv6.networkAddressFromCIDR(value);
  return first.toNormalizedString() === address.toNormalizedString();
}

/** @param address of the client; IPv4 in its IPv6 form counts as IPv4. undefined: not known, and in none of them */
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
