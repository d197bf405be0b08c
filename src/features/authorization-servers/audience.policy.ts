/**
 * Selects the audiences of an access token: those requested by `resource` or `audience`, limited to earlier grants (RFC 8707 section 2). Used by the
 * protocol and the simulator.
 */

/** Maximum number of audiences of a server and of a request. */
export const MOST_AUDIENCES = 100;

interface Audiences {
  readonly audience: string;
  readonly furtherAudiences: readonly string[];
}

/** All audiences of a server, the default one first. */
export const audiencesOf = ({ audience, furtherAudiences }: Audiences): readonly string[] => [audience, ...furtherAudiences];

/**
 * Is the token for the server itself, and so for userinfo (RFC 9068 section 4)? The default audience counts, because applications get it
 * without a request.
 * @param aud absent: an opaque token without a requested audience
 */
export const isForServer = (aud: unknown, { audience, issuer }: { readonly audience: string; readonly issuer: string }): boolean =>
  aud === undefined || [aud].flat().some((one) => one === issuer || one === audience);

/** @param audiences the selected ones; empty: the default one, or the issuer for opaque tokens @returns `aud` for JWTs and introspection */
export function audienceClaim(
  server: { readonly audience: string; readonly issuer: string; readonly accessTokenFormat: 'opaque' | 'jwt' },
  audiences: readonly string[],
): string | readonly string[] {
  const [first = server.accessTokenFormat === 'jwt' ? server.audience : server.issuer, ...further] = audiences;
  return further.length === 0 ? first : [first, ...further];
}

export interface AudienceFacts {
  /** Audiences of the server, the default first. */
  readonly offered: readonly string[];
  /** From the request; duplicates count once. */
  readonly requested: readonly string[];
  /**
   * Audiences granted to the authorization request or assertion; empty: none requested, default granted. undefined: no earlier grant, every audience
   * of the server is possible.
   */
  readonly granted: readonly string[] | undefined;
}

/** `audiences` is empty if none was requested: the token format decides (protocol/token/audience.ts). */
export type AudienceDecision = { readonly audiences: readonly string[] } | { readonly audiences: undefined; readonly reason: string };

/** Origins with and without a trailing slash are equal (RFC 3986 section 6.2.3): URL classes of clients add it. */
const comparable = (audience: string): string => (/^https?:\/\/[^/?#]+\/$/i.test(audience) ? audience.slice(0, -1) : audience);

/** @returns the audience in the server's spelling */
const find = (among: readonly string[], wanted: string): string | undefined =>
  among.find((one) => one === wanted) ?? among.find((one) => comparable(one) === comparable(wanted));

const refuse = (reason: string): AudienceDecision => ({ audiences: undefined, reason });

/** Decides the audiences of a token, or of a code or refresh token. A refusal is `invalid_target` (RFC 8707 section 2). */
export function decideAudiences({ offered, requested, granted }: AudienceFacts): AudienceDecision {
  const wanted = new Set<string>();
  for (const one of requested) {
    const known = find(offered, one);
    if (known === undefined)
      return refuse('the authorization server does not have a requested audience. Add it there, or request another one');
    wanted.add(known);
  }
  if (wanted.size > MOST_AUDIENCES) return refuse('too many audiences are requested');
  if (granted === undefined) return { audiences: [...wanted] };
  const kept = granted.flatMap((one) => find(offered, one) ?? []);
  if (granted.length > 0 && kept.length === 0) return refuse('the authorization server no longer has the audiences that were granted');
  const allowed = new Set(granted.length > 0 ? kept : offered.slice(0, 1));
  if (![...wanted].every((one) => allowed.has(one)))
    return refuse('a requested audience was not granted by the authorization request or the assertion');
  return { audiences: wanted.size > 0 ? [...wanted] : kept };
}
