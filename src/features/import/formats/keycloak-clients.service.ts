/** Clients of a realm that Keycloak exported, as applications. */
import { z } from 'zod';

const uris = z.array(z.string()).default([]);
const flag = z.boolean().default(false);

export const keycloakClient = z.looseObject({
  clientId: z.string(),
  name: z.string().optional(),
  protocol: z.string().default('openid-connect'),
  enabled: z.boolean().default(true),
  rootUrl: z.string().default(''),
  baseUrl: z.string().default(''),
  redirectUris: uris,
  webOrigins: uris,
  publicClient: flag,
  clientAuthenticatorType: z.string().default('client-secret'),
  secret: z.string().optional(),
  standardFlowEnabled: z.boolean().default(true),
  implicitFlowEnabled: flag,
  directAccessGrantsEnabled: flag,
  serviceAccountsEnabled: flag,
  consentRequired: flag,
  attributes: z.record(z.string(), z.unknown()).default({}),
});
export type KeycloakClient = z.output<typeof keycloakClient>;

/** Clients of Keycloak itself, which every realm has. */
const OWN_CLIENTS: ReadonlySet<string> = new Set([
  ...['account', 'account-console', 'admin-cli', 'broker', 'realm-management', 'security-admin-console'],
]);
/** The realm `master` has a client for each realm, named after it. */
export const isOwnClient = (clientId: string): boolean => OWN_CLIENTS.has(clientId) || clientId.endsWith('-realm');

/** Redirect URIs with wildcards; applications here need exact redirect URIs (RFC 9700 section 2.1). */
export const wildcardsOf = ({ redirectUris }: KeycloakClient): string[] => redirectUris.filter((uri) => uri.includes('*'));

/** Is the secret hidden by asterisks, as in partial exports of the admin console? */
export const isHidden = (secret: string): boolean => /^\*+$/.test(secret);

export function applicationOf(
  client: KeycloakClient,
  roles: readonly object[],
  groups: readonly { readonly name: string; readonly roles: readonly string[] }[],
): object {
  const { clientId, name = '', enabled, secret, clientAuthenticatorType, publicClient } = client;
  const method = publicClient ? 'none' : clientAuthenticatorType === 'client-jwt' ? 'private_key_jwt' : 'client_secret_basic';
  const usesSecret = method === 'client_secret_basic' && secret !== undefined && !isHidden(secret);
  return {
    clientId,
    label: name === '' || name.startsWith('${') ? clientId : name,
    ...(usesSecret && { secret }),
    activate: enabled,
    settings: { token_endpoint_auth_method: method, ...flowsOf(client), ...addressesOf(client) },
    roles,
    groups,
  };
}

function flowsOf(client: KeycloakClient): object {
  const {
    standardFlowEnabled: code,
    implicitFlowEnabled: implicit,
    directAccessGrantsEnabled,
    serviceAccountsEnabled,
    publicClient,
  } = client;
  const redirects = redirectsOf(client).length > 0;
  const responseTypes = [...(code && redirects ? ['code'] : []), ...(implicit && redirects ? ['id_token', 'id_token token'] : [])];
  const grantTypes = [
    ...(code && redirects ? ['authorization_code', 'refresh_token'] : []),
    ...(implicit && redirects ? ['implicit'] : []),
    ...(directAccessGrantsEnabled ? ['password'] : []),
    ...(serviceAccountsEnabled && !publicClient ? ['client_credentials'] : []),
  ];
  return {
    application_type: redirects ? (publicClient ? 'browser' : 'web') : 'service',
    response_types: responseTypes,
    grant_types: grantTypes,
    consent_method: client.consentRequired ? 'REQUIRED' : 'TRUSTED',
    pkce_required: publicClient || typeof client.attributes['pkce.code.challenge.method'] === 'string',
  };
}

/** Relative URLs are resolved against the root URL. */
const absolute = ({ rootUrl }: KeycloakClient, uri: string): string =>
  uri.startsWith('/') && rootUrl !== '' ? `${rootUrl.replace(/\/$/, '')}${uri}` : uri;

const redirectsOf = (client: KeycloakClient): string[] => [
  ...new Set(client.redirectUris.filter((uri) => !uri.includes('*')).map((uri) => absolute(client, uri))),
];

function addressesOf(client: KeycloakClient): object {
  const { attributes, baseUrl } = client;
  const afterLogout = String(attributes['post.logout.redirect.uris'] ?? '')
    .split('##')
    .filter((uri) => uri !== '' && uri !== '-' && uri !== '+' && !uri.includes('*'))
    .map((uri) => absolute(client, uri));
  const follows = attributes['post.logout.redirect.uris'] === '+';
  const backchannel = attributes['backchannel.logout.url'];
  const jwks = attributes['jwks.url'];
  const home = absolute(client, baseUrl);
  const origins = client.webOrigins.filter((origin) => origin !== '+' && origin !== '*' && origin !== '');
  return {
    redirect_uris: redirectsOf(client),
    post_logout_redirect_uris: follows ? redirectsOf(client) : [...new Set(afterLogout)],
    ...(origins.length > 0 && { allowed_origins: origins }),
    ...(/^https?:\/\//.test(home) && { client_uri: home }),
    ...(typeof backchannel === 'string' && backchannel !== '' && { backchannel_logout_uri: backchannel }),
    ...(client.clientAuthenticatorType === 'client-jwt' && typeof jwks === 'string' && jwks !== '' && { jwks_uri: jwks }),
  };
}
