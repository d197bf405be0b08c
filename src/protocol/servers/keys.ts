/** The keys that a server's tokens are verified by, and its JWKS (RFC 7517 section 5): a retired key leaves both when nothing that it signed can be alive. */
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey, errors as joseErrors } from 'jose';
import type { SigningKey } from '../../features/authorization-servers/signing-keys.resource.ts';
import { isPublished } from '../../features/authorization-servers/signing-keys.service.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

const setOf = (keys: readonly SigningKey[]) => createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk as unknown as JWK) });

/**
 * @param find looks for a key that this process has not heard of yet: another one has just made it
 * @returns what finds the key of a token that was signed here
 */
export function verificationKeys(keys: readonly SigningKey[], find: (kid: string) => Promise<SigningKey | undefined>): JWTVerifyGetKey {
  const known = new Map(keys.map((key) => [key.kid, key]));
  const knownSet = setOf(keys);
  return async (header, token) => {
    const { kid = '' } = header;
    const key = known.get(kid) ?? (await find(kid));
    if (key === undefined || !isPublished(key)) throw new joseErrors.JWKSNoMatchingKey();
    return known.has(kid) ? knownSet(header, token) : setOf([key])(header, token);
  };
}

/** Takes out of the JWKS what verifies logout hints alone: oidc-provider publishes every key it holds. */
export function withholdUnpublished(ctx: KoaContextWithOIDC, keys: readonly SigningKey[]): void {
  const withheld = new Set(keys.filter((key) => !isPublished(key)).map(({ kid }) => kid));
  const { keys: held } = ctx.body as { keys: readonly JWK[] };
  ctx.body = { keys: held.filter(({ kid }) => !withheld.has(kid ?? '')) };
  // A body that is set again takes the type with it.
  ctx.type = 'application/jwk-set+json; charset=utf-8';
}
