/**
 * Failure limits per address (OWASP Authentication Cheat Sheet): wrong sign-ins, and wrong client secrets per application. Also limits
 * e-mails that unauthenticated users can cause.
 */
import ipaddr from 'ipaddr.js';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import {
  countedUnder,
  countFailure,
  type FailureLimit,
  forgetFailure,
  secondsBlocked,
  secondsBlockedWithin,
} from '../../platform/rate-limits/failures-by-address.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { NOBODY } from '../audit/audit-event.policy.ts';

const QUARTER_HOUR = 900;
const SIGN_INS: FailureLimit = { prefix: 'sign-in', most: 100, seconds: QUARTER_HOUR };
const CLIENT_SECRETS: FailureLimit = { prefix: 'client-secret', most: 100, seconds: QUARTER_HOUR };

/** RFC 8628 section 5.1: user codes are short. */
const USER_CODES: FailureLimit = { prefix: 'user-code', most: 20, seconds: QUARTER_HOUR };

/**
 * Authorization requests without a session, and device requests, each of which is stored. Counted in batches, the last of which may exceed the limit.
 */
const PENDING_SIGN_INS: FailureLimit = { prefix: 'pending-sign-in', most: 1950, seconds: QUARTER_HOUR };

const RESET_REQUESTS: FailureLimit = { prefix: 'reset-request', most: 20, seconds: QUARTER_HOUR };
/** E-mails to one user, so that mailboxes cannot be flooded. */
const MAILS: FailureLimit = { prefix: 'mail', most: 5, seconds: 3600 };
/** The same for requests of unauthenticated users, which must not use up the user's own limit. */
const RESET_MAILS: FailureLimit = { ...MAILS, prefix: 'reset-mail' };

/** E-mails with a sign-in code: a whole office may sign in with them. */
const CODE_REQUESTS: FailureLimit = { prefix: 'code-request', most: 300, seconds: QUARTER_HOUR };
const CODE_MAILS: FailureLimit = { ...MAILS, prefix: 'code-mail' };
/** Second-factor codes. They require a verified first factor, so others must not use them up. */
const FACTOR_CODE_MAILS: FailureLimit = { ...MAILS, prefix: 'factor-code-mail' };
/** Per application and user, existing or not: repeated requests must not wear users down. */
const SIGN_IN_REQUESTS: FailureLimit = { prefix: 'sign-in-request', most: 5, seconds: 300 };
/** Per application for all users. */
const SIGN_IN_REQUESTS_OF_ONE: FailureLimit = { prefix: 'sign-in-requests', most: 3000, seconds: QUARTER_HOUR };
/** E-mails about them to one user, for all applications. */
const SIGN_IN_REQUEST_MAILS: FailureLimit = { ...MAILS, prefix: 'sign-in-request-mail', most: 10 };

/** Accounts that users create themselves. */
const SIGN_UPS: FailureLimit = { prefix: 'sign-up', most: 50, seconds: QUARTER_HOUR };
const SIGN_UP_MAILS: FailureLimit = { ...MAILS, prefix: 'sign-up-mail' };
/** Invitations of one organization to one address. */
const INVITATION_MAILS: FailureLimit = { ...MAILS, prefix: 'invitation-mail' };
/** Counts refusals of an organization's administrators because a name belongs to another user. */
const NAMES_ELSEWHERE: FailureLimit = { prefix: 'name-elsewhere', most: 20, seconds: 3600 };
/** Steps of one set-up link: each may query DNS or an identity provider that its reader has chosen. */
const SETUP_STEPS: FailureLimit = { prefix: 'setup-step', most: 60, seconds: QUARTER_HOUR };

/** The counts by which `settings/bots` detects too many requests of a network. */
export const LIMITS_OF_REQUESTS = { signUp: SIGN_UPS, passwordReset: RESET_REQUESTS, signIn: SIGN_INS } as const;

type Parts = Pick<Services, 'config' | 'database'>;

/** Too many failures from this address. */
export class TooManyFailures extends Error {
  override readonly name = 'TooManyFailures';
  /** @param retryAfter seconds */
  constructor(readonly retryAfter: number) {
    super(`too many failures from one address; it is heard again in ${retryAfter} s`);
  }
}

/** @param key undefined: the service itself, which has no limit @returns seconds of the block that the limit causes; undefined: none */
async function count({ config, database }: Parts, limit: FailureLimit, key: string | undefined, failures = 1): Promise<number | undefined> {
  return config.rateLimits && key !== undefined ? (await countFailure(database.pool, limit, key, failures)).blockedSeconds : undefined;
}

async function countOrRefuse(parts: Parts, limit: FailureLimit, key: string | undefined): Promise<void> {
  const seconds = await count(parts, limit, key);
  if (seconds !== undefined) throw new TooManyFailures(seconds);
}

const isBelow = async (parts: Parts, limit: FailureLimit, key: string): Promise<boolean> => (await count(parts, limit, key)) === undefined;

const networkIf = (address: string | undefined): string | undefined => (address === undefined ? undefined : networkOf(address));

/** A browser in which the user signed in before has a separate count, so that others cannot use it up. */
const ofDevice = (userId: string, knownDevice: string | undefined): string =>
  knownDevice === undefined ? userId : `${userId} ${knownDevice}`;

/** @param address absent: the service itself, which has no limit @param most maximum failures @throws {TooManyFailures} */
export async function refuseBlockedAddress({ config, database }: Parts, address: string | undefined, most = SIGN_INS.most): Promise<void> {
  if (!config.rateLimits || address === undefined) return;
  const blockedSeconds = await secondsBlocked(database.pool, { ...SIGN_INS, most }, networkOf(address));
  if (blockedSeconds !== undefined) throw new TooManyFailures(blockedSeconds);
}

/** The failures of an address, for a statement that reads them with other data. */
export interface AddressCount {
  readonly key: string;
  /** Number of failures that blocks the address. */
  readonly most: number;
}

/** @returns undefined: no limit */
export const signInsFrom = ({ config }: Pick<Parts, 'config'>, address: string | undefined): AddressCount | undefined =>
  !config.rateLimits || address === undefined ? undefined : { key: countedUnder(SIGN_INS, networkOf(address)), most: SIGN_INS.most };

/**
 * Not within a transaction: it uses its own connection. A block is recorded once, not for each later attempt.
 * @throws {TooManyFailures} the limit is exceeded
 */
export async function countFailedSignIn({ config, database }: Parts, address: string | undefined): Promise<void> {
  if (!config.rateLimits || address === undefined) return;
  const { blockedSeconds, newBlockSeconds } = await countFailure(database.pool, SIGN_INS, networkOf(address));
  if (newBlockSeconds !== undefined) {
    await recordEvent(database.knex, {
      eventType: 'security.request.blocked',
      displayMessage: 'Sign-ins from an address are blocked',
      request: { actor: NOBODY, ipAddress: address },
      failure: 'TOO_MANY_FAILURES',
      decision: { kind: 'address', failures: SIGN_INS.most, seconds: newBlockSeconds },
    });
  }
  if (blockedSeconds !== undefined) throw new TooManyFailures(blockedSeconds);
}

/** Always counts, for equal timing, but does not block known browsers. @throws {TooManyFailures} */
export async function limitUnlessKnown(isKnown: boolean, limit: Promise<void>): Promise<void> {
  try {
    await limit;
  } catch (error) {
    if (!isKnown || !(error instanceof TooManyFailures)) throw error;
  }
}

/** Counts a request for a new password, whatever the result. Not within a transaction. @throws {TooManyFailures} the limit is exceeded */
export const countResetRequest = (parts: Parts, address: string | undefined, most = RESET_REQUESTS.most): Promise<void> =>
  countOrRefuse(parts, { ...RESET_REQUESTS, most }, networkIf(address));

/** Counts an e-mail with a link to this user. @returns false if there were too many recently */
export const mayMailAgain = (parts: Parts, userId: string): Promise<boolean> => isBelow(parts, MAILS, userId);

/** Counts an e-mail for a new password. @param knownDevice digest of the device cookie @returns false if there were too many recently */
export const mayMailReset = (parts: Parts, userId: string, knownDevice: string | undefined): Promise<boolean> =>
  isBelow(parts, RESET_MAILS, ofDevice(userId, knownDevice));

/** Counts a request for a sign-in code, whatever the result. Not within a transaction. @throws {TooManyFailures} the limit is exceeded */
export const countCodeRequest = (parts: Parts, address: string | undefined): Promise<void> =>
  countOrRefuse(parts, CODE_REQUESTS, networkIf(address));

/** Counts an e-mail with a code to this user, as `mayMailReset` does. @returns false if there were too many recently */
export const mayMailCode = (parts: Parts, userId: string, knownDevice: string | undefined): Promise<boolean> =>
  isBelow(parts, CODE_MAILS, ofDevice(userId, knownDevice));

/** Counts an e-mail with the code of a second factor, as `mayMailCode` does. @returns false if there were too many recently */
export const mayMailFactorCode = (parts: Parts, userId: string, knownDevice: string | undefined): Promise<boolean> =>
  isBelow(parts, FACTOR_CODE_MAILS, ofDevice(userId, knownDevice));

/** Counts a sign-in request. @param hint user @returns seconds of the application's block; undefined: none */
export async function countSignInRequest(parts: Parts, clientId: string, hint: string): Promise<number | undefined> {
  const ofUser = await count(parts, SIGN_IN_REQUESTS, `${clientId} ${digest(hint.trim().toLowerCase())}`);
  return ofUser ?? count(parts, SIGN_IN_REQUESTS_OF_ONE, clientId);
}

/** Counts an e-mail about a sign-in request. @returns false if there were too many recently */
export const mayMailSignInRequest = (parts: Parts, userId: string): Promise<boolean> => isBelow(parts, SIGN_IN_REQUEST_MAILS, userId);

/** Counts a sign-up, whatever the result. Not within a transaction. @throws {TooManyFailures} the limit is exceeded */
export const countSignUp = (parts: Parts, address: string | undefined, most = SIGN_UPS.most): Promise<void> =>
  countOrRefuse(parts, { ...SIGN_UPS, most }, networkIf(address));

/** Counts an e-mail of a sign-up to this address. @returns false if there were too many recently */
export const mayMailSignUp = (parts: Parts, email: string): Promise<boolean> => isBelow(parts, SIGN_UP_MAILS, digest(email.toLowerCase()));

/**
 * Counts an invitation. Per organization: a shared count would reveal invitations of others.
 * @returns seconds until the organization can invite this address again; undefined: now
 */
export const countInvitationMail = (parts: Parts, orgId: string, email: string): Promise<number | undefined> =>
  count(parts, INVITATION_MAILS, digest(JSON.stringify([orgId, email.toLowerCase()])));

/**
 * Counts a refused name, see names-elsewhere.service.ts. Not within a transaction.
 * @returns whether it reached the limit
 */
export const countNameElsewhere = async ({ config, database }: Parts, orgId: string): Promise<boolean> =>
  config.rateLimits && (await countFailure(database.pool, NAMES_ELSEWHERE, orgId)).newBlockSeconds !== undefined;

/** @returns seconds until names are looked up for the organization again; undefined: now */
export const secondsWithoutNames = (trx: Executor, orgId: string): Promise<number | undefined> =>
  secondsBlockedWithin(trx, NAMES_ELSEWHERE, orgId);

/** Counts a step of a set-up link before it is taken. @throws {TooManyFailures} the limit is exceeded */
export const countSetupStep = (parts: Parts, orgId: string): Promise<void> => countOrRefuse(parts, SETUP_STEPS, orgId);

/**
 * Counts a user code before the lookup, which also limits concurrent attempts. Not within a transaction.
 * @returns seconds of the address's block; undefined: none
 */
export const countUserCode = (parts: Parts, address: string | undefined): Promise<number | undefined> =>
  count(parts, USER_CODES, networkIf(address));

/** A device request with this code exists, so it was no failure. */
export async function forgetUserCode({ config, database }: Parts, address: string | undefined): Promise<void> {
  if (config.rateLimits && address !== undefined) await forgetFailure(database.pool, USER_CODES, networkOf(address));
}

/** @param network from `networkOf` @returns seconds until a new sign-in can start there; undefined: now */
export const countPendingSignIns = (parts: Parts, network: string, requests: number): Promise<number | undefined> =>
  count(parts, PENDING_SIGN_INS, network, requests);

/** @param network from `networkOf` @returns seconds of the application's block from there; undefined: none */
export const countWrongSecret = (parts: Parts, clientId: string, network: string): Promise<number | undefined> =>
  count(parts, CLIENT_SECRETS, `${clientId} ${network}`);

/** Network of an address: for IPv6 the 64 bits that a subscriber has at least (RFC 6177); for IPv4-mapped IPv6 the IPv4 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString().replace(/%.*/, '')}/64`)}/64`;
}
