/** An administrator tries the webhook of `settings/telephony` with a number of their own. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { HookProblem } from '../policies/decisions.policy.ts';
import { countPhoneMessage, notePhoneMessage, type PhoneChannel, type PhoneProblem, sendToPhone } from './phone-messages.service.ts';
import { readPhoneNumber } from './phone-numbers.policy.ts';

export interface TriedTelephony {
  readonly outcome: 'SENT' | PhoneProblem;
  /** Why it failed. */
  readonly problem?: HookProblem | 'REFUSED' | undefined;
  /** HTTP status of the response. */
  readonly status?: number | undefined;
  /** The beginning of its body. */
  readonly body?: string | undefined;
}

/** Sample code that works nowhere. */
const SAMPLE_CODE = '00000000';

/**
 * Sends a code that opens nothing. It counts as any message.
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
    ...('told' in sent && { problem: sent.reason, status: sent.told?.status, body: sent.told?.body }),
  };
}
