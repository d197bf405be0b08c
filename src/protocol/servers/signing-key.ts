/**
 * A signing key as oidc-provider uses it (RFC 7515): signs by node:crypto in the calling thread. The library's own way through WebCrypto hands each
 * signature to a pool of threads and back, which for ES256 costs twice the signature, and for RS256 a fifth of it.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from '../library/oidc-provider.ts';

export class SigningKeyInProcess extends ExternalSigningKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  /** @param jwk with its private part; RS256 or ES256 */
  constructor({ kid, alg, ...jwk }: JWK) {
    super();
    this.#private = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
    Object.assign(this, { kid, alg });
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  /** RFC 7518 section 3.4: an ECDSA signature is its two numbers side by side. */
  override sign(data: Uint8Array): Uint8Array {
    return sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' });
  }
}
