/**
 * Signing keys of a server for oidc-provider (RFC 7515). node:crypto signs in the calling thread: the library passes each signature to a
 * thread pool by WebCrypto, which costs twice the signature for ES256 and a fifth of it for RS256.
 */

import { constants, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey, errors as joseErrors } from 'jose';
import { ENCRYPTION_ALGS, ENCRYPTION_ENCS } from '../../features/applications/settings/algorithms.policy.ts';
import { algsOf, type SigningChoice } from '../../features/authorization-servers/signing-keys.policy.ts';
import type { SigningKey } from '../../features/authorization-servers/signing-keys.resource.ts';
import { isPublished } from '../../features/authorization-servers/signing-keys.service.ts';
import { ExternalSigningKey, type KoaContextWithOIDC } from '../library/oidc-provider.ts';

// The verification keys of a server and its JWKS (RFC 7517 section 5). A retired key leaves both when everything that it signed has expired.

const setOf = (keys: readonly SigningKey[]) => createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk as unknown as JWK) });

/**
 * @param find looks up a key that this process has not loaded yet, because another process has just created it
 * @returns a function that finds the key of a token that was signed here
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

/** Removes keys that verify only logout hints from the JWKS: oidc-provider publishes all its keys. */
export function removeUnpublishedKeys(ctx: KoaContextWithOIDC, keys: readonly SigningKey[]): void {
  const withheld = new Set(keys.filter((key) => !isPublished(key)).map(({ kid }) => kid));
  const { keys: held } = ctx.body as { keys: readonly JWK[] };
  ctx.body = { keys: held.filter(({ kid }) => !withheld.has(kid ?? '')) };
  // Setting the body resets the type.
  ctx.type = 'application/jwk-set+json; charset=utf-8';
}

export class SigningKeyInProcess extends ExternalSigningKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  /** @param jwk with its private part */
  constructor({ kid, alg, ...jwk }: JWK) {
    super();
    this.#private = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
    Object.assign(this, { kid, alg });
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  /** For JWTs that the library does not create. */
  get privateKey(): KeyObject {
    return this.#private;
  }

  /**
   * RFC 7518 sections 3.3 to 3.5 and RFC 8037 section 3.1: an ECDSA signature is the concatenation of its two numbers; the salt of PSS is
   * as long as the hash.
   */
  override sign(data: Uint8Array): Uint8Array {
    const key = this.#private;
    if (this.alg === 'EdDSA') return sign(null, data, key);
    if (this.alg === 'PS256') {
      return sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST });
    }
    return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
  }
}

// Algorithms that a server offers its clients, in oidc-provider's configuration. Signatures are limited to those with a key.

const [keys, contents] = [[...ENCRYPTION_ALGS], [...ENCRYPTION_ENCS]];

/** @param choice the signing algorithms: a key that was retired with its algorithm only verifies */
export function responseAlgs(choice: SigningChoice) {
  const signing = [...algsOf(choice)];
  return {
    idTokenSigningAlgValues: signing,
    userinfoSigningAlgValues: signing,
    introspectionSigningAlgValues: signing,
    authorizationSigningAlgValues: signing,
    idTokenEncryptionAlgValues: keys,
    userinfoEncryptionAlgValues: keys,
    introspectionEncryptionAlgValues: keys,
    authorizationEncryptionAlgValues: keys,
    idTokenEncryptionEncValues: contents,
    userinfoEncryptionEncValues: contents,
    introspectionEncryptionEncValues: contents,
    authorizationEncryptionEncValues: contents,
    // authorize/request-object.ts reads request objects and does not support encryption.
    requestObjectEncryptionAlgValues: [],
    requestObjectEncryptionEncValues: [],
  };
}
