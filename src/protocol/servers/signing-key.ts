/**
 * A signing key as oidc-provider uses it (RFC 7515): signs by node:crypto in the calling thread. The library's own way through WebCrypto hands each
 * signature to a pool of threads and back, which for ES256 costs twice the signature, and for RS256 a fifth of it.
 */
import { constants, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from '../library/oidc-provider.ts';

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

  /** For JWTs that the library does not make. */
  get privateKey(): KeyObject {
    return this.#private;
  }

  /** RFC 7518 sections 3.3 to 3.5 and RFC 8037 section 3.1: an ECDSA signature is its two numbers side by side; the salt of PSS is as long as the hash. */
  override sign(data: Uint8Array): Uint8Array {
    const key = this.#private;
    if (this.alg === 'EdDSA') return sign(null, data, key);
    if (this.alg === 'PS256') {
      return sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST });
    }
    return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
  }
}
