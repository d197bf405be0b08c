/** Applies `settings/bots`: a request that brings no proof of work meets a stricter limit of its network. Browsers without script are slowed down, never shut out. */
import type { Services } from '../../platform/database/dependencies.ts';
import { countFailure, failuresOf } from '../../platform/rate-limits/failures-by-address.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { NOBODY } from '../audit/audit-event.policy.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { LIMITS_OF_REQUESTS, networkOf, TooManyFailures } from '../sign-in/failure-limits.service.ts';
import { type BotPurpose, UNPROVED } from './bots.policy.ts';
import { newChallenge, useProof } from './proof-of-work.service.ts';

/** The request brings no proof, and its network has sent too many without one. */
export class ProofMissing extends Error {
  override readonly name = 'ProofMissing';
  /** @param retryAfter seconds, for a browser without script */
  constructor(readonly retryAfter: number) {
    super(`a proof of work is missing; without one the network is heard again in ${retryAfter} s`);
  }
}

/** @returns what the browser has to solve beside the form, JSON; undefined: nothing */
export async function challengeFor(services: Services, purpose: BotPurpose, address: string | undefined): Promise<string | undefined> {
  const mode = (await currentSettings(services, 'bots'))[purpose];
  if (mode === 'OFF' || !services.config.rateLimits || address === undefined) return undefined;
  const isAsked =
    mode === 'ALWAYS' ||
    (await failuresOf(services.database.pool, LIMITS_OF_REQUESTS[purpose], networkOf(address))) >= UNPROVED[purpose].ADAPTIVE;
  return isAsked ? newChallenge(services, purpose) : undefined;
}

/**
 * Applies the rate limit of a request, a stricter one without proof of work.
 * @param sent the proof in the form
 * @param limit refuses when the network exceeds a number of requests; undefined: the general limit
 * @throws {ProofMissing}
 * @throws {TooManyFailures}
 */
export async function limitUnproved(
  services: Services,
  { purpose, sent, address }: { readonly purpose: BotPurpose; readonly sent: string; readonly address: string | undefined },
  limit: (most: number | undefined) => Promise<void>,
): Promise<void> {
  const mode = (await currentSettings(services, 'bots'))[purpose];
  const isProved = mode === 'OFF' || (sent !== '' && (await useProof(services, purpose, sent)));
  const most = isProved ? undefined : UNPROVED[purpose][mode];
  try {
    await limit(most);
  } catch (error) {
    if (most === undefined || !(error instanceof TooManyFailures)) throw error;
    await record(services, purpose, most, address ?? '', error.retryAfter);
    throw new ProofMissing(error.retryAfter);
  }
}

/** Once while it lasts, not for every request. */
async function record({ database }: Services, purpose: BotPurpose, most: number, address: string, seconds: number): Promise<void> {
  const once = { prefix: `unproved-${purpose}`, most: 1, seconds };
  if ((await countFailure(database.pool, once, networkOf(address))).bars === undefined) return;
  await recordEvent(database.knex, {
    eventType: 'security.request.blocked',
    displayMessage: 'Requests from an address need a proof of work',
    request: { actor: NOBODY, ipAddress: address },
    failure: 'PROOF_OF_WORK_MISSING',
    decision: { kind: 'address', failures: most, seconds },
  });
}
