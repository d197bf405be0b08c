/**
 * Client certificate from the proxy that terminates TLS (RFC 9440). It is sent in a header, which anyone can set, so it is accepted only
 * from addresses of proxies, and the proxy must remove the header from client requests.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { present } from '../clock/clock.ts';
import type { Config } from '../config/config.ts';

export interface ClientCertificates {
  /** Is a proxy configured that passes certificates on? */
  readonly offered: boolean;
  /** @returns undefined: no certificate, or an invalid one */
  of(req: IncomingMessage): X509Certificate | undefined;
  /** Was it issued by a CA of MTLS_CA_FILE, and is it currently valid? */
  isTrusted(certificate: X509Certificate): boolean;
}

/** Milliseconds between log lines about ignored headers. */
const LOGGED_EVERY = 60_000;

/** @throws {Error} MTLS_CA_FILE cannot be read, or contains no certificate */
export function clientCertificates({ mtls }: Pick<Config, 'mtls'>, log: Pick<Logger, 'warn'>): ClientCertificates {
  if (mtls === undefined) return { offered: false, of: () => undefined, isTrusted: () => false };
  const authorities = mtls.caFile === undefined ? [] : readAuthorities(mtls.caFile);
  if (mtls.caFile !== undefined && authorities.length === 0) throw new Error(`MTLS_CA_FILE contains no certificate: ${mtls.caFile}`);
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
      const issued = (by: X509Certificate) => certificate.checkIssued(by) && certificate.verify(by.publicKey);
      return (
        timeProblem(certificate, now) === undefined &&
        isForClients(certificate) &&
        authorities.some((issuer) => authorityProblem(issuer, now) === undefined && issued(issuer))
      );
    },
  };
}

/** @returns the certificates of MTLS_CA_FILE @throws {Error} the file or a certificate cannot be read */
export const readAuthorities = (file: string): X509Certificate[] => certificatesIn(readFileSync(file, 'utf8'));

/** @returns why certificates of the CA are invalid at that time; undefined: they are valid */
export const authorityProblem = (authority: X509Certificate, now: Date): string | undefined =>
  authority.ca ? timeProblem(authority, now) : 'is not the certificate of an authority (basicConstraints)';

function timeProblem({ validFrom, validTo }: X509Certificate, now: Date): string | undefined {
  if (now < new Date(validFrom)) return `is not valid before ${validFrom}`;
  return now < new Date(validTo) ? undefined : `has expired on ${validTo}`;
}

/** RFC 5280 section 4.2.1.12: clientAuth or any purpose; a certificate without the extension is valid for all. */
const CLIENT_PURPOSES: readonly string[] = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/** Node returns the extended key usage in a property called keyUsage. */
const isForClients = ({ keyUsage }: X509Certificate): boolean =>
  keyUsage === undefined || keyUsage.some((purpose) => CLIENT_PURPOSES.includes(purpose));

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((one) => new X509Certificate(one));

/** RFC 9440 section 2.2: DER in base64 between colons; or PEM with percent-encoding, as nginx sends it. */
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
