/**
 * Applies `settings/bots`: without a proof of work, a stricter rate limit applies to the network. Browsers without scripts are slowed down, but never
 * blocked for good.
 */
import { randomInt } from 'node:crypto';
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { countFailure, failuresOf } from '../../platform/rate-limits/failures-by-address.store.ts';
import { ALL_SERVERS } from '../../protocol/storage/protocol-state.store.ts';
import { insertOnce } from '../../protocol/storage/protocol-writes.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { NOBODY } from '../audit/audit-event.policy.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { LIMITS_OF_REQUESTS, networkOf, TooManyFailures } from '../sign-in/failure-limits.service.ts';
import { type BotPurpose, LIMITS_WITHOUT_PROOF } from './bots.policy.ts';

// Proof of work with the ALTCHA protocol, version 2: the browser searches for a number with many PBKDF2 derivations, in about half a second.
// Challenges are signed, expire, and work once across all processes. Nothing about the visitor is stored, and no other service is involved.

const ALGORITHM = 'PBKDF2/SHA-256';
/** Iterations of one derivation. */
const COST = 5000;
/** Range of the number of derivations until the solution is found. */
const [FEWEST, MOST] = [100, 300] as const;
const LONGEST_PROOF = 4096;

const secretsOf = ({ keyring }: Pick<Services, 'keyring'>): readonly string[] =>
  keyring.keysOf('gatehouse proof of work').map((key) => key.toString('base64url'));

/** @returns the challenge for a browser, as JSON */
async function newChallenge(services: Pick<Services, 'keyring'>, purpose: BotPurpose): Promise<string> {
  const [secret = ''] = secretsOf(services);
  const challenge = await createChallenge({
    ...{ algorithm: ALGORITHM, cost: COST, counter: randomInt(FEWEST, MOST), deriveKey },
    ...{ expiresAt: epochSeconds() + LIFETIMES.proofOfWork, data: { purpose } },
    ...{ hmacSignatureSecret: secret, hmacKeySignatureSecret: `key ${secret}` },
  });
  return JSON.stringify(challenge);
}

/** Fields that are parsed before the signature check; the signature covers all parameters. */
const proof = z.object({
  challenge: z.object({
    parameters: z.looseObject({
      ...{ algorithm: z.literal(ALGORITHM), nonce: z.string(), salt: z.string(), keyPrefix: z.string() },
      ...{ cost: z.literal(COST), keyLength: z.int(), keySignature: z.string(), expiresAt: z.int() },
      data: z.object({ purpose: z.string() }),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.int(), derivedKey: z.string() }),
});

function read(sent: string): z.output<typeof proof> | undefined {
  try {
    return sent.length > LONGEST_PROOF ? undefined : proof.safeParse(JSON.parse(sent)).data;
  } catch {
    return undefined;
  }
}

/** Uses a proof up; of concurrent uses, one succeeds. @param sent the form's value @returns false if it is invalid or was used before */
async function useProof(services: Pick<Services, 'keyring' | 'database'>, purpose: BotPurpose, sent: string): Promise<boolean> {
  const { challenge, solution } = read(sent) ?? {};
  const now = epochSeconds();
  if (challenge === undefined || solution === undefined || challenge.parameters.data.purpose !== purpose) return false;
  const { expiresAt } = challenge.parameters;
  if (expiresAt <= now) return false;
  const common = { challenge, solution: { ...solution, time: 0 }, deriveKey };
  let verified = false;
  for (const secret of secretsOf(services)) {
    const secrets = { hmacSignatureSecret: secret, hmacKeySignatureSecret: `key ${secret}` };
    verified = verified || (await verifySolution({ ...common, ...secrets })).verified;
  }
  if (!verified) return false;
  const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
  const id = digest(`proof of work ${challenge.signature}`);
  return insertOnce(
    services.database.pool,
    { model: 'ReplayDetection', id, serverKey: ALL_SERVERS, payload: {}, ...nobody, expiresAt },
    now,
  );
}

/** The request has no proof of work, and its network has sent too many without one. */
export class ProofMissing extends Error {
  override readonly name = 'ProofMissing';
  /** @param retryAfter seconds until a request without proof is accepted again */
  constructor(readonly retryAfter: number) {
    super(`a proof of work is missing; without one the network is heard again in ${retryAfter} s`);
  }
}

/** @returns the challenge that the browser must solve for the form, as JSON; undefined: none */
export async function challengeFor(services: Services, purpose: BotPurpose, address: string | undefined): Promise<string | undefined> {
  const mode = (await currentSettings(services, 'bots'))[purpose];
  if (mode === 'OFF' || !services.config.rateLimits || address === undefined) return undefined;
  const isAsked =
    mode === 'ALWAYS' ||
    (await failuresOf(services.database.pool, LIMITS_OF_REQUESTS[purpose], networkOf(address))) >= LIMITS_WITHOUT_PROOF[purpose].ADAPTIVE;
  return isAsked ? newChallenge(services, purpose) : undefined;
}

/**
 * Applies the rate limit of a request. Without proof of work, a stricter limit applies.
 * @param sent the proof in the form
 * @param limit throws if the network exceeds the given number of requests; undefined: the general limit
 * @throws {ProofMissing}
 * @throws {TooManyFailures}
 */
export async function limitWithoutProof(
  services: Services,
  { purpose, sent, address }: { readonly purpose: BotPurpose; readonly sent: string; readonly address: string | undefined },
  limit: (most: number | undefined) => Promise<void>,
): Promise<void> {
  const mode = (await currentSettings(services, 'bots'))[purpose];
  const isProved = mode === 'OFF' || (sent !== '' && (await useProof(services, purpose, sent)));
  const most = isProved ? undefined : LIMITS_WITHOUT_PROOF[purpose][mode];
  try {
    await limit(most);
  } catch (error) {
    if (most === undefined || !(error instanceof TooManyFailures)) throw error;
    await record(services, purpose, most, address ?? '', error.retryAfter);
    throw new ProofMissing(error.retryAfter);
  }
}

/** Records the block once while it lasts, not for every request. */
async function record({ database }: Services, purpose: BotPurpose, most: number, address: string, seconds: number): Promise<void> {
  const once = { prefix: `unproved-${purpose}`, most: 1, seconds };
  if ((await countFailure(database.pool, once, networkOf(address))).newBlockSeconds === undefined) return;
  await recordEvent(database.knex, {
    eventType: 'security.request.blocked',
    displayMessage: 'Requests from an address need a proof of work',
    request: { actor: NOBODY, ipAddress: address },
    failure: 'PROOF_OF_WORK_MISSING',
    decision: { kind: 'address', failures: most, seconds },
  });
}
