/** Which ids a custom authorization server may have: the last path segment of its issuer, so no word that the built-in server answers. */
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
  'built-in',
  'interaction',
  'par',
  'device',
  'clients',
  'registration',
]);

/** @returns what is wrong with the id, undefined when nothing is */
export function serverIdProblem(id: string): string | undefined {
  if (!ID.test(id)) return 'must be 1 to 64 of a-z, 0-9, underscore and hyphen, and begin with a letter or digit';
  return RESERVED.has(id) ? 'is reserved for an endpoint of the built-in server' : undefined;
}
