/**
 * Size of a token (RFC 7515 section 7.1, compact serialization). Claims are omitted if the token would exceed 8 KiB, the limit of headers, cookies
 * and proxies. Only claims that the server adds are omitted, never standard ones.
 */
export const LARGEST_TOKEN = 8192;

/** Header and dots with the longest signature that servers make, RS256 with 2048 bits: 342 characters. */
const ENVELOPE = 512;

/** Maximum bytes of a token's JSON. */
export const LARGEST_PAYLOAD = Math.floor(((LARGEST_TOKEN - ENVELOPE) * 3) / 4);

/** Bytes reserved for protocol and standard claims when a claim is configured before any request. */
const KEPT_FREE = 1024;

/** Maximum bytes of all claims with fixed values. */
export const LARGEST_FIXED_CLAIMS = LARGEST_PAYLOAD - KEPT_FREE;

/** The length of a value as JSON, in bytes. */
export const jsonSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The length of an object's member with its comma, in bytes. */
const memberSize = ([name, value]: readonly [string, unknown]): number => jsonSize(name) + jsonSize(value) + 2;

export const membersSize = (claims: Readonly<Record<string, unknown>>): number =>
  Object.entries(claims).reduce((sum, member) => sum + memberSize(member), 0);

export interface ClaimsWithinLimit {
  readonly claims: Readonly<Record<string, unknown>>;
  /** Names of the omitted claims. */
  readonly omitted: readonly string[];
}

/**
 * Omits as many claims as necessary, largest first.
 * @param claims those that can be omitted
 * @param others bytes of the payload's JSON without them
 */
export function limitToTokenSize(claims: Readonly<Record<string, unknown>>, others: number): ClaimsWithinLimit {
  const omitted: string[] = [];
  let size = others + membersSize(claims);
  for (const member of Object.entries(claims).sort((a, b) => memberSize(b) - memberSize(a))) {
    if (size <= LARGEST_PAYLOAD) break;
    size -= memberSize(member);
    omitted.push(member[0]);
  }
  return { claims: Object.fromEntries(Object.entries(claims).filter(([name]) => !omitted.includes(name))), omitted };
}
