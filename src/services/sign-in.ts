/**
 * Who a user name and a password belong to, for the sign-in page, the API's `authn` and the password grant alike. Every failure looks and lasts the
 * same, a lock too, so that nobody learns which accounts exist (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"). What is asked
 * beside the password is not here (services/sign-in-steps.ts): by a right one alone nobody has signed in yet.
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import type { PasswordRefused } from '../policy/decisions.ts';
import { type AttemptDecision, decideAttempt, NO_FAILURES } from '../policy/lockout.ts';
import { isTooOld, type PasswordPolicy } from '../policy/password.ts';
import { digest } from '../secrets.ts';
import type { Executor } from '../store/database.ts';
import { isNewDevice, lockFailedAttempts, rememberDevice, saveFailedAttempts } from '../store/failed-sign-ins.ts';
import { Overloaded } from '../store/failures.ts';
import {
  findUserById,
  findUserByLogin,
  findUserByUniqueEmail,
  isUnchanged,
  replacePasswordHash,
  touchLastLogin,
  type User,
} from '../store/users.ts';
import { untilEven } from './answer-time.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { countFailedSignIn, refuseBarredAddress } from './failure-limits.ts';
import { queueNotice } from './mail.ts';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';
import { type Purpose, secondFactorFacts } from './second-factor-demand.ts';
import { readPasswordPolicy } from './settings.ts';
import { isPrintable } from './text.ts';

export interface Credentials {
  /** Login or e-mail address. */
  readonly username: string;
  readonly password: string;
  /** Value of the browser's device cookie, an old or a new one; absent: not in a browser. */
  readonly device?: string | undefined;
}

export interface SignedInUser {
  readonly id: string;
  readonly login: string;
  /** When the password was found right. */
  readonly authenticatedAt: Date;
}

/** A right password: what else is asked comes next, and another password where it has expired. */
export type PasswordCheck =
  | { readonly kind: 'right'; readonly user: SignedInUser }
  | { readonly kind: 'expired'; readonly user: ExpiredUser };

/** As he was when his password was compared. */
export type ExpiredUser = Pick<User, 'id' | 'login' | 'status' | 'passwordChanged'>;

/**
 * For whoever has nobody to ask for another password: an expired one is refused like a wrong one.
 * @returns undefined when the credentials are wrong, or the user may not sign in, or not now
 * @throws {TooManyFailures} when too many have failed from the address, whatever the credentials are
 */
export async function authenticate(
  services: Services,
  credentials: Credentials,
  request: RequestContext,
): Promise<SignedInUser | undefined> {
  const checked = await checkPassword(services, credentials, request);
  if (checked?.kind === 'right') return checked.user;
  if (checked !== undefined) await countFailedSignIn(services, request.ipAddress);
  return undefined;
}

/** As `authenticate`, where an expired password can be replaced. @throws {TooManyFailures} */
export async function checkPassword(
  services: Services,
  credentials: Credentials,
  request: RequestContext,
): Promise<PasswordCheck | undefined> {
  await refuseBarredAddress(services, request.ipAddress);
  const user = await findNamedUser(services.database.knex, credentials.username.trim());
  let begun = performance.now();
  const right = await verifyPassword(user?.passwordHash ?? null, credentials.password, () => {
    begun = performance.now();
  });
  const rehashed = right ? await hashAnew(user, credentials.password) : undefined;
  // Whatever is decided, a right password during a lock too.
  await untilEven(services.database, credentials.password, begun);
  // Hashes wait for their turn: of a thousand guesses at once, most have their answer only after the address was barred.
  await refuseBarredAddress(services, request.ipAddress);

  const deviceHash = credentials.device === undefined ? undefined : digest(credentials.device);
  // Read whether the password is right or not: it takes the same time.
  const policy = await readPasswordPolicy(services.database.knex);
  const attempt = { user, right, rehashed, deviceHash, policy };
  const checked = await services.database.transaction((trx) => decide(trx, attempt, request));
  if (checked === undefined) await countFailedSignIn(services, request.ipAddress);
  return checked;
}

interface Attempt {
  readonly user: User | undefined;
  /** Was the password the user's when it was compared? */
  readonly right: boolean;
  readonly rehashed: Rehashed | undefined;
  readonly deviceHash: string | undefined;
  readonly policy: PasswordPolicy;
}

async function decide(
  trx: Executor,
  { user, right, rehashed, deviceHash, policy }: Attempt,
  request: RequestContext,
): Promise<PasswordCheck | undefined> {
  const now = present();
  // Only who may sign in at all can be locked out.
  const candidate = user?.status === 'ACTIVE' || user?.status === 'PASSWORD_EXPIRED' ? user : undefined;
  const counted = await lockFailedAttempts(trx, candidate?.id ?? '', deviceHash, now);
  const decision = decideAttempt(counted?.attempts ?? NO_FAILURES, right, now);

  // Asked again by the update: the user may have been suspended, or have got another password, while the hash was computed.
  const admitted = candidate !== undefined && counted !== undefined && decision.admitted;
  const expired = admitted && isExpired(candidate, policy, now);
  const stands = admitted && (await isUnchanged(trx, candidate));
  if (stands && deviceHash !== undefined)
    await rememberDevice(trx, candidate.id, deviceHash, new Date(now.getTime() + LIFETIMES.device * 1000));
  if (stands && !expired) {
    await saveFailedAttempts(trx, { ...counted, attempts: decision.remembered });
    if (rehashed !== undefined) await replacePasswordHash(trx, candidate.id, rehashed.compared, rehashed.anew);
    return { kind: 'right', user: { id: candidate.id, login: candidate.login, authenticatedAt: now } };
  }
  // Written whether it changes anything or not: it takes the same time.
  await saveFailedAttempts(trx, counted && { ...counted, attempts: admitted ? counted.attempts : decision.remembered });
  await recordFailure(trx, user, { right, expired, decision, knownBrowser: counted?.deviceHash !== undefined }, request);
  return stands ? { kind: 'expired', user: candidate } : undefined;
}

/** Must the user choose another password before he is signed in by this one? */
export const isExpired = ({ status, passwordChanged, created }: User, policy: PasswordPolicy, now: Date): boolean =>
  status === 'PASSWORD_EXPIRED' || isTooOld(policy, passwordChanged ?? created, now);

/**
/**
 * Notes that a sign-in is done, its last step included; in a browser that is new to the account its user is told by mail, but of his very first sign-in. Of a
 * user who was suspended meanwhile nothing is noted: he comes no further.
 * @param how what he has proved himself by (RFC 8176), and what the sign-in is for, as far as it is known
 */
export async function noteSignIn(
  trx: Executor,
  user: Pick<User, 'id' | 'login'>,
  { amr, purpose = {} }: { readonly amr: readonly string[]; readonly purpose?: Purpose | undefined },
  request: RequestContext,
): Promise<void> {
  const now = present();
  const before = await findUserById(trx, user.id);
  if (!(await touchLastLogin(trx, user.id, now))) return;
  const himself: RequestContext = { ...request, actor: { id: user.id, type: 'User', displayName: user.login } };
  await recordEvent(trx, {
    eventType: 'user.session.start',
    displayMessage: 'User login',
    request: himself,
    targets: targets(user),
    decision: { kind: 'session', amr, secondFactor: await secondFactorFacts(trx, user.id, purpose) },
  });
  if (request.device === undefined) return;
  const until = new Date(now.getTime() + LIFETIMES.device * 1000);
  const isNew = await isNewDevice(trx, user.id, digest(request.device), until);
  if (isNew && before !== undefined && before.lastLogin !== null) await queueNotice(trx, user.id, 'new-sign-in', {}, himself);
}

interface Failure {
  readonly right: boolean;
  readonly expired: boolean;
  readonly decision: AttemptDecision;
  readonly knownBrowser: boolean;
}

async function recordFailure(trx: Executor, user: User | undefined, failed: Failure, request: RequestContext): Promise<void> {
  const { right, expired, decision } = failed;
  const notNow = expired ? 'PASSWORD_EXPIRED' : 'USER_NOT_ACTIVE';
  const reason = decision.reason === 'locked' ? 'LOCKED_OUT' : right ? notNow : 'INVALID_CREDENTIALS';
  await recordEvent(trx, {
    eventType: 'user.authentication.failure',
    displayMessage: 'User login',
    request,
    // What was typed for an unknown user stays out of the log: at times it is a password.
    targets: targets(user),
    failure: user === undefined ? 'UNKNOWN_USER' : reason,
    decision: whyRefused(user, failed),
  });
  if (decision.reason !== 'wrong password, which locks') return;
  const { locks, lockedUntil } = decision.remembered;
  await recordEvent(trx, {
    eventType: 'user.account.lock',
    displayMessage: 'Max sign in attempts exceeded',
    request,
    targets: targets(user),
    failure: 'LOCKED_OUT',
    after: { lockedUntil, locks },
  });
}

function whyRefused(user: User | undefined, { right, expired, decision, knownBrowser }: Failure): PasswordRefused {
  if (user === undefined) return { kind: 'password', reason: 'UNKNOWN_USER' };
  const { failures, lockedUntil } = decision.remembered;
  const { status } = user;
  const facts = {
    kind: 'password',
    status,
    failures,
    knownBrowser,
    ...(lockedUntil && { lockedUntil: lockedUntil.toISOString() }),
  } as const;
  if (decision.reason === 'locked') return { ...facts, reason: 'LOCKED' };
  if (!right) return { ...facts, reason: 'WRONG_PASSWORD' };
  if (expired) return { ...facts, reason: 'EXPIRED' };
  return { ...facts, reason: status === 'ACTIVE' ? 'CHANGED_MEANWHILE' : 'NOT_ACTIVE' };
}

interface Rehashed {
  readonly compared: string;
  readonly anew: string;
}

/**
 * The only moment at which the password itself is known.
 * @returns undefined when its hash is as good as those made today, or too many wait: whether the password is right must not be told by a refusal
 */
async function hashAnew(user: User | undefined, password: string): Promise<Rehashed | undefined> {
  const compared = user?.passwordHash ?? null;
  if (compared === null || !isOutdated(compared)) return undefined;
  const anew = await hashPassword(password).catch((error: unknown) => {
    if (!(error instanceof Overloaded)) throw error;
  });
  return anew === undefined ? undefined : { compared, anew };
}

/** The user of that login, else the only one of that e-mail address. */
async function findNamedUser(executor: Executor, username: string): Promise<User | undefined> {
  if (!isPrintable(username)) return undefined;
  // Both are asked whatever the first one says: it takes the same time.
  const byLogin = await findUserByLogin(executor, username);
  const byEmail = await findUserByUniqueEmail(executor, username);
  return byLogin ?? byEmail;
}

const targets = (user: Pick<User, 'id' | 'login'> | undefined) =>
  user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.login }];
