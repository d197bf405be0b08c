/**
 * An eight-digit code and a link in one e-mail. Both continue in the requesting browser, once, for ten minutes; elsewhere the link shows the code.
 * The request only stores the input: the user is looked up in the background, so that neither response nor timing reveals who has an account (OWASP
 * Authentication Cheat Sheet, "Authentication and Error Messages").
 */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken, sameSecret } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { NOBODY, type RequestContext } from '../audit/audit-event.policy.ts';
import { MESSAGE_TYPES } from '../message-factors/message-factors.policy.ts';
import type { Carrier } from '../outbox/outbox.service.ts';
import { insertEntry, laneOf } from '../outbox/outbox.store.ts';
import { countFailedSignIn, networkOf, refuseBlockedAddress } from '../sign-in/failure-limits.service.ts';
import {
  type CodeKey,
  type CodePurpose,
  countAttempt,
  deleteCode,
  type EmailCode,
  findCode,
  findCodeById,
  findCodeOfLink,
  insertCode,
  noteMailed,
} from './email-codes.store.ts';

/** `outbox.kind` of e-mail codes. */
export const EMAIL_CODE = 'email-code';
const DIGITS = 8;
/** Maximum attempts per code. Each guess succeeds with a probability of one in a hundred million. */
export const MOST_CODE_ATTEMPTS = 5;
const LONGEST_NAME = 320;

const codedFactor = z.object({
  /** ID of the factor; absent: it is being set up. */
  id: z.string().optional(),
  type: z.enum(MESSAGE_TYPES),
  /** Phone number that is being set up, E.164. */
  number: z.string().optional(),
});
export type CodedFactor = Readonly<z.output<typeof codedFactor>>;

const content = z.object({
  code: z.string(),
  /** The token in the link. */
  link: z.string(),
  /** Path and query to continue at, on this service. */
  path: z.string(),
  query: z.string(),
  /** User name or e-mail address, as typed. */
  name: z.string(),
  /** User name of the recipient. */
  login: z.string().optional(),
  /** Sign-up: the other form fields. */
  form: z.unknown().optional(),
  /** Second factor: the factor that the code is for. */
  factor: codedFactor.optional(),
  request: z.object({
    ipAddress: z.string().optional(),
    userAgent: z.string().optional(),
    requestId: z.string().optional(),
    language: z.string().optional(),
  }),
});
export type CodeContent = Readonly<z.output<typeof content>>;

const note = z.object({ id: z.string() });
export const emailCodeContext = (id: string): string => `email code ${id}`;

/** The page of a sign-in to continue at. */
export interface CodePlace {
  /** Path of the sign-in: an interaction or a page such as `/signin`. */
  readonly path: string;
  /** Query with `?`; '' without one. */
  readonly query: string;
}

export interface CodeOrder extends CodePlace {
  readonly purpose: CodePurpose;
  /** User name or e-mail address, as typed. */
  readonly name: string;
  readonly form?: unknown;
}

/** @param device value of the browser's device cookie */
export const codeKey = (stateToken: string, path: string, device: string | undefined): CodeKey => ({
  id: digest(stateToken),
  place: digest(path),
  deviceHash: digest(device ?? ''),
});

/**
 * Stores the request for a code. The caller has applied the rate limit.
 * @param replaces the browser's token of the previous code, which is deleted
 * @returns the browser's token
 */
export async function beginCode(services: Services, wish: CodeOrder, request: RequestContext, replaces = ''): Promise<string> {
  const { purpose, path, query, form } = wish;
  const [stateToken, link] = [randomToken(), randomToken()];
  const key = codeKey(stateToken, path, request.device);
  const created = present();
  const { ipAddress, userAgent, requestId, language } = request;
  const whole: z.input<typeof content> = {
    ...{ code: newDigits(), link, path, query, form, name: wish.name.slice(0, LONGEST_NAME) },
    request: { ipAddress, userAgent, requestId, language },
  };
  await services.database.transaction(async (trx) => {
    await deleteCode(trx, digest(replaces));
    await insertCode(trx, {
      ...key,
      ...{ linkId: digest(link), purpose, userId: null, mailedTo: null, attempts: 0, created },
      sealed: services.keyring.seal(JSON.stringify(whole), emailCodeContext(key.id)),
      expiresAt: new Date(created.getTime() + LIFETIMES.emailCode * 1000),
    });
    // One queue per network, so that mass requests delay few others.
    const orderingKey = laneOf(networkOf(ipAddress ?? ''));
    await insertEntry(trx, { kind: EMAIL_CODE, orderingKey, objectKey: null, payload: { id: key.id }, created });
  });
  return stateToken;
}

export const newDigits = (): string => String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');

/** A code and its purpose. */
export interface OpenCode {
  readonly row: EmailCode;
  readonly content: CodeContent;
}

export const openCode = ({ keyring }: Pick<Services, 'keyring'>, row: EmailCode): OpenCode => ({
  row,
  content: content.parse(JSON.parse(keyring.open(row.sealed, emailCodeContext(row.id)))),
});

/** @returns the browser's pending code at the place; undefined: none */
export async function readCode(
  services: Services,
  stateToken: string,
  path: string,
  device: string | undefined,
): Promise<OpenCode | undefined> {
  const row = await findCode(services.database.knex, codeKey(stateToken, path, device), present());
  return row && openCode(services, row);
}

/** Deletes the browser's pending code. */
export const abandonCode = async ({ database }: Services, stateToken: string): Promise<void> =>
  void (await deleteCode(database.knex, digest(stateToken)));

/**
 * Compares the submitted code; the caller uses a correct code up with `deleteCode`.
 * @returns `gone`: there is no code, or too many attempts were made
 * @throws {TooManyFailures}
 */
export async function checkCode(
  services: Services,
  at: { readonly stateToken: string; readonly path: string },
  typed: string,
  request: RequestContext,
): Promise<OpenCode | 'wrong' | 'gone'> {
  await refuseBlockedAddress(services, request.ipAddress);
  const row = await countAttempt(services.database.knex, codeKey(at.stateToken, at.path, request.device), MOST_CODE_ATTEMPTS, present());
  if (row === undefined) return 'gone';
  const found = openCode(services, row);
  // Always compared, so that the timing does not depend on whether a code was mailed.
  const isRight = sameSecret(typed.replace(/\D/g, ''), found.content.code);
  if (isRight && row.mailedTo !== null) return found;
  await recordEvent(services.database.knex, { ...redeemed(found, request), failure: 'INVALID_CREDENTIALS' });
  await countFailedSignIn(services, request.ipAddress);
  return 'wrong';
}

/** Audit event for a submitted code or an opened link. */
export const redeemed = ({ row: { userId }, content: { login } }: OpenCode, request: RequestContext) => ({
  eventType: 'system.email.challenge_factor_redeemed' as const,
  displayMessage: 'Use code sent by e-mail',
  request: { ...request, actor: NOBODY },
  targets: userId === null || login === undefined ? [] : [{ id: userId, type: 'User' as const, displayName: login }],
});

/** @returns `here`: opened in the requesting browser; undefined: the code was used or has expired, or no e-mail was sent */
export async function openLink(
  services: Services,
  link: string,
  device: string | undefined,
): Promise<(OpenCode & { readonly here: boolean }) | undefined> {
  const row = await findCodeOfLink(services.database.knex, digest(link), present());
  if (row === undefined || row.mailedTo === null) return undefined;
  return { ...openCode(services, row), here: device !== undefined && row.deviceHash === digest(device) };
}

/** Finds the recipient of a code and queues the e-mail. @returns whether one is sent */
export type CodeSender = (services: Services, code: OpenCode, request: RequestContext) => Promise<boolean>;

/** Sends requested codes. */
export function emailCodes(services: Services, senders: Readonly<Record<CodePurpose, CodeSender>>): Carrier {
  return {
    async deliver(payload) {
      const row = await findCodeById(services.database.knex, note.parse(payload).id, present());
      if (row === undefined || row.mailedTo !== null || row.purpose === 'FACTOR') return 'dropped';
      const code = openCode(services, row);
      const isSent = await senders[row.purpose](services, code, { actor: NOBODY, ...defined(code.content.request) });
      return isSent ? 'delivered' : 'dropped';
    },
    givenUp: () => ({ eventType: 'system.email.send_factor_verify_message', displayMessage: 'Send code by e-mail', targets: [] }),
  };
}

const defined = (request: CodeContent['request']) =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Omit<RequestContext, 'actor'>;

/** Activates the code. @returns the contents of the e-mail; undefined: it has expired meanwhile */
export async function mailCode(
  trx: Executor,
  { keyring, config }: Pick<Services, 'keyring' | 'config'>,
  { row, content: before }: OpenCode,
  to: { readonly address: string; readonly user?: { readonly id: string; readonly login: string } | undefined },
): Promise<
  { readonly to: string; readonly link: string; readonly expiresAt: string; readonly values: { readonly code: string } } | undefined
> {
  const after: CodeContent = { ...before, login: to.user?.login };
  const sealed = keyring.seal(JSON.stringify(after), emailCodeContext(row.id));
  if (!(await noteMailed(trx, row.id, { userId: to.user?.id ?? null, mailedTo: to.address, sealed }))) return undefined;
  return {
    to: to.address,
    link: `${config.baseUrl}/code/${before.link}`,
    expiresAt: row.expiresAt.toISOString(),
    values: { code: before.code },
  };
}
