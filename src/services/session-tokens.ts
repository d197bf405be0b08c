/**
 * Sign-in by API: a right user name and password, and the second factor where there is one, give a session token, with which a browser is signed in once,
 * at the authorize endpoint.
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { epochSeconds } from '../clock.ts';
import { authenticationFailed, invalidStateToken, notFound, wrongPassCode } from '../errors.ts';
import { digest, randomToken } from '../secrets.ts';
import type { Factor } from '../store/factors.ts';
import { insertSessionToken } from '../store/session-tokens.ts';
import { findUserById, type User } from '../store/users.ts';
import type { RequestContext } from './audit.ts';
import type { Services } from './dependencies.ts';
import { replaceExpiredPassword, whoMayReplace } from './expired-passwords.ts';
import { createExpiredPasswordToken } from './one-time-links.ts';
import { poorPassword } from './password-policy.ts';
import { type Credentials, checkPassword, type ExpiredUser, type SignedInUser } from './sign-in.ts';
import { afterFirstStep, type FirstStep, readStep, type SignInStep, StepGone, verifyFactor } from './sign-in-steps.ts';

export interface IssuedSessionToken {
  readonly status: 'SUCCESS';
  /** Told this once, stored as a digest. */
  readonly value: string;
  readonly expiresAt: Date;
  readonly user: User;
}

/** The second factor is asked for. */
export interface FactorRequired {
  readonly status: 'MFA_REQUIRED';
  readonly stateToken: string;
  readonly expiresAt: Date;
  readonly factors: readonly Factor[];
  readonly user: User;
}

/** The password is right but has expired: another one is asked for. */
export interface NewPasswordRequired {
  readonly status: 'PASSWORD_EXPIRED';
  /** Told this once, stored as a digest. */
  readonly stateToken: string;
  readonly expiresAt: Date;
  readonly user: User;
}

/** Where the state tokens of this file are worth something. */
const PLACE = 'authn';

/** @throws {ApiError} authentication failed, for every reason the same */
export async function authenticateByApi(
  services: Services,
  credentials: Credentials,
  request: RequestContext,
): Promise<IssuedSessionToken | FactorRequired | NewPasswordRequired> {
  const checked = await checkPassword(services, credentials, request);
  if (checked === undefined) throw authenticationFailed();
  return checked.kind === 'expired' ? demandNewPassword(services, checked.user) : continueByApi(services, afterPassword(checked.user));
}

const afterPassword = (user: SignedInUser): FirstStep => ({ user, amr: ['pwd'], authenticatedAt: user.authenticatedAt });

async function demandNewPassword(services: Services, expired: ExpiredUser): Promise<NewPasswordRequired> {
  const made = await createExpiredPasswordToken(services, expired);
  const user = await findUserById(services.database.knex, expired.id);
  // Deleted, or given another password, meanwhile.
  if (made === undefined || user === undefined) throw authenticationFailed();
  return { status: 'PASSWORD_EXPIRED', stateToken: made.token, expiresAt: made.expiresAt, user };
}

/**
 * Replaces an expired password, and goes on with the sign-in.
 * @throws {ApiError} invalid state token; authentication failed, where the old password is wrong; validation, where the new one is not good enough
 */
export async function changePasswordByApi(
  services: Services,
  { stateToken, oldPassword, newPassword }: { readonly stateToken: string; readonly oldPassword: string; readonly newPassword: string },
  request: RequestContext,
): Promise<IssuedSessionToken | FactorRequired> {
  const user = await whoMayReplace(services, stateToken);
  if (user === undefined) throw invalidStateToken();
  const checked = await checkPassword(services, { username: user.login, password: oldPassword }, request);
  if (checked?.user.id !== user.id) throw authenticationFailed();
  const outcome = await replaceExpiredPassword(services, { token: stateToken, password: newPassword }, request);
  if (outcome === undefined) throw invalidStateToken();
  if ('problem' in outcome) throw poorPassword(outcome, 'newPassword');
  return continueByApi(services, afterPassword(outcome));
}

/** What follows the password. A factor cannot be enrolled here: where one is demanded that is not there, the authorize endpoint asks for it. */
export async function continueByApi(services: Services, first: FirstStep): Promise<IssuedSessionToken | FactorRequired> {
  return told(services, first.user.id, await afterFirstStep(services, first, { place: PLACE, enrolls: false }));
}

/**
 * Checks the second factor.
 * @throws {ApiError} invalid state token; not found: no such factor of the user; wrong pass code, also when the user's codes are locked
 */
export async function verifyByApi(
  services: Services,
  { stateToken, factorId, passCode }: { readonly stateToken: string; readonly factorId: string; readonly passCode: string },
  request: RequestContext,
): Promise<IssuedSessionToken | FactorRequired> {
  const pending = await readStep(services, stateToken, PLACE);
  if (pending === undefined) throw invalidStateToken();
  if (!pending.factors.some(({ id }) => id === factorId)) throw notFound(factorId, 'Factor');
  try {
    const step = await verifyFactor(services, stateToken, { kind: 'code', factorId, passCode }, PLACE, request);
    if (step?.kind !== 'done') throw wrongPassCode();
    return await told(services, step.accountId, step);
  } catch (error) {
    throw error instanceof StepGone ? invalidStateToken() : error;
  }
}

async function told(services: Services, userId: string, step: SignInStep): Promise<IssuedSessionToken | FactorRequired> {
  const user = await findUserById(services.database.knex, userId);
  // Deleted meanwhile, or of a kind that this sign-in does not have.
  if (user === undefined || step.kind === 'enroll') throw authenticationFailed();
  if (step.kind === 'factor') {
    const { stateToken, expiresAt, factors } = step;
    return { status: 'MFA_REQUIRED', stateToken, expiresAt, factors, user };
  }
  const value = randomToken();
  const authenticatedAt = epochSeconds();
  const expiresAt = authenticatedAt + LIFETIMES.sessionToken;
  await insertSessionToken(services.database.knex, digest(value), { userId: user.id, amr: step.amr, authenticatedAt }, expiresAt);
  return { status: 'SUCCESS', value, expiresAt: new Date(expiresAt * 1000), user };
}
