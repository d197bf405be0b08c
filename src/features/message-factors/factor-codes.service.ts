/**
 * Codes for second factors, in the mechanism of codes by e-mail: each is bound to what waits for it, to the place and to the browser, is right once, for ten
 * minutes, and for five attempts. They have no link.
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
 * Identifies the code of a second factor. Unlike codes of a first factor, so that neither is accepted for the other.
 * @param waits the state token of a sign-in or an enrolment, or the factor that an administrator sets up
 * @param device value of the browser's device cookie
 */
export const factorCodeKey = (waits: string, place: string, device: string | undefined): CodeKey =>
  codeKey(`second factor ${waits}`, place, device);

export const phoneNumberContext = (factorId: string): string => `phone ${factorId}`;

/** Recipient and factor of a code. */
export interface SentCode extends CodedFactor {
  readonly sentTo: string;
}

/** @param trx the code before ends with it @returns the code, to be sent */
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

/** @returns the code that is waited for; undefined: none was sent, or it has ended */
export async function findFactorCode(services: Pick<Services, 'database' | 'keyring'>, key: CodeKey): Promise<SentCode | undefined> {
  const row = await findCode(services.database.knex, key, present());
  return row === undefined ? undefined : sentCode(row.mailedTo, openCode(services, row).content.factor);
}

const sentCode = (sentTo: string | null, factor: CodedFactor | undefined): SentCode | undefined =>
  sentTo === null || factor === undefined ? undefined : { ...factor, sentTo };

/** Counts the submitted code, and uses a correct one. @returns its data; undefined: it is wrong, or has expired */
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
