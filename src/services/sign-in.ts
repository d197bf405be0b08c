/**
 * Who a user name and a password belong to, for the sign-in page, the API's `authn` and the password grant alike. Every failure looks and lasts the
 * same, a lock too, so that nobody learns which accounts exist (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"). Second
 * factors are not here.
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import type { PasswordRefused } from '../policy/decisions.ts';
import { type AttemptDecision, decideAttempt, NO_FAILURES } from '../policy/lockout.ts';
import { isTooOld, type PasswordPolicy } from '../policy/password.ts';
import { digest } from '../secrets.ts';
import type { Executor } from '../store/database.ts';
import { lockFailedAttempts, rememberDevice, saveFailedAttempts } from '../store/failed-sign-ins.ts';
import { findUserByLogin, findUserByUniqueEmail, replacePasswordHash, touchLastLogin, type User, updateUser } from '../store/users.ts';
import { untilEven } from './answer-time.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { countFailedSignIn, refuseBarredAddress } from './failure-limits.ts';
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
  /** What the sign-in is for; it decides nothing here, and stands in the audit log. */
  readonly purpose?: Purpose | undefined;
}

export interface SignedInUser {
  readonly id: string;
  readonly login: string;
  /** When the password was found right. */
  readonly authenticatedAt: Date;
}

/** What a right password leads to: the user is signed in, or has to choose another password first. */
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
  const attempt = { user, right, rehashed, deviceHash, policy, purpose: credentials.purpose };
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
  readonly purpose: Purpose | undefined;
}

async function decide(
  trx: Executor,
  { user, right, rehashed, deviceHash, policy, purpose }: Attempt,
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
  if (admitted && !expired && (await touchLastLogin(trx, candidate, now, { forgetFailures: counted.deviceHash === undefined }))) {
    if (rehashed !== undefined) await replacePasswordHash(trx, candidate.id, rehashed.compared, rehashed.anew);
    return { kind: 'right', user: await noteSignIn(trx, candidate, { deviceHash, purpose }, now, request) };
  }
  // Written whether it changes anything or not: it takes the same time.
  await saveFailedAttempts(trx, counted && { ...counted, attempts: admitted ? counted.attempts : decision.remembered });
  await recordFailure(trx, user, { right, expired, decision, knownBrowser: counted?.deviceHash !== undefined }, request);
  return expired ? { kind: 'expired', user: candidate } : undefined;
}

const isExpired = ({ status, passwordChanged, created }: User, policy: PasswordPolicy, now: Date): boolean =>
  status === 'PASSWORD_EXPIRED' || isTooOld(policy, passwordChanged ?? created, now);

/** @param now when the password was found right */
async function noteSignIn(
  trx: Executor,
  user: User,
  { deviceHash, purpose = {} }: { readonly deviceHash: string | undefined; readonly purpose?: Purpose | undefined },
  now: Date,
  request: RequestContext,
): Promise<SignedInUser> {
  if (deviceHash !== undefined) await rememberDevice(trx, user.id, deviceHash, new Date(now.getTime() + LIFETIMES.device * 1000));
  await recordEvent(trx, {
    eventType: 'user.session.start',
    displayMessage: 'User login',
    request: { ...request, actor: { id: user.id, type: 'User', displayName: user.login } },
    targets: targets(user),
    decision: { kind: 'session', amr: ['pwd'], secondFactor: await secondFactorFacts(trx, user.id, purpose) },
  });
  return { id: user.id, login: user.login, authenticatedAt: now };
}

/** The sign-in of a user who has replaced his expired password just now, in the transaction that did so. @param device as in `Credentials` */
export async function signInAfterReplacing(
  trx: Executor,
  user: User,
  device: string | undefined,
  request: RequestContext,
): Promise<SignedInUser> {
  const now = present();
  await updateUser(trx, user.id, { lastLogin: now });
  return noteSignIn(trx, user, { deviceHash: device === undefined ? undefined : digest(device) }, now, request);
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

/** The only moment at which the password itself is known. @returns undefined when its hash is as good as those made today */
async function hashAnew(user: User | undefined, password: string): Promise<Rehashed | undefined> {
  const compared = user?.passwordHash ?? null;
  if (compared === null || !isOutdated(compared)) return undefined;
  return { compared, anew: await hashPassword(password) };
}

/** The user of that login, else the only one of that e-mail address. */
async function findNamedUser(executor: Executor, username: string): Promise<User | undefined> {
  if (!isPrintable(username)) return undefined;
  // Both are asked whatever the first one says: it takes the same time.
  const byLogin = await findUserByLogin(executor, username);
  const byEmail = await findUserByUniqueEmail(executor, username);
  return byLogin ?? byEmail;
}

const targets = (user: User | undefined) => (user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.login }]);
