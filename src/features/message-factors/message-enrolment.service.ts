/** A user sets up sent codes: at a sign-in that requires a second factor, or on their account page. The first code confirms the factor. */
import { present } from '../../platform/clock/clock.ts';
import { type Keyring, newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { described, isMessageFactor } from '../second-factors/factors.service.ts';
import { hasFactor } from '../second-factors/factors.store.ts';
import { newRecoveryCodes } from '../second-factors/one-time-codes.service.ts';
import { isByEmailAlone, isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { countFailedSignIn, refuseBlockedAddress } from '../sign-in/failure-limits.service.ts';
import { updateState } from '../sign-in/sign-in-states.store.ts';
import { InvalidStateToken, inStep, inTenMinutes, readStep } from '../sign-in/sign-in-steps.service.ts';
import { maskedNumber, readPhoneNumber } from '../telephony/phone-numbers.policy.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { dropFactorCode, factorCodeKey, findFactorCode, phoneNumberContext, type SentCode, useFactorCode } from './factor-codes.service.ts';
import { messageOf, type NotSent, possibleMessageTypes, sendFactorCode } from './factor-messages.service.ts';
import { MESSAGE_METHODS, type MessageType } from './message-factors.policy.ts';
import { activateMessageFactor, insertMessageFactor, listMessageFactors, type NewMessageFactor } from './message-factors.store.ts';

/** A pending sign-in or enrolment in a browser. */
export interface WaitingStep {
  readonly stateToken: string;
  readonly place: string;
}

const keyAt = ({ stateToken, place }: WaitingStep, { device }: RequestContext) => factorCodeKey(stateToken, place, device);

/** The types that a user can set up now. @param amr of the previous step: after a sign-in by e-mail, e-mail codes are not a second factor */
export async function typesToEnrol(
  services: Services,
  user: User,
  amr: readonly string[],
  request: RequestContext,
): Promise<readonly MessageType[]> {
  const possible = await possibleMessageTypes(services, user, request);
  if (possible.length === 0) return [];
  const has = (await listMessageFactors(services.database.knex, user.id)).filter(({ status }) => status !== 'PENDING_ACTIVATION');
  return possible.filter((type) => !has.some((factor) => factor.type === type) && !(type === 'EMAIL' && isByEmailAlone(amr)));
}

/**
 * Sends the first code.
 * @param wish.number as entered; absent: the number of the pending code
 * @returns the reason if none was sent
 * @throws {InvalidStateToken}
 * @throws {TooManyFailures}
 */
export async function beginMessageEnrolment(
  services: Services,
  at: WaitingStep,
  wish: { readonly type: string; readonly number?: string | undefined },
  amr: readonly string[],
  request: RequestContext,
): Promise<NotSent | 'NOT_A_NUMBER' | undefined> {
  const step = await readStep(services, at.stateToken, at.place, request.device);
  if (step?.next !== 'ENROLL') throw new InvalidStateToken();
  const known = (await typesToEnrol(services, step.user, amr, request)).find((one) => one === wish.type);
  if (known === undefined) throw new InvalidStateToken();
  const number = known === 'EMAIL' ? undefined : await numberFor(services, at, wish.number, request);
  if (known !== 'EMAIL' && number === undefined) return 'NOT_A_NUMBER';
  return sendFactorCode(services, step.user, { type: known, number }, keyAt(at, request), asUser(request, step.user));
}

const numberFor = async (
  services: Services,
  at: WaitingStep,
  typed: string | undefined,
  request: RequestContext,
): Promise<string | undefined> => (typed === undefined ? (await codeSentAt(services, at, request))?.number : readPhoneNumber(typed));

/**
 * Sends a code for the second factor of a pending sign-in.
 * @returns the reason if none was sent
 * @throws {InvalidStateToken}
 * @throws {TooManyFailures}
 */
export async function requestFactorCode(
  services: Services,
  at: WaitingStep,
  factorId: string,
  request: RequestContext,
): Promise<NotSent | undefined> {
  const step = await readStep(services, at.stateToken, at.place, request.device);
  const factor = step?.next === 'FACTOR' ? step.factors.find(({ id }) => id === factorId) : undefined;
  if (step === undefined || factor === undefined || !isMessageFactor(factor)) throw new InvalidStateToken();
  return sendFactorCode(services, step.user, messageOf(services, factor), keyAt(at, request), asUser(request, step.user));
}

/** @returns recipient and factor of the code for the pending step; undefined: none was sent, it has expired, or was used */
export const codeSentAt = (services: Services, at: WaitingStep, request: RequestContext): Promise<SentCode | undefined> =>
  findFactorCode(services, keyAt(at, request));

/** Deletes the code for the pending step: the user has chosen another method. */
export const forgetCodeSentAt = (services: Services, at: WaitingStep, request: RequestContext): Promise<void> =>
  dropFactorCode(services, keyAt(at, request));

/**
 * Confirms the factor by its first code. Then the sign-in only needs to be completed.
 * @param options.amr of the session that adds the factor; absent: of the pending sign-in
 * @returns the authentication methods, and the recovery codes, which are shown only once; none if the user had a factor before. undefined: the code
 * is wrong
 * @throws {InvalidStateToken}
 * @throws {TooManyFailures}
 */
export async function confirmMessageEnrolment(
  services: Services,
  at: WaitingStep,
  typed: string,
  request: RequestContext,
  { amr: session }: { readonly amr?: readonly string[] } = {},
): Promise<{ readonly methods: readonly string[]; readonly recoveryCodes: readonly string[] } | undefined> {
  await refuseBlockedAddress(services, request.ipAddress);
  const added = await inStep(services, at.stateToken, { ...request, place: at.place }, 'ENROLL', async (trx, state, user) => {
    // The user has enrolled a factor in another window meanwhile: this sign-in must be started again with that factor.
    const first = session ?? state.amr;
    if (!isMultiFactor(first) && (await hasFactor(trx, user.id, first))) throw new InvalidStateToken();
    const sent = await useFactorCode(trx, services, keyAt(at, request), typed);
    if (sent === undefined) return undefined;
    const recoveryCodes = await addMessageFactor(trx, services, user, sent, asUser(request, user));
    const methods = MESSAGE_METHODS[sent.type];
    const amr = withSecondFactor(state.amr, methods);
    await updateState(trx, state.id, { next: 'FINISH', amr, sealedSecret: null, expiresAt: inTenMinutes() });
    return { methods, recoveryCodes };
  });
  if (added === undefined) await countFailedSignIn(services, request.ipAddress);
  return added;
}

/**
 * Adds a factor, or activates it: a correct code has shown that messages arrive, or an administrator vouches for it.
 * @param user locked in the transaction
 * @returns the recovery codes; none if the user had a factor before, or someone else adds it
 * @throws {InvalidStateToken} the user already has such a factor, or another e-mail address
 */
export async function addMessageFactor(
  trx: Executor,
  { keyring }: Pick<Services, 'keyring'>,
  user: User,
  sent: SentCode,
  request: RequestContext,
): Promise<readonly string[]> {
  const { type, sentTo } = sent;
  if (type === 'EMAIL' && sentTo !== user.email) throw new InvalidStateToken();
  const before = await described(trx, user.id);
  const isFirst = !(await hasFactor(trx, user.id));
  const now = present();
  const isAdded =
    sent.id === undefined
      ? await insertMessageFactor(trx, newMessageFactor(keyring, user.id, sent, now))
      : await activateMessageFactor(trx, user.id, sent.id, now);
  if (!isAdded) throw new InvalidStateToken();
  await deleteTrustedBrowsersOf(trx, user.id);
  const recoveryCodes = isFirst && request.actor.id === user.id ? await newRecoveryCodes(trx, user.id) : [];
  await recordEvent(trx, {
    eventType: 'user.mfa.factor.activate',
    displayMessage: 'Activate factor for user',
    request,
    targets: [userTarget(user)],
    before,
    after: await described(trx, user.id),
  });
  return recoveryCodes;
}

/** @param activated null: the factor waits for its first code */
export function newMessageFactor(
  keyring: Keyring,
  userId: string,
  { type, number }: Pick<SentCode, 'type' | 'number'>,
  activated: Date | null,
): NewMessageFactor {
  const id = newId('fac');
  const phone =
    number === undefined
      ? { name: null, numberSealed: null }
      : { name: maskedNumber(number), numberSealed: keyring.seal(number, phoneNumberContext(id)) };
  return { id, userId, type, ...phone, created: present(), activated };
}
