/** Verifies JWTs of issuers that an administrator trusts: signature by an asymmetric key, issuer, a single audience, and limited times. */
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  errors as joseErrors,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { calledUri } from '../../features/applications/application-settings.service.ts';
import { atMost } from '../../platform/cache/cache.ts';
import { epochSeconds, present } from '../../platform/clock/clock.ts';
import type { Outbound } from '../../platform/http/outbound.ts';

// Public keys of other parties, fetched by the guarded HTTP client and cached in this process for all servers.

const MOST_SETS = 500;
const MOST_ISSUERS = 100;
/** Cache time of discovery documents and key sets. Key sets are also read again for an unknown key, at most every 30 seconds. */
const KEPT_MS = 600_000;

/** The fields of the discovery document that are used (OpenID Connect Discovery 1.0 section 3). */
const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: calledUri });

export class IssuerKeys {
  readonly #sets = new LRUCache<string, JWTVerifyGetKey>(atMost(MOST_SETS));
  readonly #addresses: LRUCache<string, string>;

  constructor(readonly outbound: Outbound) {
    this.#addresses = new LRUCache({ max: MOST_ISSUERS, ttl: KEPT_MS, fetchMethod: (issuer) => this.#discover(issuer) });
  }

  /** @returns the key set at a URL */
  at(address: string): JWTVerifyGetKey {
    const known = this.#sets.get(address);
    if (known !== undefined) return known;
    const keys = createRemoteJWKSet(new URL(address), { [customFetch]: this.outbound as unknown as typeof fetch });
    this.#sets.set(address, keys);
    return keys;
  }

  /** @returns the key set of an issuer's discovery document @throws {Error} it cannot be fetched, or belongs to another issuer */
  async of(issuer: string): Promise<JWTVerifyGetKey> {
    const address = await this.#addresses.fetch(issuer);
    if (address === undefined) throw new Error(`the discovery document of ${issuer} cannot be fetched`);
    return this.at(address);
  }

  async #discover(issuer: string): Promise<string> {
    const response = await this.outbound(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`the discovery document of ${issuer} is answered with the status ${response.status}`);
    }
    const document = discoveryDocument.parse(await response.json());
    if (document.issuer !== issuer) throw new Error(`the discovery document of ${issuer} is of another issuer`);
    return document.jwks_uri;
  }
}

/** Asymmetric algorithms only (RFC 8725 section 3.1). */
const ALGS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/** Seconds that an issuer's clock may be ahead. */
const CLOCK_SKEW = 60;
/** Maximum seconds until a JWT expires. Kubernetes tokens are valid for up to a day. */
const LONGEST_LIFE = 86_400;

/** A JWT of another issuer is refused. The message is for the developer of the sender. */
export class ForeignJwtRefused extends Error {
  override readonly name = 'ForeignJwtRefused';
}

/** The issuer's keys cannot be fetched. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

interface Expected {
  readonly issuer: string;
  /** Accepted audiences. The JWT must have exactly one of them: with a second audience, the other recipient could present it here. */
  readonly audiences: readonly string[];
  /** Accepted values of the header `typ` in lower case; '' means none. */
  readonly types: readonly string[];
  keys(): Promise<JWTVerifyGetKey> | JWTVerifyGetKey;
}

/** @returns the claims, not verified; undefined: not a JWT */
export function unverifiedClaims(jwt: string): JWTPayload | undefined {
  try {
    return decodeJwt(jwt);
  } catch {
    return undefined;
  }
}

/** @returns the header `typ` in lower case, '' if there is none; not verified */
export function jwtType(jwt: string): string {
  try {
    return String(decodeProtectedHeader(jwt).typ ?? '').toLowerCase();
  } catch {
    return '';
  }
}

/** @throws {ForeignJwtRefused} @throws {KeysUnavailable} */
export async function verifyForeignJwt(jwt: string, { issuer, audiences, types, keys }: Expected): Promise<JWTPayload> {
  const { alg = '', typ } = headerOf(jwt);
  if (!ALGS.includes(alg)) throw new ForeignJwtRefused(`it must be signed by ${ALGS.join(', ')}`);
  if (!types.includes(String(typ ?? '').toLowerCase())) throw new ForeignJwtRefused('its typ says that it is a JWT of another kind');
  const options = {
    algorithms: [alg],
    issuer,
    requiredClaims: ['iss', 'sub', 'aud', 'exp'],
    currentDate: present(),
    // Tolerance for `nbf` and `iat`; expiry has none (below).
    clockTolerance: CLOCK_SKEW,
  };
  const set = await found(issuer, keys);
  const payload = await verified(jwt, whileAvailable(issuer, set), options);
  const { aud, exp = 0, iat } = payload;
  const [only, ...others] = [aud ?? []].flat();
  if (others.length > 0 || !audiences.includes(only ?? '')) throw new ForeignJwtRefused(`its aud must be ${audiences.join(' or ')} alone`);
  if (exp <= epochSeconds()) throw new ForeignJwtRefused('it has expired');
  if (exp > epochSeconds() + LONGEST_LIFE) throw new ForeignJwtRefused('it is valid for more than 24 hours');
  if (iat !== undefined && iat > epochSeconds() + CLOCK_SKEW) throw new ForeignJwtRefused('its iat is in the future');
  return payload;
}

function headerOf(jwt: string): { readonly alg?: string; readonly typ?: unknown } {
  try {
    return decodeProtectedHeader(jwt);
  } catch {
    throw new ForeignJwtRefused('it is no signed JWT');
  }
}

async function found(issuer: string, keys: Expected['keys']): Promise<JWTVerifyGetKey> {
  try {
    return await keys();
  } catch (cause) {
    throw unavailable(issuer, cause);
  }
}

const unavailable = (issuer: string, cause: unknown): KeysUnavailable =>
  new KeysUnavailable(`the keys of ${issuer} cannot be fetched`, { cause });

/** Separates a missing key from keys that cannot be fetched. */
const whileAvailable =
  (issuer: string, keys: JWTVerifyGetKey): JWTVerifyGetKey =>
  async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const isAnswer =
        error instanceof joseErrors.JWKSNoMatchingKey ||
        error instanceof joseErrors.JWKSMultipleMatchingKeys ||
        error instanceof joseErrors.JOSENotSupported;
      throw isAnswer ? error : unavailable(issuer, error);
    }
  };

async function verified(jwt: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await verifyByAny(jwt, keys, options)).payload;
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error;
    throw new ForeignJwtRefused(reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof joseErrors.JWTExpired) return 'it has expired';
  if (error instanceof joseErrors.JWTClaimValidationFailed) return `its ${error.claim} is missing or wrong`;
  if (error instanceof joseErrors.JWKSNoMatchingKey) return 'its issuer has no such key';
  return 'its signature is wrong';
}

/** A signer may have several keys of one type and JWTs without `kid` (RFC 7515 section 4.1.4). */
export async function verifyByAny(jwt: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(jwt, keys, options);
  } catch (error) {
    if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const result = await jwtVerify(jwt, key, options).catch((failure: unknown) => {
        if (!(failure instanceof joseErrors.JWSSignatureVerificationFailed)) throw failure;
      });
      if (result !== undefined) return result;
    }
    throw error;
  }
}
