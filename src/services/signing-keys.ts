/**
 * Signing keys of an authorization server (RFC 7517): made here, sealed at rest, handed to oidc-provider with the one that signs first.
 * A retired key is handed over too: the tokens it signed must verify until they expire.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { present } from '../clock.ts';
import type { Keyring } from '../secrets.ts';
import type { SigningAlg, SigningKey } from '../store/authorization-servers.ts';

const ORDER = { ACTIVE: 0, NEXT: 1, RETIRED: 2 } as const;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/** Where a private key is sealed: a sealed key moved to another kid does not open. */
const sealingContext = (kid: string): string => `signing_key:${kid}`;

/** @returns a new key pair, the private part sealed; kid is the thumbprint of RFC 7638 */
export async function createSigningKey(alg: SigningAlg, keyring: Keyring): Promise<SigningKey & { readonly activated: Date }> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, ...(alg === 'RS256' ? { modulusLength: 2048 } : {}) });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  const complete = { ...jwk, kid, alg, use: 'sig' };
  const now = present();
  return {
    kid,
    alg,
    status: 'ACTIVE',
    publicJwk: publicPart(complete),
    privateSealed: keyring.seal(JSON.stringify(complete), sealingContext(kid)),
    created: now,
    activated: now,
  };
}

/** The public members of a key: all that may leave the service. */
export function publicPart(jwk: JWK): JWK {
  return Object.fromEntries(Object.entries(jwk).filter(([member]) => !(PRIVATE_MEMBERS as readonly string[]).includes(member))) as JWK;
}

/** The keys with their private parts, the signing one first: oidc-provider signs with the first that fits. */
export function openSigningKeys(keys: readonly SigningKey[], keyring: Keyring): JWK[] {
  return [...keys]
    .sort((a, b) => ORDER[a.status] - ORDER[b.status])
    .map((key) => JSON.parse(keyring.open(key.privateSealed, sealingContext(key.kid))) as JWK);
}
