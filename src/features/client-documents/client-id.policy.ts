/** URLs as client IDs (draft-ietf-oauth-client-id-metadata-document section 3), and which of them a server accepts. */

/** Settings of a server for clients that use a client ID metadata document. */
export interface ClientIdMetadataSettings {
  readonly enabled: boolean;
  /** Hosts, or `*.` and a domain for all hosts below it. Empty: every host. */
  readonly allowedDomains: readonly string[];
}

/** Maximum characters: the client ID is stored with each token. */
const LONGEST = 512;

/** A URL of RFC 3986 characters with a lower-case host and a path, without user information and fragment. */
const CLIENT_ID_URL = /^https:\/\/[a-z0-9.-]+(?::\d{1,5})?\/[\w\-.~:/?[\]@!$&'()*+,;=%]*$/;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?]|$)/i;

/** Is this a client ID with a metadata document? Our application IDs have neither a colon nor a slash. */
export function isClientIdUrl(id: string): boolean {
  if (id.length > LONGEST || !CLIENT_ID_URL.test(id) || DOT_SEGMENT.test(id)) return false;
  // Compared as text with the document's client_id, so only the URL's canonical form is accepted.
  return URL.canParse(id) && new URL(id).href === id;
}

/** Host shown to users. @param id a client ID that is a URL */
export const hostOf = (id: string): string => new URL(id).host;

/** @param names hosts, or `*.` and a domain for all hosts below it */
export const isNamedHost = (hostname: string, names: readonly string[]): boolean =>
  names.some((name) => (name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name));

/** @param id a client ID that is a URL */
export const acceptsClientId = ({ enabled, allowedDomains }: ClientIdMetadataSettings, id: string): boolean =>
  enabled && (allowedDomains.length === 0 || isNamedHost(new URL(id).hostname, allowedDomains));
