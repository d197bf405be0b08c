/** Additions to oidc-provider's discovery documents (RFC 8414, OpenID Connect Discovery 1.0). */
import { FAPI2_ALGS } from '../../features/applications/fapi2.policy.ts';
import { RESPONSE_KINDS } from '../../features/applications/settings/algorithms.policy.ts';
import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import { audiencesOf } from '../../features/authorization-servers/audience.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { BUILT_IN } from '../../features/authorization-servers/server-id.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import type { Config } from '../../platform/config/config.ts';
import { CREATE } from '../authorize/prompts.ts';
import { ID_JAG_METADATA } from '../exchange/id-jag.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { OAUTH_METADATA, OPENID_CONFIGURATION, REGISTRATION } from '../servers/endpoints.ts';
import { FAPI2_METADATA } from '../servers/fapi2.ts';
import { withoutMtls } from '../servers/mtls.ts';

interface Metadata extends Readonly<Record<string, unknown>> {
  readonly issuer: string;
  readonly scopes_supported: readonly string[];
}

/**
 * Completes a discovery document: adds the APIs, and removes hidden scopes, and mutual TLS if client certificates cannot be received. Other
 * responses are unchanged.
 */
export function completeDiscovery(
  ctx: KoaContextWithOIDC,
  {
    server,
    scopes,
    detailTypes,
  }: { readonly server: AuthorizationServer; readonly scopes: readonly Scope[]; readonly detailTypes: readonly DetailType[] },
  config: Config,
): void {
  if ((ctx.path !== OPENID_CONFIGURATION && ctx.path !== OAUTH_METADATA) || ctx.status !== 200) return;
  const withheld = new Set(scopes.filter(({ metadataPublish }) => metadataPublish === 'NO_CLIENTS').map(({ name }) => name));
  // Request objects are read before the library, which would announce encryption.
  const {
    request_object_encryption_alg_values_supported: _alg,
    request_object_encryption_enc_values_supported: _enc,
    ...document
  } = ctx.body as Metadata;
  const resources = protectedResources(server);
  const completed = {
    ...document,
    scopes_supported: document.scopes_supported.filter((name) => !withheld.has(name)),
    // Initiating User Registration via OpenID Connect 1.0 section 4.2.
    prompt_values_supported: ['none', 'login', 'consent', CREATE],
    ...(resources.length > 0 && { protected_resources: resources }),
    ...(detailTypes.length > 0 && { authorization_details_types_supported: detailTypes.map(({ name }) => name) }),
    ...(server.registration.mode !== 'OFF' && { registration_endpoint: `${document.issuer}${REGISTRATION}` }),
    // CIBA section 4: the library takes the parameter, the service refuses it (ciba/sign-in-requests.ts).
    backchannel_user_code_parameter_supported: false,
    ...ID_JAG_METADATA,
    ...(server.clientIdMetadata.enabled && { client_id_metadata_document_supported: true }),
  };
  const offered = withoutMtls(completed, config);
  ctx.body = withAuthentication(server.profile === 'fapi2' ? asFapi2(offered) : offered);
}

/**
 * RFC 8414 section 2: without these, clients would assume client_secret_basic only for revocation. Applications authenticate there as at
 * the token endpoint.
 */
const withAuthentication = (document: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...document,
  ...Object.fromEntries(
    ['introspection', 'revocation'].flatMap((endpoint) =>
      ['methods', 'signing_alg_values'].map((what) => [
        `${endpoint}_endpoint_auth_${what}_supported`,
        document[`token_endpoint_auth_${what}_supported`],
      ]),
    ),
  ),
});

/** A server with the profile announces only what the profile allows. */
function asFapi2(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const signed = RESPONSE_KINDS.map((kind) => `${kind}_signing_alg_values_supported`);
  const allowed = (name: string) => (document[name] as readonly string[]).filter((alg) => FAPI2_ALGS.includes(alg));
  const without = (name: string, unfit: RegExp) => (document[name] as readonly string[]).filter((value) => !unfit.test(value));
  return {
    ...document,
    ...FAPI2_METADATA,
    ...Object.fromEntries(signed.map((name) => [name, allowed(name)])),
    token_endpoint_auth_methods_supported: without('token_endpoint_auth_methods_supported', /^(client_secret_|none$)/),
    grant_types_supported: without('grant_types_supported', /^(implicit|password)$/),
  };
}

/** RFC 9728 section 4: the audiences that are URLs, so that a client can check whether this server issues tokens for an API. */
const protectedResources = (server: AuthorizationServer): readonly string[] =>
  server.id === BUILT_IN ? [] : audiencesOf(server).filter((audience) => /^https?:\/\//.test(audience));
