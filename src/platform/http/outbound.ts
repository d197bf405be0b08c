/**
 * Outbound requests to URLs chosen by others (a client's `jwks_uri`, a logout URI, an identity provider): public addresses only, no
 * redirects, limited time and size (server-side request forgery: OWASP SSRF Prevention Cheat Sheet; RFC 7591 section 5).
 * ALLOW_PRIVATE_NETWORK adds private addresses, but never the metadata addresses of clouds.
 */
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { Agent, Headers, type RequestInit, type Response, fetch as request } from 'undici';
import { timeoutSignal } from '../clock/timeout.ts';
import { timings } from '../clock/timings.ts';
import type { Config } from '../config/config.ts';
import { inSpan, outboundTraceHeaders, type SpanFacts } from '../telemetry/tracing.ts';

/** Maximum bytes of a response. */
export const LARGEST_RESPONSE = 256 * 1024;

/** The service refused to make or complete the request. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
}

/** The address is a loopback or private address, and ALLOW_PRIVATE_NETWORK is off. */
export class PrivateAddress extends OutboundRefused {}

const GLOBAL_UNICAST = /^[23][0-9a-f]{3}:/;
/**
 * IPv4-compatible IPv6 addresses (RFC 4291 section 2.5.5.1, deprecated): the library would check the IPv4 address, but the connection would
 * use the IPv6 address.
 */
const COMPATIBLE = /^::\d+\./;

/** Is this an address of the public internet (IANA special-purpose registries, RFC 6890)? @param address IPv4 or IPv6, without brackets */
export function isPublicAddress(address: string): boolean {
  // `process` also extracts the IPv4 address of an IPv4-mapped one. Other embeddings (NAT64, 6to4, Teredo) have ranges of their own.
  if (!ipaddr.isValid(address) || COMPATIBLE.test(address)) return false;
  const parsed = ipaddr.process(address);
  // Only 2000::/3 of IPv6 is assigned; `unicast` also includes unassigned addresses.
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || GLOBAL_UNICAST.test(parsed.toString()));
}

/** Metadata addresses outside the link-local range, where most clouds have them: Azure, Alibaba Cloud, Oracle Cloud, and Amazon by IPv6. */
const CLOUD_METADATA = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']);

/** May the service connect to this address? @param address IPv4 or IPv6, without brackets */
export function mayConnectTo(address: string, { allowPrivateNetwork }: Pick<Config, 'allowPrivateNetwork'>): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() === 'linkLocal' || CLOUD_METADATA.has(parsed.toString())) return false;
  return allowPrivateNetwork || isPublicAddress(address);
}

type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void,
) => void;

/** Resolves a name for the connection itself, so that the checked address is the one that is used (DNS rebinding). */
export const guardedLookup =
  (config: Pick<Config, 'allowPrivateNetwork'>): Lookup =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => mayConnectTo(address, config))) {
        return callback(new PrivateAddress(`${hostname} is not a public address`), []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

export type Outbound = (url: string | URL, init?: RequestInit) => Promise<Response>;

const shared = new WeakMap<object, Outbound>();

/** The default client, which keeps its connections. */
export function sharedOutbound(config: Pick<Config, 'allowPrivateNetwork'>): Outbound {
  const known = shared.get(config) ?? createOutbound(config);
  shared.set(config, known);
  return known;
}

/**
 * @returns a `fetch` for such requests; it rejects with OutboundRefused, as the error or its cause, for an address that is not public, a
 * redirect, or a response that is too large
 */
export function createOutbound(config: Pick<Config, 'allowPrivateNetwork'>): Outbound {
  const agent = new Agent({
    connect: { timeout: timings.outbound, lookup: guardedLookup(config) },
    headersTimeout: timings.outbound,
    bodyTimeout: timings.outbound,
    maxHeaderSize: 16 * 1024,
    maxResponseSize: LARGEST_RESPONSE,
    keepAliveTimeout: 1000,
  });
  const call: Outbound = async (url, init = {}) => {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'https:' && protocol !== 'http:') throw new OutboundRefused(`${protocol} is not a scheme to ask by`);
    // An address in the URL is not resolved; the URL parser has normalized its notation.
    const bare = hostname.replace(/^\[|\]$/g, '');
    if (ipaddr.isValid(bare) && !mayConnectTo(bare, config)) throw new PrivateAddress(`${hostname} is not a public address`);

    const signal = timeoutSignal(timings.outbound, init.signal);
    const headers = new Headers(init.headers);
    headers.set('accept-encoding', 'identity');
    for (const [name, value] of Object.entries(outboundTraceHeaders())) headers.set(name, value);
    const response = await request(url, { ...init, headers, signal, redirect: 'manual', dispatcher: agent });
    // The size of compressed bodies is limited only before decompression.
    if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') {
      await response.body?.cancel();
      throw new OutboundRefused(`${new URL(url).origin} answered in an encoding`);
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new OutboundRefused(`${new URL(url).origin} answered with a redirect`);
    }
    return response;
  };
  return (url, init) =>
    inSpan(describeCall(url, init), async (span) => {
      const response = await call(url, init);
      span.set({ 'http.response.status_code': response.status });
      return response;
    });
}

/** Only the host of the URL: paths and queries can contain secrets. */
function describeCall(url: string | URL, init: RequestInit | undefined): SpanFacts {
  const method = init?.method?.toUpperCase() ?? 'GET';
  const { hostname, port } = URL.canParse(String(url)) ? new URL(url) : { hostname: '', port: '' };
  return {
    name: method,
    kind: 'client',
    attributes: { 'http.request.method': method, 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) },
  };
}
