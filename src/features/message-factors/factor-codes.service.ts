/**
 * Codes for second factors, stored like codes by e-mail. Each code is bound to the pending step, the page and the browser, and works once, for ten
 * minutes and at most five attempts. There is no link.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken, sameSecret } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import {
  type CodeContent,
  type CodedFactor,
  codeKey,
  emailCodeContext,
  MOST_CODE_ATTEMPTS,
  newDigits,
  openCode,
} from '../email-codes/email-codes.service.ts';
import { type CodeKey, countAttempt, deleteCode, findCode, insertCode } from '../email-codes/email-codes.store.ts';

/**
 * Identifies the code of a second factor. Its ID differs from codes of a first factor, so that neither is accepted for the other.
 * @param waits the state token of a sign-in or an enrolment, or the ID of a factor that an administrator sets up
 * @param device value of the browser's device cookie
 */
export const factorCodeKey = (waits: string, place: string, device: string | undefined): CodeKey =>
  codeKey(`second factor ${waits}`, place, device);

export const phoneNumberContext = (factorId: string): string => `phone ${factorId}`;

/** Recipient and factor of a code. */
export interface SentCode extends CodedFactor {
  readonly sentTo: string;
}

/** Stores a new code, which replaces the previous one. @returns the code to send */
export async function placeFactorCode(
  trx: Executor,
  { keyring }: Pick<Services, 'keyring'>,
  key: CodeKey,
  { sentTo, ...factor }: SentCode,
  userId: string,
): Promise<{ readonly code: string; readonly expiresAt: Date }> {
  const created = present();
  const code = newDigits();
  const content: CodeContent = { code, link: '', path: '', query: '', name: '', factor, request: {} };
  const expiresAt = new Date(created.getTime() + LIFETIMES.emailCode * 1000);
  await deleteCode(trx, key.id);
  await insertCode(trx, {
    ...key,
    ...{ linkId: digest(randomToken()), purpose: 'FACTOR', userId, mailedTo: sentTo, attempts: 0, created },
    sealed: keyring.seal(JSON.stringify(content), emailCodeContext(key.id)),
    expiresAt,
  });
  return { code, expiresAt };
}

/** @returns recipient and factor of the pending code; undefined: none was sent, it has expired, or was used */
export async function findFactorCode(services: Pick<Services, 'database' | 'keyring'>, key: CodeKey): Promise<SentCode | undefined> {
  const row = await findCode(services.database.knex, key, present());
  return row === undefined ? undefined : sentCode(row.mailedTo, openCode(services, row).content.factor);
}

const sentCode = (sentTo: string | null, factor: CodedFactor | undefined): SentCode | undefined =>
  sentTo === null || factor === undefined ? undefined : { ...factor, sentTo };

/** Counts the attempt, and uses a correct code up. @returns its recipient and factor; undefined: it is wrong, or has expired */
export async function useFactorCode(
  trx: Executor,
  services: Pick<Services, 'keyring'>,
  key: CodeKey,
  typed: string,
): Promise<SentCode | undefined> {
  const row = await countAttempt(trx, key, MOST_CODE_ATTEMPTS, present());
  if (row === undefined) return undefined;
  const { code, factor } = openCode(services, row).content;
  if (!sameSecret(typed.replace(/\s/g, ''), code) || !(await deleteCode(trx, key.id))) return undefined;
  return sentCode(row.mailedTo, factor);
}

/** Deletes the pending code. */
export const dropFactorCode = async ({ database }: Pick<Services, 'database'>, key: CodeKey): Promise<void> =>
  void (await deleteCode(database.knex, key.id));
