/** Mutual TLS (RFC 8705) in a server's metadata: methods, and the URLs where the proxy requests a certificate. */
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config/config.ts';
import type { ClientCertificates } from '../../platform/http/client-certificate.ts';
import { namesSubject } from '../client-authentication/client-authentication.ts';
import type { Configuration } from '../library/oidc-provider.ts';
import { isProgramEndpoint, ROUTES } from './endpoints.ts';

/** Client authentication methods with a certificate (RFC 8705 section 2). */
export const TLS_METHODS = ['tls_client_auth', 'self_signed_tls_client_auth'] as const;

type MtlsFeature = NonNullable<NonNullable<Configuration['features']>['mTLS']>;
type Mtls = Pick<Config, 'baseUrl' | 'mtls'>;

/** The endpoints for programs (RFC 8705 section 5). */
export function mtlsMetadata(issuer: string, { baseUrl, mtls }: Mtls): Record<string, unknown> {
  if (mtls?.baseUrl === undefined) return {};
  const base = mtls.baseUrl + issuer.slice(baseUrl.length);
  const called = Object.entries(ROUTES).filter(([, path]) => isProgramEndpoint(path));
  return { mtls_endpoint_aliases: Object.fromEntries(called.map(([name, path]) => [`${name}_endpoint`, base + path])) };
}

/** Removes metadata about certificates if they cannot be received. */
export function withoutMtls<T extends Readonly<Record<string, unknown>>>(document: T, { mtls }: Mtls): Record<string, unknown> {
  if (mtls !== undefined) return document;
  const { tls_client_certificate_bound_access_tokens: _, token_endpoint_auth_methods_supported: methods = [], ...rest } = document;
  const others = (methods as readonly string[]).filter((method) => !(TLS_METHODS as readonly string[]).includes(method));
  return { ...rest, token_endpoint_auth_methods_supported: others };
}

/** The URL of the request's endpoint as its client called it: below MTLS_BASE_URL if it used that. Only the two configured URLs are returned. */
export function aliasOf({ baseUrl, mtls }: Mtls, { headers }: IncomingMessage, url: string): string {
  if (mtls?.baseUrl === undefined || headers.host !== new URL(mtls.baseUrl).host) return url;
  return mtls.baseUrl + url.slice(baseUrl.length);
}

/**
 * The library's feature. Always on: an application that registered it must be accepted as a client and refused where no certificate can be received.
 */
export const mtlsFeature = (certificates: ClientCertificates): MtlsFeature => ({
  enabled: true,
  certificateBoundAccessTokens: true,
  selfSignedTlsClientAuth: true,
  tlsClientAuth: true,
  getCertificate: ({ req }) => certificates.of(req),
  certificateAuthorized: ({ req }) => isTrusted(certificates, req),
  certificateSubjectMatches({ req }, property, expected) {
    const certificate = certificates.of(req);
    return certificate !== undefined && namesSubject(certificate, property, expected);
  },
});

function isTrusted(certificates: ClientCertificates, req: IncomingMessage): boolean {
  const certificate = certificates.of(req);
  return certificate !== undefined && certificates.isTrusted(certificate);
}
