/** Reads and changes the webhook of `settings/telephony`, and sends a test message with it. Its secret is sealed and never returned. */

import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { sealSigningSecret } from '../event-hooks/hook-secrets.service.ts';
import type { HookProblem } from '../policies/decisions.policy.ts';
import { decideSettings, readSettings } from '../settings/settings.service.ts';
import { countPhoneMessage, notePhoneMessage, type PhoneChannel, type PhoneProblem, sendToPhone } from './phone-messages.service.ts';
import { readPhoneNumber } from './phone-numbers.policy.ts';
import {
  NO_TELEPHONY,
  TELEPHONY,
  type TelephonySettings,
  type TelephonySettingsBody,
  telephonyProblems,
} from './telephony-settings.resource.ts';

export interface ShownTelephony extends Omit<TelephonySettings, 'secret'> {
  readonly secretSet: boolean;
}

const shown = ({ url, secret, prefixes, mostPerDay }: TelephonySettings): ShownTelephony => ({
  ...{ url, prefixes, mostPerDay },
  secretSet: secret !== null,
});

/** Current settings from the database. */
export const readTelephony = async (services: Pick<Services, 'database'>): Promise<ShownTelephony> =>
  shown(await readSettings(services, 'telephony'));

/**
 * @param body replaces the settings; an absent secret is unchanged
 * @throws {ApiError} validation
 */
export async function replaceTelephony(services: Services, body: TelephonySettingsBody, request: RequestContext): Promise<ShownTelephony> {
  const { secret, ...rest } = body;
  const after = await decideSettings(
    services,
    'telephony',
    (stored) => {
      const before = { ...NO_TELEPHONY, ...stored };
      const problems = telephonyProblems(before, body);
      if (problems.length > 0) throw validation(problems);
      const sealed = secret === undefined ? before.secret : { sealed: sealSigningSecret(services.keyring, TELEPHONY, TELEPHONY, secret) };
      return { ...rest, ...(sealed !== null && (rest.url ?? null) !== null && { secret: sealed }) };
    },
    request,
  );
  return shown(after);
}

export interface TriedTelephony {
  readonly outcome: 'SENT' | PhoneProblem;
  /** Why it failed. */
  readonly problem?: HookProblem | 'REFUSED' | undefined;
  /** HTTP status of the response. */
  readonly status?: number | undefined;
  /** The start of its body. */
  readonly body?: string | undefined;
}

/** Sample code, never valid. */
const SAMPLE_CODE = '00000000';

/**
 * Sends a sample code as a test. It counts toward the message limits.
 * @param typed the number
 * @throws {ApiError} validation
 */
export async function tryTelephony(
  services: Services,
  typed: string,
  channel: PhoneChannel,
  request: RequestContext,
): Promise<TriedTelephony> {
  const number = readPhoneNumber(typed);
  if (number === undefined)
    throw validation([{ field: 'phoneNumber', message: 'must be a number with its country code, such as +49 30 901820' }]);
  const { id, displayName: login } = request.actor;
  const refused = await countPhoneMessage(services, id, number, request);
  const message = { channel, number, code: SAMPLE_CODE, expiresAt: present() };
  const sent = refused === undefined ? await sendToPhone(services, { login, profile: {} }, message, request) : { problem: refused };
  await notePhoneMessage(services, { id, login }, message, sent, request);
  return {
    outcome: sent.problem ?? 'SENT',
    ...('facts' in sent && { problem: sent.reason, status: sent.facts?.status, body: sent.facts?.body }),
  };
}
