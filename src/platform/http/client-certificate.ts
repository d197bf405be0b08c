/**
 * The certificate that a client showed to the proxy which ends TLS (RFC 9440). It comes in a header, which anybody can send: it counts from the addresses
 * of proxies alone, and the proxy must take the header out of what its clients send.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { present } from '../clock/clock.ts';
import type { Config } from '../config/config.ts';

export interface ClientCertificates {
  /** Is there a proxy that hands certificates over? */
  readonly offered: boolean;
  /** @returns undefined where none came, or none that counts */
  of(req: IncomingMessage): X509Certificate | undefined;
  /** Was it issued by one of the authorities of MTLS_CA_FILE, for now? */
  isTrusted(certificate: X509Certificate): boolean;
}

/** Once in so many milliseconds a header that does not count is logged. */
const LOGGED_EVERY = 60_000;

/** @throws {Error} MTLS_CA_FILE cannot be read, or holds no certificate */
export function clientCertificates({ mtls }: Pick<Config, 'mtls'>, log: Pick<Logger, 'warn'>): ClientCertificates {
  if (mtls === undefined) return { offered: false, of: () => undefined, isTrusted: () => false };
  const authorities = mtls.caFile === undefined ? [] : certificatesIn(readFileSync(mtls.caFile, 'utf8'));
  if (mtls.caFile !== undefined && authorities.length === 0) throw new Error(`MTLS_CA_FILE holds no certificate: ${mtls.caFile}`);
  const known = new WeakMap<IncomingMessage, X509Certificate | undefined>();
  let loggedAt = Number.NEGATIVE_INFINITY;

  function ignore(req: IncomingMessage, why: string): undefined {
    if (performance.now() - loggedAt < LOGGED_EVERY) return undefined;
    loggedAt = performance.now();
    log.warn({ address: req.socket.remoteAddress, header: mtls?.header }, `a client certificate was ignored: ${why}`);
    return undefined;
  }

  function read(req: IncomingMessage): X509Certificate | undefined {
    const value = req.headers[mtls?.header ?? ''];
    if (typeof value !== 'string' || value === '') return undefined;
    if (!isWithin(req.socket.remoteAddress ?? '', mtls?.proxies ?? [])) return ignore(req, 'it came from no proxy of MTLS_PROXIES');
    const certificate = parseHeader(value);
    return certificate ?? ignore(req, 'the header holds none');
  }

  return {
    offered: true,
    of(req) {
      if (!known.has(req)) known.set(req, read(req));
      return known.get(req);
    },
    isTrusted(certificate) {
      const now = present();
      const isCurrent = new Date(certificate.validFrom) <= now && now < new Date(certificate.validTo);
      return (
        isCurrent && authorities.some((issuer) => issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey))
      );
    },
  };
}

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((one) => new X509Certificate(one));

/** RFC 9440 section 2.2: DER in base64 between colons; or PEM with percent-encoding, as nginx writes it. */
function parseHeader(value: string): X509Certificate | undefined {
  const [, der] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(value) ?? [];
  try {
    if (der !== undefined) return new X509Certificate(Buffer.from(der, 'base64'));
    const pem = decodeURIComponent(value);
    return pem.startsWith('-----BEGIN CERTIFICATE-----') ? new X509Certificate(pem) : undefined;
  } catch {
    return undefined;
  }
}

/** @param ranges addresses, or networks in CIDR notation */
function isWithin(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const own = ipaddr.process(address);
  return ranges.some((range) => {
    const [network, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), range.includes(':') ? 128 : 32];
    return network.kind() === own.kind() && own.match([network, bits] as [ipaddr.IPv4, number]);
  });
}
