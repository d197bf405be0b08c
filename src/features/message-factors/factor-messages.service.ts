/** Sends codes of second factors, within limits, and records each result. */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { CodeKey } from '../email-codes/email-codes.store.ts';
import { hasMailAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { hasSignedInWith } from '../sign-in/failed-sign-ins.store.ts';
import { countCodeRequest, mayMailFactorCode } from '../sign-in/failure-limits.service.ts';
import {
  countPhoneMessage,
  isTelephonyOn,
  notePhoneMessage,
  type PhoneChannel,
  type PhoneProblem,
  sendToPhone,
} from '../telephony/phone-messages.service.ts';
import { maskedNumber } from '../telephony/phone-numbers.policy.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import { dropFactorCode, phoneNumberContext, placeFactorCode } from './factor-codes.service.ts';
import { MESSAGE_TYPES, type MessageType, policyNameOf } from './message-factors.policy.ts';
import type { MessageFactor } from './message-factors.resource.ts';

/** Reasons why no code was sent. */
export type NotSent = 'NO_EMAIL_ADDRESS' | 'USER_NOT_ACTIVE' | PhoneProblem;

/** The types that the sign-in policy allows and for which this user can currently get messages. */
export async function possibleMessageTypes(
  services: Services,
  user: Pick<User, 'email'>,
  request: Pick<RequestContext, 'isForwarded'>,
): Promise<readonly MessageType[]> {
  const { messageFactors } = await currentSettings(services, 'sign-in');
  if (messageFactors.length === 0) return [];
  const canMail = hasMailAddress(user) && (await isMailPossible(services, request));
  const canPhone = await isTelephonyOn(services);
  return MESSAGE_TYPES.filter((type) => messageFactors.includes(policyNameOf(type)) && (type === 'EMAIL' ? canMail : canPhone));
}

/** Recipient and factor of a code. */
export interface FactorMessage {
  readonly type: MessageType;
  /** Absent: the factor is being set up. */
  readonly id?: string | undefined;
  /** Phone number, E.164; absent: the e-mail address of the account. */
  readonly number?: string | undefined;
}

/** @returns type and recipient of the factor's codes */
export const messageOf = ({ keyring }: Pick<Services, 'keyring'>, { id, type, numberSealed }: MessageFactor): FactorMessage => ({
  ...{ id, type },
  ...(numberSealed !== null && { number: keyring.open(numberSealed, phoneNumberContext(id)) }),
});

/**
 * Sends a code, which replaces the previous one. Must not be called in a transaction.
 * @param key of the pending step
 * @param request of the user, or of the administrator who sets the factor up
 * @returns the reason if none was sent
 * @throws {TooManyFailures} the network has sent too many requests
 */
export const sendFactorCode = (
  services: Services,
  user: User,
  message: FactorMessage,
  key: CodeKey,
  request: RequestContext,
): Promise<NotSent | undefined> =>
  message.type === 'EMAIL'
    ? sendByEmail(services, user, message, key, request)
    : sendByPhone(services, user, { ...message, channel: message.type }, key, request);

const mayProve = ({ status }: User): boolean => status === 'ACTIVE' || status === 'PASSWORD_EXPIRED';

async function sendByEmail(
  services: Services,
  user: User,
  message: FactorMessage,
  key: CodeKey,
  request: RequestContext,
): Promise<NotSent | undefined> {
  await countCodeRequest(services, request.ipAddress);
  const isAllowed = await mayMailFactorCode(services, user.id, await knownDevice(services, user.id, request));
  return services.database.transaction(async (trx) => {
    const found = await lockUser(trx, user.id);
    const failure = isAllowed ? await mailTo(trx, services, found, message, key, request) : 'TOO_MANY_REQUESTS';
    await recordEvent(trx, {
      eventType: 'system.email.send_factor_verify_message',
      displayMessage: 'Send code by e-mail',
      request,
      targets: [userTarget(user)],
      ...(failure !== undefined && { failure }),
    });
    return failure;
  });
}

/** @returns digest of the device cookie of a browser in which the user completed a sign-in before: it has a separate count */
async function knownDevice({ database }: Services, userId: string, { device }: RequestContext): Promise<string | undefined> {
  const hash = device === undefined ? undefined : digest(device);
  return hash !== undefined && (await hasSignedInWith(database.knex, userId, hash, present())) ? hash : undefined;
}

async function mailTo(
  trx: Executor,
  services: Services,
  user: User | undefined,
  { type, id }: FactorMessage,
  key: CodeKey,
  request: RequestContext,
): Promise<NotSent | undefined> {
  if (user === undefined || !mayProve(user)) return 'USER_NOT_ACTIVE';
  if (!hasMailAddress(user)) return 'NO_EMAIL_ADDRESS';
  const { code, expiresAt } = await placeFactorCode(trx, services, key, { type, id, sentTo: user.email }, user.id);
  const letter = { to: user.email, values: { code }, expiresAt: expiresAt.toISOString() };
  await queueMail(trx, services.keyring, user, 'factor-code', letter, request);
  return undefined;
}

/** If the message is refused, the code is deleted again. */
async function sendByPhone(
  services: Services,
  user: User,
  { type, id, number, channel }: FactorMessage & { readonly channel: PhoneChannel },
  key: CodeKey,
  request: RequestContext,
): Promise<NotSent | undefined> {
  if (number === undefined) return 'NUMBER_NOT_ALLOWED';
  const refused = await countPhoneMessage(services, user.id, number, request);
  const placed =
    refused === undefined
      ? await services.database.transaction(async (trx) => {
          const found = await lockUser(trx, user.id);
          if (found === undefined || !mayProve(found)) return undefined;
          const sentTo = maskedNumber(number);
          return placeFactorCode(trx, services, key, { type, id, sentTo, ...(id === undefined && { number }) }, user.id);
        })
      : undefined;
  if (refused === undefined && placed === undefined) return 'USER_NOT_ACTIVE';
  const sent = placed === undefined ? { problem: refused } : await sendToPhone(services, user, { channel, number, ...placed }, request);
  if (placed !== undefined && sent.problem !== undefined) await dropFactorCode(services, key);
  await notePhoneMessage(services, user, { channel, number }, sent, request);
  return sent.problem;
}
