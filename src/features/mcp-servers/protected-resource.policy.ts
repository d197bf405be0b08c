/**
 * Protected resource metadata of an MCP server (RFC 9728), which tells clients its authorization server, and its URL in the form of a token audience
 * (RFC 8707 section 2).
 */
import type { ClientIdMetadataSettings } from '../client-documents/client-id.policy.ts';
import { type AccessGrantType, type AccessPolicy, decideAccess, type TokenLifetimes } from '../policies/access-policy.policy.ts';
import type { RegistrationSettings } from '../registration/registration.policy.ts';

// Decides whether an authorization server admits clients that nobody registered: by its settings and its access policies.

/** The only grant type of such clients. */
export const CODE_GRANT: AccessGrantType = 'authorization_code';

/** Represents every client that no policy names. */
const UNKNOWN_CLIENT = 'https://client.invalid/';
/** Represents every user that no policy names. */
const UNKNOWN_USER = 'usr_unknown';

interface Rules {
  readonly server: TokenLifetimes;
  /** Active policies. */
  readonly policies: readonly AccessPolicy[];
}

/** Do the access policies allow a user with these groups and these scopes for a client that no policy names? */
export const admitsUnknownClients = ({ server, policies }: Rules, scopes: readonly string[], groupIds: readonly string[]): boolean =>
  decideAccess(policies, { clientId: UNKNOWN_CLIENT, user: { id: UNKNOWN_USER, groupIds }, grantType: CODE_GRANT, scopes }, server).allowed;

interface ClientSettings {
  readonly clientIdMetadata: ClientIdMetadataSettings;
  readonly registration: RegistrationSettings;
}

/** Does the server accept clients that no administrator created? */
export const acceptsUnknownClients = ({ clientIdMetadata, registration }: ClientSettings): boolean =>
  clientIdMetadata.enabled || registration.mode !== 'OFF';

/** Hosts for development without https. */
const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * @param typed input of an administrator
 * @returns the URL as in tokens, an origin without a trailing slash; undefined: it cannot be the URL of an MCP server
 */
export function mcpServerUrl(typed: string): string | undefined {
  if (!URL.canParse(typed) || /[?#]/.test(typed)) return undefined;
  const { protocol, hostname, username, password, pathname, origin, href } = new URL(typed);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.test(hostname));
  if (!isSafe || username !== '' || password !== '') return undefined;
  return pathname === '/' ? origin : href;
}

export interface ProtectedResource {
  /** The URL of the MCP server. */
  readonly resource: string;
  readonly issuer: string;
  readonly name: string;
  /** Scopes that its tools require. */
  readonly scopes: readonly string[];
}

/** URL of the metadata: the well-known path is inserted between host and path of the resource (RFC 9728 section 3.1). */
export function documentAddress(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

/** The metadata document (RFC 9728 section 2). */
export const protectedResourceDocument = ({ resource, issuer, name, scopes }: ProtectedResource) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_name: name,
});

/** The response to a request without a valid token (RFC 9728 section 5.1). */
export const unauthorizedResponse = (resource: string): string =>
  `HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer resource_metadata="${documentAddress(resource)}"`;
