/**
 * Signing keys of an authorization server (RFC 7517): creation, sealed storage and rotation. For each algorithm, one key is ACTIVE and one
 * NEXT, so that relying parties know it before its first signature. RETIRED keys remain for the tokens that they signed.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { repeat } from '../../platform/concurrency/repeat.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound, requireFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import type { AuthorizationServer } from './authorization-servers.resource.ts';
import { findServer, lockServer } from './authorization-servers.store.ts';
import { algsOf, isRotationDue, type SigningAlg, type SigningChoice } from './signing-keys.policy.ts';
import type { KeyInUse, SigningKey } from './signing-keys.resource.ts';
import {
  activateSigningKey,
  deleteSigningKey,
  insertSigningKey,
  listKeysInUse,
  listServersWithDueKeys,
  listSigningKeys,
  retireSigningKey,
} from './signing-keys.store.ts';

/** Key maintenance runs in the background, without configuration. */
type KeyServices = Pick<Services, 'database' | 'notifications' | 'keyring'>;

// Rotates signing keys in the background. Every process checks; if several find the same key due, one of them replaces it.

/** Milliseconds between two checks. */
const EVERY = 3_600_000;
/** Milliseconds after a check that failed, e.g. because the database was not available. */
const AFTER_FAILURE = 60_000;

/** Creates missing next keys, and rotates keys that are due. */
export async function maintainAllSigningKeys(services: KeyServices): Promise<void> {
  const before = (seconds: number): Date => new Date(present().getTime() - seconds * 1000);
  const ids = await listServersWithDueKeys(services.database.knex, {
    activatedBefore: before(LIFETIMES.signingKey),
    announcedBefore: before(LIFETIMES.nextKeyKnown),
  });
  for (const id of ids) await maintainSigningKeys(services, id);
}

/** Starts the checks, the first immediately. @returns a function that stops them */
export function startKeyRotation(services: KeyServices & Pick<Services, 'log'>): { stop(): Promise<void> } {
  let pause = 0;
  async function check(): Promise<void> {
    try {
      await maintainAllSigningKeys(services);
      pause = EVERY;
    } catch (error) {
      services.log.warn({ err: error }, 'could not rotate signing keys; trying again');
      pause = AFTER_FAILURE;
    }
  }
  return repeat('tend signing keys', check, () => pause);
}

const ORDER = { ACTIVE: 0, NEXT: 1, RETIRED: 2 } as const;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/** Encryption context of a private key: a sealed key that is moved to another kid cannot be decrypted. */
export const sealingContext = (kid: string): string => `signing_key:${kid}`;

/** @returns a new key pair with a sealed private part; kid is the thumbprint of RFC 7638 */
async function createSigningKey(alg: SigningAlg, status: 'NEXT' | 'ACTIVE', keyring: Keyring): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, ...(/^[RP]S/.test(alg) && { modulusLength: 2048 }) });
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

/** @returns an active and a next key for each of these algorithms */
export const createSigningKeys = (keyring: Keyring, algs: readonly SigningAlg[]): Promise<SigningKey[]> =>
  Promise.all(algs.flatMap((alg) => (['ACTIVE', 'NEXT'] as const).map((status) => createSigningKey(alg, status, keyring))));

/**
 * Creates missing keys for the server's algorithms. Keys of other algorithms are removed: active ones are retired, for tokens that they
 * signed; next ones, which have signed nothing, are deleted.
 * @returns whether anything changed
 */
export async function syncKeys(trx: Executor, server: SigningChoice & { readonly id: string }, keyring: Keyring): Promise<boolean> {
  const wanted = algsOf(server);
  const keys = (await listSigningKeys(trx, server.id)).filter(({ status }) => status !== 'RETIRED');
  const missing = wanted.filter((alg) => keys.every((key) => key.alg !== alg || key.status !== 'ACTIVE'));
  await insertSigningKeys(trx, server.id, await createSigningKeys(keyring, missing));
  const surplus = keys.filter(({ alg }) => !wanted.includes(alg));
  for (const { kid, status } of surplus) await (status === 'ACTIVE' ? retireSigningKey(trx, kid, present()) : deleteSigningKey(trx, kid));
  return missing.length + surplus.length > 0;
}

export async function insertSigningKeys(trx: Executor, serverId: string, keys: readonly SigningKey[]): Promise<void> {
  for (const key of keys) await insertSigningKey(trx, serverId, key);
}

/** The public members of a key, which are the only ones that leave the service. */
function publicPart(jwk: JWK): Record<string, unknown> {
  return Object.fromEntries(Object.entries(jwk).filter(([member]) => !(PRIVATE_MEMBERS as readonly string[]).includes(member)));
}

/**
 * Active keys first, because oidc-provider signs with the first suitable one. The server's own algorithm first, for clients that use the first key.
 */
const byUse =
  (own: SigningAlg) =>
  (a: SigningKey, b: SigningKey): number =>
    ORDER[a.status] - ORDER[b.status] || Number(a.alg !== own) - Number(b.alg !== own);

/** The keys with their private parts, active ones first. Includes retired ones, which verify older tokens. */
export function openSigningKeys(keys: readonly SigningKey[], own: SigningAlg, keyring: Keyring): JWK[] {
  return [...keys].sort(byUse(own)).map((key) => JSON.parse(keyring.open(key.privateSealed, sealingContext(key.kid))) as JWK);
}

/**
 * Is the key in the JWKS, and are its tokens accepted? Retired keys are while any of their tokens may be valid; after that they verify only
 * logout hints.
 */
export const isPublished = ({ retired }: SigningKey): boolean =>
  retired === null || present().getTime() < retired.getTime() + LIFETIMES.retiredKeyPublished * 1000;

/** All stored keys of a server, active ones first. @throws {ApiError} not found */
export async function listServerKeys(services: Services, serverId: string): Promise<SigningKey[]> {
  const { knex } = services.database;
  const server = requireFound(await findServer(knex, serverId), serverId, 'AuthorizationServer');
  return (await listSigningKeys(knex, serverId)).sort(byUse(server.signingAlg));
}

/** A stored key. @throws {ApiError} not found: the server or the key */
export async function getServerKey(services: Services, serverId: string, kid: string): Promise<SigningKey> {
  const found = (await listServerKeys(services, serverId)).find((key) => key.kid === kid);
  if (found === undefined) throw notFound(kid, 'SigningKey');
  return found;
}

/** The active key of each server or of one, by server ID. */
export async function keysInUse(services: Services, serverId?: string): Promise<ReadonlyMap<string, KeyInUse>> {
  return new Map((await listKeysInUse(services.database.knex, serverId)).map((key) => [key.serverId, key]));
}

/**
 * Rotates the keys of every algorithm: NEXT becomes active, the previous one is retired, and a new NEXT is announced. Without a NEXT, a new
 * key becomes active immediately.
 * @returns the server's keys afterwards, active ones first
 * @throws {ApiError} not found
 */
export async function rotateSigningKeys(services: Services, serverId: string, request: RequestContext): Promise<SigningKey[]> {
  return changeKeys(services, serverId, { request, displayMessage: 'Rotate signing keys' }, async (trx, pairs) => {
    for (const { active, next } of pairs) await replaceKey(trx, serverId, active, next, services.keyring);
    return true;
  });
}

/**
 * Maintains a server's keys: rotates those that are due, and creates missing ones. If several processes do this concurrently, one does it
 * and the others find nothing to do.
 */
async function maintainSigningKeys(services: KeyServices, serverId: string): Promise<void> {
  const { keyring } = services;
  await changeKeys(
    services,
    serverId,
    { request: SYSTEM, displayMessage: 'Rotate signing keys on schedule' },
    async (trx, pairs, server) => {
      let changed = await syncKeys(trx, server, keyring);
      const wanted = algsOf(server);
      for (const { active, next } of pairs.filter((pair) => wanted.includes(pair.active.alg))) {
        const ages = { activated: active.activated ?? active.created, nextCreated: next?.created };
        if (next === undefined) await insertSigningKey(trx, serverId, await createSigningKey(active.alg, 'NEXT', keyring));
        else if (isRotationDue(server.rotationMode, ages, LIFETIMES, present())) await replaceKey(trx, serverId, active, next, keyring);
        else continue;
        changed = true;
      }
      return changed;
    },
  );
}

async function replaceKey(
  trx: Executor,
  serverId: string,
  { kid, alg }: SigningKey,
  next: SigningKey | undefined,
  keyring: Keyring,
): Promise<void> {
  await retireSigningKey(trx, kid, present());
  if (next !== undefined) await activateSigningKey(trx, next.kid, present());
  else await insertSigningKey(trx, serverId, await createSigningKey(alg, 'ACTIVE', keyring));
  await insertSigningKey(trx, serverId, await createSigningKey(alg, 'NEXT', keyring));
}

interface KeyPair {
  readonly active: SigningKey;
  readonly next: SigningKey | undefined;
}

/**
 * Changes the keys of a server: locks, writes, records and announces.
 * @param change gets the keys of each algorithm
 * @returns whether any changed
 */
async function changeKeys(
  { database, notifications }: KeyServices,
  serverId: string,
  { request, displayMessage }: { readonly request: RequestContext; readonly displayMessage: string },
  change: (trx: Executor, pairs: readonly KeyPair[], server: AuthorizationServer) => Promise<boolean>,
): Promise<SigningKey[]> {
  const keys = await database.transaction(async (trx) => {
    const server = requireFound(await lockServer(trx, serverId), serverId, 'AuthorizationServer');
    const before = await listSigningKeys(trx, serverId);
    const pairs = before
      .filter(({ status }) => status === 'ACTIVE')
      .map((active) => ({ active, next: before.find((key) => key.status === 'NEXT' && key.alg === active.alg) }));
    if (!(await change(trx, pairs, server))) return before;
    const after = (await listSigningKeys(trx, serverId)).sort(byUse(server.signingAlg));
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.key.rollover',
      displayMessage,
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

/** A key's data in audit events. */
const described = ({ kid, alg, status }: SigningKey) => ({ kid, alg, status });
