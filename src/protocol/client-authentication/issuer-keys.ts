/** Public keys of other parties, fetched by the guarded client and kept in this process, shared by all servers. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { calledUri } from '../../features/applications/application-settings.service.ts';
import { atMost } from '../../platform/cache/cache-size.ts';
import type { Outbound } from '../../platform/http/outbound.ts';

const MOST_SETS = 500;
const MOST_ISSUERS = 100;
/** Cache time of discovery documents and key sets. Key sets are also read again for an unknown key, at most every 30 seconds. */
const KEPT_MS = 600_000;

/** OpenID Connect Discovery 1.0 section 3: what is used of the document. */
const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: calledUri });

export class IssuerKeys {
  readonly #sets = new LRUCache<string, JWTVerifyGetKey>(atMost(MOST_SETS));
  readonly #addresses: LRUCache<string, string>;

  constructor(readonly outbound: Outbound) {
    this.#addresses = new LRUCache({ max: MOST_ISSUERS, ttl: KEPT_MS, fetchMethod: (issuer) => this.#discover(issuer) });
  }

  /** @returns the key set at an address */
  at(address: string): JWTVerifyGetKey {
    const known = this.#sets.get(address);
    if (known !== undefined) return known;
    const keys = createRemoteJWKSet(new URL(address), { [customFetch]: this.outbound as unknown as typeof fetch });
    this.#sets.set(address, keys);
    return keys;
  }

  /** @returns the key set that an issuer's discovery document names @throws {Error} it cannot be fetched, or is another issuer's */
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
