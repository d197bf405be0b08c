/**
 * Sends codes to phones by the operator's signed webhook, in the shape of Okta's telephony hook; nothing is built in. Each message costs money, and to some
 * countries as much as fraud pays: numbers are allowed by their country, and messages are limited by network, account, number and for the whole service
 * (OWASP Multifactor Authentication Cheat Sheet, "SMS Messages and Phone Calls").
 */
import { z } from 'zod';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { withChangedTexts } from '../../platform/i18n/messages.ts';
import { negotiateLanguage } from '../../platform/i18n/page-language.ts';
import { countFailure, type FailureLimit } from '../../platform/rate-limits/failures-by-address.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { type CallFacts, callHook, type HookResponse, hookMessage } from '../inline-hooks/inline-hook-call.service.ts';
import { languageOf } from '../mail/mail.policy.ts';
import type { HookProblem } from '../policies/decisions.policy.ts';
import { currentSettings, currentTexts } from '../settings/settings-cache.service.ts';
import { networkOf } from '../sign-in/failure-limits.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { isAllowedNumber, maskedNumber } from './phone-numbers.policy.ts';
import { TELEPHONY } from './telephony-settings.resource.ts';

const HOUR = 3600;
const ACCOUNT: FailureLimit = { prefix: 'phone-account', most: 5, seconds: HOUR };
/** To one number, from any account. */
const NUMBER: FailureLimit = { prefix: 'phone-number', most: 5, seconds: HOUR };
const NETWORK: FailureLimit = { prefix: 'phone-network', most: 20, seconds: HOUR };
const DAY = 24 * HOUR;

export type PhoneChannel = 'SMS' | 'CALL';

export interface PhoneMessage {
  readonly channel: PhoneChannel;
  /** E.164. */
  readonly number: string;
  readonly code: string;
  readonly expiresAt: Date;
}

/** Why no message is sent. */
export type PhoneProblem = 'TELEPHONY_OFF' | 'NUMBER_NOT_ALLOWED' | 'TOO_MANY_REQUESTS' | 'TELEPHONY_FAILED';

/** Can messages be sent to phones? */
export const isTelephonyOn = async (services: Services): Promise<boolean> => (await currentSettings(services, 'telephony')).url !== null;

/** Counts a message before it is created. Not within a transaction. @returns why it cannot be sent */
export async function countPhoneMessage(
  services: Services,
  userId: string,
  number: string,
  { ipAddress }: Pick<RequestContext, 'ipAddress'>,
): Promise<PhoneProblem | undefined> {
  const { url, secret, prefixes, mostPerDay } = await currentSettings(services, 'telephony');
  if (url === null || secret === null) return 'TELEPHONY_OFF';
  if (!isAllowedNumber(number, prefixes)) return 'NUMBER_NOT_ALLOWED';
  // The limit of the service comes last, so that refused messages do not use it up. It applies without RATE_LIMITS too, because messages cost money.
  const counts: readonly (readonly [FailureLimit, string])[] = [
    ...(services.config.rateLimits
      ? ([...(ipAddress === undefined ? [] : [[NETWORK, networkOf(ipAddress)]]), [ACCOUNT, userId], [NUMBER, digest(number)]] as const)
      : []),
    [{ prefix: 'phone-service', most: mostPerDay, seconds: DAY }, 'all'],
  ] as readonly (readonly [FailureLimit, string])[];
  for (const [limit, key] of counts) {
    if ((await countFailure(services.database.pool, limit, key)).blockedSeconds !== undefined) return 'TOO_MANY_REQUESTS';
  }
  return undefined;
}

export interface SentMessage {
  readonly problem?: PhoneProblem | undefined;
  /** Request and response of the webhook; absent: not called. */
  readonly facts?: CallFacts | undefined;
  readonly reason?: HookProblem | 'REFUSED' | undefined;
}

/** Asks the webhook to send a message that was counted. Not within a transaction. */
export async function sendToPhone(
  services: Services,
  user: Pick<User, 'login' | 'profile'>,
  message: PhoneMessage,
  request: RequestContext,
): Promise<SentMessage> {
  const { url, secret } = await currentSettings(services, 'telephony');
  if (url === null || secret === null) return { problem: 'TELEPHONY_OFF' };
  const hook = {
    id: TELEPHONY,
    channel: { uri: url, headers: [], authScheme: null },
    ...{ signingSecret: secret.sealed, previousSecret: null, previousSecretUntil: null },
  };
  const { baseUrl } = services.config;
  const data = await telephonyData(services, user, message, request);
  const result = await callHook(services, TELEPHONY, hook, hookMessage({ type: 'com.okta.telephony.provider' }, data, `${baseUrl}/`));
  if (result.kind === 'failed') return { problem: 'TELEPHONY_FAILED', facts: result.facts, reason: result.problem };
  return isAccepted(result.response) ? { facts: result.facts } : { problem: 'TELEPHONY_FAILED', facts: result.facts, reason: 'REFUSED' };
}

/** Records in the audit log that a code was sent to a phone, or why it was not. */
export async function notePhoneMessage(
  { database }: Pick<Services, 'database'>,
  user: Pick<User, 'id' | 'login'>,
  { channel, number }: Pick<PhoneMessage, 'channel' | 'number'>,
  { problem, reason, facts }: SentMessage,
  request: RequestContext,
): Promise<void> {
  await recordEvent(database.knex, {
    eventType: channel === 'SMS' ? 'system.sms.send_factor_verify_message' : 'system.voice.send_mfa_challenge_call',
    displayMessage: channel === 'SMS' ? 'Send code by text message' : 'Send code by phone call',
    request,
    targets: [userTarget(user)],
    ...(problem !== undefined && { failure: problem }),
    after: { number: maskedNumber(number), ...(reason !== undefined && { reason, status: facts?.status ?? null }) },
  });
}

/** The `data` of a request, in Okta's shape. */
async function telephonyData(
  services: Services,
  { login, profile }: Pick<User, 'login' | 'profile'>,
  { channel, number, code, expiresAt }: PhoneMessage,
  { ipAddress, requestId, language }: RequestContext,
): Promise<object> {
  const { lang, text } = withChangedTexts(negotiateLanguage({ uiLocales: languageOf(profile, language) }), await currentTexts(services));
  const { name: service } = await currentSettings(services, 'branding');
  return {
    context: { request: { id: requestId, method: 'POST', url: { value: `${services.config.baseUrl}/` }, ipAddress } },
    userProfile: { login, firstName: profile.firstName, lastName: profile.lastName },
    messageProfile: {
      msgTemplate: text('message.text', { code, service }),
      phoneNumber: number,
      otpExpires: expiresAt.toISOString(),
      deliveryChannel: channel === 'SMS' ? 'SMS' : 'VOICE CALL',
      otpCode: code,
      locale: lang,
    },
  };
}

const action = z.object({
  type: z.literal('com.okta.telephony.action'),
  value: z.array(z.object({ status: z.string() })).min(1),
});

/** An empty response with a status of 2xx also accepts the message. */
function isAccepted({ commands, error }: HookResponse): boolean {
  if (error) return false;
  return (commands ?? []).every((command) => action.safeParse(command).data?.value.every(({ status }) => status === 'SUCCESSFUL') === true);
}
