/**
 * Verifies user name and password for the sign-in page, the API's `authn` and the password grant. All failures, including locks, look the
 * same and take equally long, so that responses do not reveal which accounts exist (OWASP Authentication Cheat Sheet, "Authentication and
 * Error Messages"). Further steps are in features/sign-in/sign-in-steps.service.ts: a correct password alone does not sign in.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import { Overloaded } from '../../platform/database/database-failures.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { auditEvent, recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { noticeFor, queueNotice } from '../mail/mail.service.ts';
import { isTooOld, type PasswordPolicy } from '../passwords/password.policy.ts';
import { arePasswordsUsed } from '../passwords/password-sign-in.service.ts';
import { isFactorRequiredByPolicy, type Purpose, secondFactorFacts } from '../second-factors/second-factor-requirement.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { hasCountries, noteCountry } from '../sign-in-countries/sign-in-countries.service.ts';
import { hasSignInRules } from '../sign-in-rules/sign-in-rules.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, isUnchanged, touchLastLogin } from '../users/users.store.ts';
import { waitForEqualTime } from './answer-time.service.ts';
import { isNewDevice, lockFailedAttempts, rememberDevice, saveFailedAttempts } from './failed-sign-ins.store.ts';
import { countFailedSignIn, limitUnlessKnown, refuseBlockedAddress, signInsFrom, TooManyFailures } from './failure-limits.service.ts';
import { decideAttempt, NO_FAILURES } from './lockout.policy.ts';
import { comparePassword, isKnownBrowser, isLockedNow } from './password-comparison.service.ts';
import { type Rehashed, rehashPassword, storeRehash } from './rehash.service.ts';
import { asSignedInUser, recordFailure, recordNoPasswords, sessionStartEvent } from './sign-in-events.service.ts';
import { findCandidate, type SignInCandidate, signInPlainly } from './sign-ins.store.ts';

export interface PasswordCredentials {
  /** User name or e-mail address. */
  readonly username: string;
  readonly password: string;
  /** Value of the browser's device cookie, existing or new; absent: not a browser. */
  readonly device?: string | undefined;
}

export interface SignedInUser {
  readonly id: string;
  readonly login: string;
  /** When the password was verified. */
  readonly authenticatedAt: Date;
}

/** A correct password that has not expired. */
interface RightPassword {
  readonly kind: 'right';
  readonly user: SignedInUser & Pick<User, 'profile'>;
  /** Is nothing else required, so that the sign-in is already recorded? */
  readonly isDone: boolean;
}

/** Result of a password or identity provider. */
export interface FirstStep {
  readonly user: { readonly id: string; readonly login: string; readonly profile?: User['profile'] };
  /** Authentication methods (RFC 8176); with `mfa`, no second factor is required. */
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  /** The external provider of the authentication. */
  readonly idp?: string | null | undefined;
  /** Is an existing session strengthened? Its sign-in time is kept (OpenID Connect Core section 2, `auth_time`). */
  readonly stepsUp?: boolean | undefined;
  /** Present if the password is correct but expired: the user's state at the comparison. */
  readonly expired?: ExpiredUser | undefined;
  /** Nothing else was required; the sign-in is recorded. */
  readonly isDone?: boolean | undefined;
}

/** A correct password: further steps follow, or a replacement if it has expired. */
export type PasswordCheck = RightPassword | (Outcome & { readonly kind: 'expired'; readonly user: ExpiredUser });

/** A correct password of a user who cannot sign in. Shown on pages only. */
export interface InactiveUser extends Outcome {
  readonly kind: 'inactive';
}

interface Outcome {
  /** A queue of costly comparisons is full, so a wrong password is refused as `Overloaded`. */
  readonly isOverloaded: boolean;
}

/** The user's state when the password was verified. */
type ExpiredUser = Pick<User, 'id' | 'login' | 'status' | 'passwordChanged'>;

/**
 * For callers that cannot ask for a new password: an expired one is refused like a wrong one.
 * @returns undefined for wrong credentials, or if the user cannot sign in now
 * @throws {TooManyFailures} too many attempts from the address failed, whatever the credentials
 * @throws {Overloaded} instead of any refusal while a queue of costly comparisons is full
 */
export async function authenticatePassword(
  services: Services,
  credentials: PasswordCredentials,
  request: RequestContext,
): Promise<SignedInUser | undefined> {
  const checked = await checkPassword(services, credentials, request);
  if (checked?.kind === 'right') return checked.user;
  if (checked === undefined) return undefined;
  await countFailedSignIn(services, request.ipAddress);
  return refuseAlike(checked);
}

/**
 * Like `authenticate`, if an expired password can be replaced.
 * @param purpose of the sign-in: if only the password is required, the sign-in is recorded with it. Absent: the caller records it
 * @throws {TooManyFailures}
 */
export async function checkPassword(
  services: Services,
  credentials: PasswordCredentials,
  request: RequestContext,
  purpose?: Purpose,
): Promise<PasswordCheck | undefined> {
  const checked = await checkPasswordOfAnyStatus(services, credentials, request, purpose);
  return checked?.kind === 'inactive' ? refuseAlike(checked) : checked;
}

/** Refuses a correct password like a wrong one, so that the response does not reveal that it is correct. @throws {Overloaded} */
function refuseAlike({ isOverloaded }: Outcome): undefined {
  if (isOverloaded) throw new Overloaded();
}

/** Like `checkPassword`, but also confirms a correct password of an inactive user. Attempts are limited as for active users. */
export async function checkPasswordOfAnyStatus(
  services: Services,
  credentials: PasswordCredentials,
  request: RequestContext,
  purpose?: Purpose,
): Promise<PasswordCheck | InactiveUser | undefined> {
  if (!(await arePasswordsUsed(services))) return refusePassword(services, request);
  const deviceHash = credentials.device === undefined ? undefined : digest(credentials.device);
  const user = await findNamed(services, credentials.username.trim(), deviceHash, request);
  const { matches, begun, isOverloaded, isSkipped } = await comparePassword(services, user, credentials.password, request);
  // If an identity provider is required, every password is refused after a comparison that takes the same time.
  const right = matches && user?.requiredProvider === null;
  const rehashed = right ? await rehashPassword(user, credentials.password) : undefined;
  const policy = await currentSettings(services, 'password');
  // A correct password that is refused takes as long as a wrong one.
  const isAdmitted = right && user?.status === 'ACTIVE' && !isExpired(user, policy, present()) && !isLockedNow(user, present());
  if (!isAdmitted) await waitForEqualTime(services.database, credentials.password, begun);
  if (right && user !== undefined && rehashed === undefined && purpose !== undefined) {
    const done = await endPlainly(services, user, { deviceHash, policy, purpose }, request);
    if (done !== undefined) return done;
  }
  const isKnown = isKnownBrowser(user, present());
  // Comparisons are queued: of a thousand concurrent guesses, most get their response only after the address was blocked.
  await limitUnlessKnown(isKnown, refuseBlockedAddress(services, request.ipAddress));

  const attempt = { user, right, isOverloaded, isSkipped, rehashed, deviceHash, policy };
  const checked = await services.database.transaction((trx) => decide(trx, attempt, request));
  if (checked === undefined || checked.kind === 'inactive') await limitUnlessKnown(isKnown, countFailedSignIn(services, request.ipAddress));
  // Attempts still count. Otherwise passwords could be guessed without a limit while the queue is full.
  if (checked === undefined && isOverloaded) throw new Overloaded();
  return checked;
}

/** Without the password method, no user is looked up and no hash compared. The attempt counts like a wrong password. @throws {TooManyFailures} */
async function refusePassword(services: Services, request: RequestContext): Promise<undefined> {
  await refuseBlockedAddress(services, request.ipAddress);
  await recordNoPasswords(services.database.knex, request);
  await countFailedSignIn(services, request.ipAddress);
}

interface Attempt {
  readonly user: SignInCandidate | undefined;
  /** Was the password correct when it was compared? */
  readonly right: boolean;
  readonly isOverloaded: boolean;
  /** The password was not compared, because its queue is full. */
  readonly isSkipped: boolean;
  readonly rehashed: Rehashed | undefined;
  readonly deviceHash: string | undefined;
  readonly policy: PasswordPolicy;
}

async function decide(
  trx: Executor,
  { user, right, isOverloaded, isSkipped, rehashed, deviceHash, policy }: Attempt,
  request: RequestContext,
): Promise<PasswordCheck | InactiveUser | undefined> {
  const now = present();
  const candidate = user?.status === 'ACTIVE' || user?.status === 'PASSWORD_EXPIRED' ? user : undefined;
  const counted = await lockFailedAttempts(trx, user?.id ?? '', deviceHash, now);
  const decision = decideAttempt(counted?.attempts ?? NO_FAILURES, right, now);

  // The update checks again: the user may have been suspended, or have changed the password, during the comparison.
  const admitted = candidate !== undefined && counted !== undefined && decision.admitted;
  const inactive = right && candidate === undefined && counted !== undefined && decision.admitted;
  const expired = admitted && isExpired(candidate, policy, now);
  const isCurrent = admitted && (await isUnchanged(trx, candidate));
  if (isCurrent && deviceHash !== undefined) await rememberDevice(trx, candidate.id, deviceHash, afterAYear(now));
  if (isCurrent && !expired) {
    await saveFailedAttempts(trx, { ...counted, attempts: decision.remembered });
    if (rehashed !== undefined) await storeRehash(trx, candidate, rehashed, request);
    return rightPassword(candidate, now, false);
  }
  // Written even if nothing changes, for equal timing.
  const isUncounted = admitted || inactive || isSkipped;
  await saveFailedAttempts(trx, counted && { ...counted, attempts: isUncounted ? counted.attempts : decision.remembered });
  await recordFailure(trx, user, { right, isSkipped, expired, decision, knownBrowser: counted?.deviceHash !== undefined }, request);
  if (inactive) return { kind: 'inactive', isOverloaded };
  return isCurrent ? { kind: 'expired', user: candidate, isOverloaded } : undefined;
}

/**
 * Completes a sign-in that needs only the correct password.
 * @returns undefined otherwise. Locks are checked in advance, so that a correct password does not take longer than a wrong one
 */
async function endPlainly(
  services: Services,
  user: SignInCandidate,
  { deviceHash, policy, purpose }: { readonly deviceHash: string | undefined; readonly policy: PasswordPolicy; readonly purpose: Purpose },
  request: RequestContext,
): Promise<RightPassword | undefined> {
  const now = present();
  const inTheWay =
    user.status !== 'ACTIVE' ||
    isExpired(user, policy, now) ||
    isLockedNow(user, now) ||
    user.enrolled ||
    user.deviceNotified === false ||
    deviceHash === undefined ||
    request.device === undefined ||
    deviceHash !== digest(request.device) ||
    // `noteSignIn` records countries.
    hasCountries(services);
  if (inTheWay || (await hasSignInRules(services)) || (await isFactorRequiredByPolicy(services, user.id, purpose))) return undefined;
  const userContext = asSignedInUser(user, request);
  const signedIn = await signInPlainly(services.database.pool, {
    ...{ user, deviceHash, now, deviceExpires: afterAYear(now) },
    address: isKnownBrowser(user, now) ? undefined : signInsFrom(services, request.ipAddress),
    event: auditEvent(sessionStartEvent(user, PASSWORD_AMR, { enrolled: false }, userContext)),
    notice: noticeFor(user, 'new-sign-in', {}, userContext),
  });
  return signedIn ? rightPassword(user, now, true) : undefined;
}

const rightPassword = ({ id, login, profile }: User, authenticatedAt: Date, isDone: boolean): RightPassword => ({
  kind: 'right',
  user: { id, login, profile, authenticatedAt },
  isDone,
});

const afterAYear = (now: Date): Date => new Date(now.getTime() + LIFETIMES.device * 1000);

/** Must the user replace the password before this sign-in completes? */
export const isExpired = ({ status, passwordChanged, created }: User, policy: PasswordPolicy, now: Date): boolean =>
  status === 'PASSWORD_EXPIRED' || isTooOld(policy, passwordChanged ?? created, now);

/** amr of a password (RFC 8176 section 2). */
export const PASSWORD_AMR: readonly string[] = ['pwd'];

/**
 * Records a completed sign-in; in a new browser the user gets an e-mail, except for their first sign-in. For a user suspended meanwhile nothing is
 * recorded, and the sign-in stops.
 * @param how authentication methods (RFC 8176) and the purpose, if known
 */
export async function noteSignIn(
  services: Pick<Services, 'config' | 'log'>,
  trx: Executor,
  user: Pick<User, 'id' | 'login'>,
  {
    amr,
    purpose = {},
    trustedBrowser = false,
  }: { readonly amr: readonly string[]; readonly purpose?: Purpose | undefined; readonly trustedBrowser?: boolean | undefined },
  request: RequestContext,
): Promise<void> {
  const now = present();
  const before = await findUserById(trx, user.id);
  if (!(await touchLastLogin(trx, user.id, now))) return;
  const userContext = asSignedInUser(user, request);
  const secondFactor = { ...(await secondFactorFacts(trx, user.id, purpose, amr)), ...(trustedBrowser && { trustedBrowser }) };
  await recordEvent(trx, sessionStartEvent(user, amr, secondFactor, userContext));
  await noteCountry(trx, services, user.id, request.ipAddress, now);
  if (request.device === undefined) return;
  const isNew = await isNewDevice(trx, user.id, digest(request.device), afterAYear(now));
  if (isNew && before !== undefined && before.lastLogin !== null) await queueNotice(trx, user.id, 'new-sign-in', {}, userContext);
}

/** @throws {TooManyFailures} */
async function findNamed(
  services: Services,
  username: string,
  deviceHash: string | undefined,
  request: RequestContext,
): Promise<SignInCandidate | undefined> {
  const now = present();
  const { blockedSeconds, candidate } = await findCandidate(services.database.pool, {
    name: isPrintable(username) ? username : undefined,
    deviceHash,
    address: signInsFrom(services, request.ipAddress),
    now: now.getTime(),
  });
  if (blockedSeconds !== undefined && !isKnownBrowser(candidate, now)) throw new TooManyFailures(blockedSeconds);
  return candidate;
}
