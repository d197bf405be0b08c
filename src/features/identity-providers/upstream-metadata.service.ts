/**
 * Endpoints of an external provider: from its settings, otherwise from its discovery document (OpenID Connect Discovery 1.0 section 4). The document
 * is cached for ten minutes and read again after a change of the settings or an unexpected response. Keys are not cached, so rotations at the
 * provider cause no errors.
 */
import { LRUCache } from 'lru-cache';
import type { ServerMetadata } from 'openid-client';
import { z } from 'zod';
import { calledUri } from '../applications/application-settings.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';

/** A request to a URL that was configured by an administrator or published by a provider (platform/http/outbound.ts). */
export type UpstreamCall = (url: string | URL, init?: RequestInit) => Promise<Response>;

const KEPT_MS = 600_000;
const MOST = 100;

/** Used fields of the discovery document. An address that must not be called invalidates the document. */
const discoveryDocument = z.object({
  issuer: z.string(),
  authorization_endpoint: calledUri,
  token_endpoint: calledUri,
  jwks_uri: calledUri,
  userinfo_endpoint: calledUri.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});

/** Asymmetric algorithms. */
const SIGNING_ALGS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA'];

/** Microsoft's placeholder for the tenant ID in the issuer for several tenants. */
export const TENANT = '{tenantid}';

/**
 * Is this the configured issuer? For Microsoft, the issuer of a tenant or the template for all tenants also matches `common` and similar ones
 * ("OpenID Connect on the Microsoft identity platform").
 */
function isIssuerOf({ type, protocol }: IdentityProvider, announced: string): boolean {
  const configured = protocol.issuer?.url ?? '';
  if (announced === configured) return true;
  if (type !== 'MICROSOFT') return false;
  const [before, after, ...more] = configured.split(/\/(?:common|organizations|consumers)\//);
  if (before === undefined || after === undefined || more.length > 0) return false;
  const tenant =
    announced.startsWith(`${before}/`) && announced.endsWith(`/${after}`) ? announced.slice(before.length + 1, -after.length - 1) : '';
  return tenant === TENANT || /^[0-9a-f-]{36}$/.test(tenant);
}

export function upstreamMetadata(outbound: UpstreamCall) {
  const found = new LRUCache<string, ServerMetadata, IdentityProvider>({
    max: MOST,
    ttl: KEPT_MS,
    fetchMethod: (_key, _stale, { context }) => discover(context),
  });

  async function discover(provider: IdentityProvider): Promise<ServerMetadata> {
    const issuer = provider.protocol.issuer?.url ?? '';
    const response = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const document = discoveryDocument.safeParse(response);
    if (!document.success) throw new UpstreamFailure('untrusted', 'DISCOVERY_MALFORMED', document.error);
    if (!isIssuerOf(provider, document.data.issuer)) throw new UpstreamFailure('untrusted', 'DISCOVERY_OF_ANOTHER_ISSUER');
    const offered = document.data.id_token_signing_alg_values_supported ?? ['RS256'];
    return {
      ...document.data,
      id_token_signing_alg_values_supported: offered.filter((alg) => SIGNING_ALGS.includes(alg)),
    } as ServerMetadata;
  }

  async function ask(address: string): Promise<unknown> {
    try {
      const response = await outbound(address, { headers: { accept: 'application/json' } });
      if (response.status === 200) return await response.json();
      await response.body?.cancel();
    } catch (error) {
      throw new UpstreamFailure('unreachable', 'DISCOVERY_FAILED', error);
    }
    throw new UpstreamFailure('unreachable', 'DISCOVERY_FAILED');
  }

  const keyOf = ({ id, lastUpdated }: IdentityProvider): string => `${id} ${lastUpdated.toISOString()}`;

  /** @throws {UpstreamFailure} */
  async function metadataOf(provider: IdentityProvider): Promise<ServerMetadata> {
    const { type, issuer, endpoints } = provider.protocol;
    if (endpoints !== undefined) {
      const { authorization, token, userInfo, jwks } = endpoints;
      return {
        // Plain OAuth 2.0 has no issuer; the redirect URI identifies the provider (RFC 9700 section 4.4.2.2).
        issuer: issuer?.url ?? new URL(authorization?.url ?? '').origin,
        ...(authorization && { authorization_endpoint: authorization.url }),
        ...(token && { token_endpoint: token.url }),
        ...(userInfo && { userinfo_endpoint: userInfo.url }),
        ...(jwks && { jwks_uri: jwks.url }),
        ...(type === 'OIDC' && { id_token_signing_alg_values_supported: SIGNING_ALGS }),
      };
    }
    const metadata = await found.fetch(keyOf(provider), { context: provider });
    if (metadata === undefined) throw new UpstreamFailure('unreachable', 'DISCOVERY_FAILED');
    return metadata;
  }

  return {
    metadataOf,
    /** Call after a response that does not match the document: it is read again the next time. */
    forget: (provider: IdentityProvider): void => void found.delete(keyOf(provider)),
  };
}
