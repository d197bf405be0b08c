/** Verifies second factors: app codes, recovery codes and passkeys. Ten wrong codes in a row lock the user, like passwords. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { CodeKey } from '../email-codes/email-codes.store.ts';
import { useFactorCode } from '../message-factors/factor-codes.service.ts';
import { MESSAGE_METHODS, policyNameOf } from '../message-factors/message-factors.policy.ts';
import type { MessageFactor } from '../message-factors/message-factors.resource.ts';
import { noteMessageUse } from '../message-factors/message-factors.store.ts';
import { checkPasskey, type PasskeyProof } from '../passkeys/passkey-proofs.service.ts';
import type { FactorTried } from '../policies/decisions.policy.ts';
import { type AttemptDecision, decideAttempt, isLocked, NO_FAILURES } from '../sign-in/lockout.policy.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { isMessageFactor, listUsableFactors } from './factors.service.ts';
import { findFailedCodes, listFactors, saveFailedCodes, useStep } from './factors.store.ts';
import { openTotpSecret, stepOfCode, useRecoveryCode } from './one-time-codes.service.ts';

export type Proof =
  | {
      readonly kind: 'code';
      readonly passCode: string /** undefined: an app, whichever it fits. */;
      readonly factorId?: string | undefined;
    }
  | { readonly kind: 'recovery'; readonly passCode: string }
  | { readonly kind: 'passkey'; readonly proof: PasskeyProof };

/** A proof that could be guessed. */
type TypedProof = Exclude<Proof, { kind: 'passkey' }>;

type Parts = Pick<Services, 'keyring'> & {
  readonly trx: Executor;
  /** Key of a sent code; absent: none was sent. */
  readonly codeKey?: CodeKey | undefined;
  /** The methods of the step before. */
  readonly first?: readonly string[] | undefined;
};

/**
 * Uses and counts the factor. During a lock, a correct one is refused and not used up.
 * @param user locked in the transaction, so that concurrent attempts see each other's result
 * @returns authentication methods (RFC 8176); undefined if wrong
 */
export async function checkFactorProof(
  parts: Parts,
  user: User,
  proof: Proof,
  request: RequestContext,
): Promise<readonly string[] | undefined> {
  const { trx } = parts;
  if (proof.kind === 'passkey') return checkPasskey(trx, user, proof.proof, request);
  const now = present();
  const before = (await findFailedCodes(trx, user.id)) ?? NO_FAILURES;
  const message = await messageFactorOf(parts, user, proof);
  const check = () => (message === undefined ? methodsOf(parts, user.id, proof, now) : checkMessage(parts, user, message, proof.passCode));
  const amr = isLocked(before, now) ? undefined : await check();
  const decision = decideAttempt(before, amr !== undefined, now);
  await saveFailedCodes(trx, user.id, decision.remembered);
  const event = {
    request: { ...request, actor: { id: user.id, type: 'User' as const, displayName: user.login } },
    targets: [userTarget(user)],
  };
  await recordEvent(trx, {
    ...event,
    eventType: 'user.authentication.auth_via_mfa',
    displayMessage: proof.kind === 'recovery' ? 'Authentication of user via recovery code' : 'Authentication of user via MFA',
    ...(decision.admitted ? {} : { failure: decision.reason === 'locked' ? 'LOCKED_OUT' : 'INVALID_CREDENTIALS' }),
    decision: whyFactor(message === undefined ? proof.kind : policyNameOf(message.type), decision),
  });
  if (decision.reason === 'wrong password, which locks') {
    const { locks, lockedUntil } = decision.remembered;
    const displayMessage = 'Max second factor attempts exceeded';
    await recordEvent(trx, {
      ...event,
      eventType: 'user.account.lock',
      displayMessage,
      failure: 'LOCKED_OUT',
      after: { lockedUntil, locks },
    });
  }
  return decision.admitted ? amr : undefined;
}

function whyFactor(method: string, { admitted, reason, remembered: { failures, lockedUntil } }: AttemptDecision): FactorTried {
  const why = admitted ? 'RIGHT' : reason === 'locked' ? 'LOCKED' : 'WRONG';
  const until = lockedUntil === null ? {} : { lockedUntil: lockedUntil.toISOString() };
  return { kind: 'second-factor', reason: why, method, failures, ...until };
}

async function methodsOf({ trx, keyring }: Parts, userId: string, proof: TypedProof, now: Date): Promise<readonly string[] | undefined> {
  if (proof.kind === 'recovery') return (await useRecoveryCode(trx, userId, proof.passCode)) ? ['otp'] : undefined;
  for (const factor of await listFactors(trx, userId)) {
    if (proof.factorId !== undefined && proof.factorId !== factor.id) continue;
    const step = stepOfCode(openTotpSecret(keyring, factor.sealedSecret, factor.id), proof.passCode, now);
    if (step !== undefined && (await useStep(trx, factor.id, step, now))) return ['otp'];
  }
  return undefined;
}

/** @returns the factor with sent codes that the proof belongs to; undefined: none */
async function messageFactorOf({ trx, first = [] }: Parts, user: User, proof: TypedProof): Promise<MessageFactor | undefined> {
  if (proof.kind !== 'code' || proof.factorId === undefined) return undefined;
  return (await listUsableFactors(trx, user.id, first)).filter(isMessageFactor).find(({ id }) => id === proof.factorId);
}

async function checkMessage(
  parts: Parts,
  user: User,
  { id, type }: MessageFactor,
  passCode: string,
): Promise<readonly string[] | undefined> {
  const { trx, codeKey } = parts;
  const sent = codeKey === undefined ? undefined : await useFactorCode(trx, parts, codeKey, passCode);
  if (sent?.id !== id || (type === 'EMAIL' && sent.sentTo !== user.email)) return undefined;
  return (await noteMessageUse(trx, user.id, id, present())) ? MESSAGE_METHODS[type] : undefined;
}
