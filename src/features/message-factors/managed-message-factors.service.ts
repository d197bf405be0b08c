/** Second factors with sent codes, managed and verified through the API. */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isSameAddress } from '../../platform/dns/address-spelling.ts';
import { conflict, notFound, rateLimited, validation, wrongPassCode, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkFactorProof } from '../second-factors/factor-proofs.service.ts';
import { described, getUserFactor, isMessageFactor, listSecondFactors, type SecondFactor } from '../second-factors/factors.service.ts';
import { InvalidStateToken } from '../sign-in/sign-in-steps.service.ts';
import { readPhoneNumber } from '../telephony/phone-numbers.policy.ts';
import { lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { factorCodeKey, useFactorCode } from './factor-codes.service.ts';
import { messageOf, type NotSent, possibleMessageTypes, sendFactorCode } from './factor-messages.service.ts';
import { addMessageFactor, newMessageFactor } from './message-enrolment.service.ts';
import type { MessageType } from './message-factors.policy.ts';
import { insertMessageFactor, type NewMessageFactor } from './message-factors.store.ts';

/** Place of codes that are requested here, so that they do not work at a sign-in. */
const PLACE = 'users/factors';
const keyOf = (factorId: string) => factorCodeKey(factorId, PLACE, undefined);
/** The device cookie belongs to the caller's browser, not to the user's. */
const withoutDevice = ({ device: _, ...request }: RequestContext): RequestContext => request;

/** Seconds until another code can be sent, as in the rate limit. */
const AN_HOUR = 3600;

function refuseNotSent(problem: NotSent | undefined): void {
  if (problem === 'TOO_MANY_REQUESTS') throw rateLimited(AN_HOUR);
  if (problem === 'NO_EMAIL_ADDRESS') throw validation([{ field: 'profile.email', message: 'the user has no e-mail address' }]);
  if (problem === 'NUMBER_NOT_ALLOWED') {
    throw validation([
      { field: 'profile.phoneNumber', message: 'has a country code that is not allowed. Add it to prefixes in settings/telephony' },
    ]);
  }
  if (problem === 'TELEPHONY_OFF' || problem === 'TELEPHONY_FAILED')
    throw wrongState('the telephony webhook did not accept the message. Check settings/telephony');
  if (problem !== undefined) throw wrongState('the user is not active');
}

export interface RequestedMessageFactor {
  readonly type: MessageType;
  /** Absent: the address of the account. */
  readonly email?: string | undefined;
  /** Phone number as entered. */
  readonly phoneNumber?: string | undefined;
  /** Is the factor active without a first code? The caller then vouches for it. */
  readonly activate: boolean;
}

interface Found {
  readonly user: User;
  readonly factor: SecondFactor;
}

/**
 * Sets up a factor; its first code confirms it (`activateUserFactor`).
 * @throws {ApiError} not found, forbidden, validation, conflict, wrong state, rate limited
 */
export async function enrolUserFactor(
  services: Services,
  idOrLogin: string,
  wish: RequestedMessageFactor,
  request: RequestContext,
): Promise<Found> {
  const caller = withoutDevice(request);
  const { type } = wish;
  const number = type === 'EMAIL' ? undefined : readPhoneNumber(wish.phoneNumber ?? '');
  const { user, id } = await services.database.transaction(async (trx) => {
    const found = await lockChangeableUser(trx, idOrLogin, caller);
    await refuseImpossible(services, found, wish, caller);
    if (type !== 'EMAIL' && number === undefined) {
      throw validation([{ field: 'profile.phoneNumber', message: 'must be a number with its country code, such as +4930901820' }]);
    }
    const factor = newMessageFactor(services.keyring, found.id, { type, number }, null);
    await insertPending(trx, found, factor, caller);
    if (wish.activate) await addMessageFactor(trx, services, found, { id: factor.id, type, sentTo: found.email ?? '' }, caller);
    return { user: found, id: factor.id };
  });
  if (!wish.activate) refuseNotSent(await sendFactorCode(services, user, { type, id, number }, keyOf(id), caller));
  return getUserFactor(services, user.id, id, caller);
}

async function refuseImpossible(
  services: Services,
  user: User,
  { type, email }: RequestedMessageFactor,
  request: RequestContext,
): Promise<void> {
  if (type === 'EMAIL' && email !== undefined && !isSameAddress(user.email, email)) {
    throw validation([{ field: 'profile.email', message: 'must be the e-mail address of the user' }]);
  }
  if (!(await possibleMessageTypes(services, user, request)).includes(type)) {
    const message =
      'is not available. Allow it in messageFactors of settings/sign-in, and set up a mail server and the e-mail address of the user, or settings/telephony';
    throw validation([{ field: 'factorType', message }]);
  }
}

async function insertPending(trx: Executor, user: User, factor: NewMessageFactor, request: RequestContext): Promise<void> {
  if (!(await insertMessageFactor(trx, factor))) {
    throw conflict({ field: 'factorType', message: 'the user already has a factor of this type' });
  }
  await recordEvent(trx, {
    eventType: 'user.mfa.factor.update',
    displayMessage: 'Begin to set up factor for user',
    request,
    targets: [userTarget(user)],
    after: await described(trx, user.id),
  });
}

/** Confirms a factor by its first code. @throws {ApiError} not found, forbidden, wrong pass code, wrong state */
export async function activateUserFactor(
  services: Services,
  idOrLogin: string,
  { factorId, passCode }: { readonly factorId: string; readonly passCode: string },
  request: RequestContext,
): Promise<Found> {
  const caller = withoutDevice(request);
  const done = await services.database
    .transaction(async (trx) => {
      const user = await lockChangeableUser(trx, idOrLogin, caller);
      const factor = await findFactor(trx, user, factorId);
      if (!isMessageFactor(factor) || factor.status !== 'PENDING_ACTIVATION') throw wrongState('the factor is already active');
      const sent = await useFactorCode(trx, services, keyOf(factorId), passCode);
      if (sent === undefined) return undefined;
      await addMessageFactor(trx, services, user, sent, caller);
      return user;
    })
    .catch((error: unknown) => {
      throw error instanceof InvalidStateToken ? wrongState('the e-mail address of the user has changed. Set up the factor again') : error;
    });
  if (done === undefined) throw wrongPassCode();
  return getUserFactor(services, done.id, factorId, caller);
}

async function findFactor(trx: Executor, user: User, factorId: string): Promise<SecondFactor> {
  const factor = (await listSecondFactors(trx, user.id)).find(({ id }) => id === factorId);
  if (factor === undefined) throw notFound(factorId, 'Factor');
  return factor;
}

/**
 * Sends a code, or checks the given one.
 * @param passCode absent: send a code
 * @throws {ApiError} not found, forbidden; validation: a passkey, or an authenticator app without `passCode`; wrong pass code, wrong state, rate
 * limited
 */
export async function verifyUserFactor(
  services: Services,
  idOrLogin: string,
  { factorId, passCode }: { readonly factorId: string; readonly passCode?: string | undefined },
  request: RequestContext,
): Promise<'CHALLENGE' | 'SUCCESS'> {
  const caller = withoutDevice(request);
  const right = await services.database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, caller);
    const factor = await findFactor(trx, user, factorId);
    if (factor.type === 'PASSKEY')
      throw validation([{ field: 'factorId', message: 'is a passkey. The user can verify it on the sign-in page only' }]);
    if (isMessageFactor(factor) && factor.status !== 'ACTIVE') throw wrongState('the factor is not active');
    if (passCode !== undefined) {
      const parts = { trx, keyring: services.keyring, codeKey: keyOf(factorId) };
      return (await checkFactorProof(parts, user, { kind: 'code', factorId, passCode }, caller)) !== undefined;
    }
    if (!isMessageFactor(factor)) throw validation([{ field: 'passCode', message: 'is required' }]);
    return { user, factor };
  });
  if (right === false) throw wrongPassCode();
  if (right === true) return 'SUCCESS';
  refuseNotSent(await sendFactorCode(services, right.user, messageOf(services, right.factor), keyOf(factorId), caller));
  return 'CHALLENGE';
}
