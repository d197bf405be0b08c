/**
 * Proof of work with the ALTCHA protocol, version 2: the browser searches for a number with many PBKDF2 derivations, in about half a second.
 * Challenges are signed, expire, and work once across all processes. Nothing about the visitor is stored, and no other service is involved.
 */
import { randomInt } from 'node:crypto';
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ALL_SERVERS } from '../../protocol/storage/protocol-state.store.ts';
import { insertOnce } from '../../protocol/storage/protocol-writes.store.ts';
import type { BotPurpose } from './bots.policy.ts';

const ALGORITHM = 'PBKDF2/SHA-256';
/** Iterations of one derivation. */
const COST = 5000;
/** Derivations until the number is found. */
const [FEWEST, MOST] = [100, 300] as const;
const LONGEST_PROOF = 4096;

const secretsOf = ({ keyring }: Pick<Services, 'keyring'>): readonly string[] =>
  keyring.keysOf('gatehouse proof of work').map((key) => key.toString('base64url'));

/** @returns what a browser has to solve, JSON */
export async function newChallenge(services: Pick<Services, 'keyring'>, purpose: BotPurpose): Promise<string> {
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

/** Uses a proof up. Of many at once, one counts. @param sent as the form brings it */
export async function useProof(services: Pick<Services, 'keyring' | 'database'>, purpose: BotPurpose, sent: string): Promise<boolean> {
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
