/**
 * Signing keys of an authorization server (RFC 7517): made here, sealed at rest, rotated. For each algorithm that a server signs with, one key is
 * ACTIVE and one NEXT, so that relying parties know it before it signs; a RETIRED one stays for the tokens that it signed. When a rotation is
 * due is not decided here.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import { notFound } from '../errors.ts';
import type { Keyring } from '../secrets.ts';
import { findServer, lockServer } from '../store/authorization-servers.ts';
import type { Executor } from '../store/database.ts';
import {
  activateSigningKey,
  insertSigningKey,
  type KeyInUse,
  listKeysInUse,
  listSigningKeys,
  retireSigningKey,
  type SigningAlg,
  type SigningKey,
} from '../store/signing-keys.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';

const ORDER = { ACTIVE: 0, NEXT: 1, RETIRED: 2 } as const;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/** Where a private key is sealed: a sealed key moved to another kid does not open. */
const sealingContext = (kid: string): string => `signing_key:${kid}`;

/** @returns a new key pair, the private part sealed; kid is the thumbprint of RFC 7638 */
async function createSigningKey(alg: SigningAlg, status: 'NEXT' | 'ACTIVE', keyring: Keyring): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, ...(alg === 'RS256' ? { modulusLength: 2048 } : {}) });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  const complete = { ...jwk, kid, alg, use: 'sig' };
  const now = present();
  return {
    kid,
    alg,
    status,
    publicJwk: publicPart(complete),
    privateSealed: keyring.seal(JSON.stringify(complete), sealingContext(kid)),
    created: now,
    activated: status === 'ACTIVE' ? now : null,
    retired: null,
  };
}

/** @returns what a server needs to sign with an algorithm: a key that signs, and the one that will */
export const createSigningKeys = (alg: SigningAlg, keyring: Keyring): Promise<SigningKey[]> =>
  Promise.all((['ACTIVE', 'NEXT'] as const).map((status) => createSigningKey(alg, status, keyring)));

export async function insertSigningKeys(trx: Executor, serverId: string, keys: readonly SigningKey[]): Promise<void> {
  for (const key of keys) await insertSigningKey(trx, serverId, key);
}

/** The public members of a key: all that may leave the service. */
function publicPart(jwk: JWK): Record<string, unknown> {
  return Object.fromEntries(Object.entries(jwk).filter(([member]) => !(PRIVATE_MEMBERS as readonly string[]).includes(member)));
}

/** The signing one first: oidc-provider signs with the first that fits. */
const byStatus = (a: SigningKey, b: SigningKey): number => ORDER[a.status] - ORDER[b.status];

/** The keys with their private parts, the signing ones first. Retired ones too, for what they signed must verify. */
export function openSigningKeys(keys: readonly SigningKey[], keyring: Keyring): JWK[] {
  return [...keys].sort(byStatus).map((key) => JSON.parse(keyring.open(key.privateSealed, sealingContext(key.kid))) as JWK);
}

/** Is the key in the JWKS, and do tokens signed by it count? A retired one's for as long as any of them may live; later it verifies logout hints alone. */
export const isPublished = ({ retired }: SigningKey): boolean =>
  retired === null || present().getTime() < retired.getTime() + LIFETIMES.retiredKeyPublished * 1000;

/** All keys of a server that are kept, the signing ones first. @throws {ApiError} not found */
export async function listServerKeys(services: Services, serverId: string): Promise<SigningKey[]> {
  const { knex } = services.database;
  if ((await findServer(knex, serverId)) === undefined) throw notFound(serverId, 'AuthorizationServer');
  return (await listSigningKeys(knex, serverId)).sort(byStatus);
}

/** The key that each server, or one, signs with, by the server's id. */
export async function keysInUse(services: Services, serverId?: string): Promise<ReadonlyMap<string, KeyInUse>> {
  return new Map((await listKeysInUse(services.database.knex, serverId)).map((key) => [key.serverId, key]));
}

/**
 * Rotates the keys of every algorithm that the server signs with: NEXT begins to sign, the one before retires, and a new NEXT is announced.
 * Where none was announced, a new key signs at once.
 * @returns the server's keys afterwards, the signing ones first
 * @throws {ApiError} not found
 */
export async function rotateSigningKeys(services: Services, serverId: string, request: RequestContext): Promise<SigningKey[]> {
  const { database, notifications, keyring } = services;
  const keys = await database.transaction(async (trx) => {
    const server = await lockServer(trx, serverId);
    if (server === undefined) throw notFound(serverId, 'AuthorizationServer');
    const before = await listSigningKeys(trx, serverId);
    for (const { kid, alg } of before.filter(({ status }) => status === 'ACTIVE')) {
      const next = before.find((key) => key.status === 'NEXT' && key.alg === alg);
      await retireSigningKey(trx, kid, present());
      if (next !== undefined) await activateSigningKey(trx, next.kid, present());
      else await insertSigningKey(trx, serverId, await createSigningKey(alg, 'ACTIVE', keyring));
      await insertSigningKey(trx, serverId, await createSigningKey(alg, 'NEXT', keyring));
    }
    const after = (await listSigningKeys(trx, serverId)).sort(byStatus);
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.key.rollover',
      displayMessage: 'Rotate signing keys',
      request,
      targets: [{ id: serverId, type: 'AuthorizationServer', displayName: server.name }],
      before: { keys: before.map(described) },
      after: { keys: after.map(described) },
    });
    await notifications.publish(trx, { kind: 'server', id: serverId });
    return after;
  });
  notifications.announce({ kind: 'server', id: serverId });
  return keys;
}

/** A key as the audit log keeps it. */
const described = ({ kid, alg, status }: SigningKey) => ({ kid, alg, status });
