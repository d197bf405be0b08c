/** IDs of authorization servers, their issuers, and the IDs that a custom server can have: none that collides with a path of the built-in server. */
export const BUILT_IN = 'built-in';
/** The initial custom server. */
export const DEFAULT = 'default';

/** The issuer of a server (RFC 8414 section 2): the built-in server's has no segment with an ID. */
export const issuerOf = (baseUrl: string, serverId: string): string => `${baseUrl}/oauth/v1${serverId === BUILT_IN ? '' : `/${serverId}`}`;

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** First path segments below `/oauth/v1` that the built-in server uses, or may use in future. */
const RESERVED: ReadonlySet<string> = new Set([
  'authorize',
  'token',
  'introspect',
  'revoke',
  'logout',
  'userinfo',
  'keys',
  BUILT_IN,
  'interaction',
  'par',
  'device',
  'device_authorization',
  'backchannel-authentication',
  'clients',
  'register',
  'registration',
  // Okta's SDKs expect the built-in server's endpoints below these.
  'v1',
  'oauth2',
]);

/** @returns the problem of the ID; undefined: none */
export function serverIdProblem(id: string): string | undefined {
  if (!ID.test(id)) return 'must be 1 to 64 characters a-z, 0-9, underscore and hyphen, and begin with a letter or digit';
  return RESERVED.has(id) ? 'is reserved for an endpoint of the built-in authorization server. Choose another ID' : undefined;
}
