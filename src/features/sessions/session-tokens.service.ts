/**
 * Sign-in by API: a correct user name and password, and the second factor if there is one, give a session token. It signs a browser in once, at the
 * authorize endpoint.
 */

import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import {
  type ApiError,
  authenticationFailed,
  invalidStateToken,
  notFound,
  rateLimited,
  validation,
  wrongPassCode,
  wrongState,
} from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { requestFactorCode } from '../message-factors/message-enrolment.service.ts';
import { replaceExpiredPassword } from '../passwords/expired-passwords.service.ts';
import { weakPassword } from '../passwords/password-policy.service.ts';
import { isMessageFactor, type SecondFactor } from '../second-factors/factors.service.ts';
import { checkPassword, type PasswordCredentials } from '../sign-in/sign-in.service.ts';
import {
  afterFirstStep,
  byPassword,
  InvalidStateToken,
  type PendingStep,
  readStep,
  type SignInStep,
  verifyFactor,
} from '../sign-in/sign-in-steps.service.ts';
import { SignInDenied } from '../sign-in-rules/sign-in-rules.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById } from '../users/users.store.ts';
import { consumeSessionToken, insertSessionToken, type SessionToken } from './browser-sessions.store.ts';

interface IssuedSessionToken {
  readonly status: 'SUCCESS';
  /** Returned once, stored as a digest. */
  readonly value: string;
  readonly expiresAt: Date;
  readonly user: User;
}

/** A second factor is required. */
interface FactorRequired {
  readonly status: 'MFA_REQUIRED';
  readonly stateToken: string;
  readonly expiresAt: Date;
  readonly factors: readonly SecondFactor[];
  readonly user: User;
}

/** All factors are verified, but the password has expired: a new one is required. */
interface NewPasswordRequired {
  readonly status: 'PASSWORD_EXPIRED';
  /** Returned once, stored as a digest. */
  readonly stateToken: string;
  readonly expiresAt: Date;
  readonly user: User;
}

/** A code was sent; the sign-in continues with it. */
interface Challenged extends Omit<FactorRequired, 'status' | 'factors'> {
  readonly status: 'MFA_CHALLENGE';
  readonly factor: SecondFactor;
}

type Outcome = IssuedSessionToken | FactorRequired | NewPasswordRequired | Challenged;

/** Place of state tokens issued here. Factors cannot be enrolled at this endpoint: the authorize endpoint asks for a missing one. */
const GOAL = { place: 'authn', enrolls: false } as const;

/** @throws {ApiError} authentication failed; the error is the same for every reason */
export async function authenticateByApi(services: Services, credentials: PasswordCredentials, request: RequestContext): Promise<Outcome> {
  const checked = await checkPassword(services, credentials, request);
  if (checked === undefined) throw authenticationFailed();
  return orRefused(authenticationFailed, async () =>
    outcomeOf(services, checked.user.id, await afterFirstStep(services, byPassword(checked), GOAL, request)),
  );
}

/** @throws {ApiError} the refusal, if the step has ended or a rule of the sign-in policy refuses */
async function orRefused<T>(refusal: () => ApiError, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof InvalidStateToken || error instanceof SignInDenied ? refusal() : error;
  }
}

/**
 * Replaces an expired password and continues the sign-in.
 * @throws {ApiError} invalid state token; authentication failed for a wrong old password; validation of the new one
 */
export async function changePasswordByApi(
  services: Services,
  { stateToken, oldPassword, newPassword }: { readonly stateToken: string; readonly oldPassword: string; readonly newPassword: string },
  request: RequestContext,
): Promise<Outcome> {
  const pending = await readStep(services, stateToken, GOAL.place, request.device);
  if (pending?.next !== 'PASSWORD') throw invalidStateToken();
  const { user } = pending;
  const checked = await checkPassword(services, { username: user.login, password: oldPassword }, request);
  if (checked?.user.id !== user.id) throw authenticationFailed();
  return orRefused(invalidStateToken, async () => {
    const outcome = await replaceExpiredPassword(services, { stateToken, password: newPassword }, GOAL, request);
    if ('problem' in outcome) throw weakPassword(outcome, 'newPassword');
    return outcomeOf(services, user.id, outcome);
  });
}

/**
 * Checks the second factor; without a code, one is sent if the factor has sent codes.
 * @throws {ApiError} invalid state token; not found: the user has no such factor; validation: the code of an app is missing; wrong pass code, also if
 * the user's codes are locked; rate limited; wrong state: no code can be sent
 */
export async function verifyByApi(
  services: Services,
  { stateToken, factorId, passCode }: { readonly stateToken: string; readonly factorId: string; readonly passCode?: string | undefined },
  request: RequestContext,
): Promise<Outcome> {
  const pending = await readStep(services, stateToken, GOAL.place, request.device);
  if (pending === undefined) throw invalidStateToken();
  // A passkey is bound to this service's pages: no other program can request it.
  const factor = pending.factors.find(({ id, type }) => id === factorId && type !== 'PASSKEY');
  if (factor === undefined) throw notFound(factorId, 'Factor');
  if (passCode === undefined) return challenge(services, pending, factor, stateToken, request);
  return orRefused(invalidStateToken, async () => {
    const step = await verifyFactor(services, stateToken, { kind: 'code', factorId, passCode }, GOAL, request);
    if (step === undefined) throw wrongPassCode();
    return outcomeOf(services, pending.user.id, step);
  });
}

async function challenge(
  services: Services,
  { user, expiresAt }: PendingStep,
  factor: SecondFactor,
  stateToken: string,
  request: RequestContext,
): Promise<Challenged> {
  if (!isMessageFactor(factor)) throw validation([{ field: 'passCode', message: 'is required' }]);
  const problem = await orRefused(invalidStateToken, () =>
    requestFactorCode(services, { stateToken, place: GOAL.place }, factor.id, request),
  );
  if (problem === 'TOO_MANY_REQUESTS') throw rateLimited(LIFETIMES.emailCode);
  if (problem !== undefined) throw wrongState('no code can be sent to the user. Check their e-mail address or phone number');
  return { status: 'MFA_CHALLENGE', stateToken, expiresAt, factor, user };
}

async function outcomeOf(services: Services, userId: string, step: SignInStep): Promise<Outcome> {
  const user = await findUserById(services.database.knex, userId);
  // Deleted meanwhile, or of a kind that this sign-in does not have.
  if (user === undefined || step.kind === 'enroll') throw authenticationFailed();
  if (step.kind === 'factor') {
    const { stateToken, expiresAt, factors } = step;
    return { status: 'MFA_REQUIRED', stateToken, expiresAt, factors, user };
  }
  if (step.kind === 'password') return { status: 'PASSWORD_EXPIRED', stateToken: step.stateToken, expiresAt: step.expiresAt, user };
  const value = randomToken();
  const authenticatedAt = epochSeconds();
  const expiresAt = authenticatedAt + LIFETIMES.sessionToken;
  await insertSessionToken(services.database.knex, digest(value), { userId: user.id, amr: step.amr, authenticatedAt }, expiresAt);
  return { status: 'SUCCESS', value, expiresAt: new Date(expiresAt * 1000), user };
}

/** Uses a session token: of concurrent uses one succeeds. @returns undefined if it is unknown, used or expired, or its user is inactive */
export const useSessionToken = (pool: Database['pool'], value: string): Promise<SessionToken | undefined> =>
  consumeSessionToken(pool, digest(value), epochSeconds());
