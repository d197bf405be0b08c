/** The ids of authorization servers, the issuers made of them, and which id a custom server may have: no word that the built-in server answers. */
export const BUILT_IN = 'built-in';
/** The first custom one, which every service begins with. */
export const DEFAULT = 'default';

/** The issuer of a server (RFC 8414 section 2): the built-in one has no segment of its own. */
export const issuerOf = (baseUrl: string, serverId: string): string => `${baseUrl}/oauth/v1${serverId === BUILT_IN ? '' : `/${serverId}`}`;

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** First path segments below `/oauth/v1` that are the built-in server's, or may become its. */
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
  // Okta's SDKs look for the built-in server's endpoints below these.
  'v1',
  'oauth2',
]);

/** @returns what is wrong with the id, undefined when nothing is */
export function serverIdProblem(id: string): string | undefined {
  if (!ID.test(id)) return 'must be 1 to 64 characters a-z, 0-9, underscore and hyphen, and begin with a letter or digit';
  return RESERVED.has(id) ? 'is reserved for an endpoint of the built-in authorization server. Choose another ID' : undefined;
}
