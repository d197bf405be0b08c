/**
 * The console's requests to its own authorization server (token endpoint and keys): sent to the address at which this process listens, for the
 * public one may be a proxy that this machine cannot reach, or whose certificate it does not know. Only the origin is replaced.
 */
import { isIPv6 } from 'node:net';
import type { CustomFetch } from 'openid-client';
import type { Config } from '../../platform/config/config.ts';

/** Addresses that mean "every address of this machine": to listen at, not to speak to. */
const UNSPECIFIED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Local address of this process. */
export function ownOrigin({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const address = UNSPECIFIED[host] ?? host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

export function backChannel(config: Pick<Config, 'baseUrl' | 'host' | 'port'>): CustomFetch {
  const origin = ownOrigin(config);
  return (address, options) => {
    const url = new URL(address);
    if (url.origin !== config.baseUrl) throw new Error(`${url.origin} is not this service`);
    return fetch(origin + url.pathname + url.search, options as RequestInit);
  };
}
