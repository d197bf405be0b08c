/** Audit events of sign-ins: success, and the reason of a refused password. */

import type { Executor } from '../../platform/database/database.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { Event, RequestContext } from '../audit/audit-event.policy.ts';
import { identityProviderTarget } from '../identity-providers/identity-providers.service.ts';
import type { PasswordRefused, SecondFactorRecord } from '../policies/decisions.policy.ts';
import type { User } from '../users/users.resource.ts';
import type { AttemptDecision } from './lockout.policy.ts';
import { SIGN_IN_EVENT, type SignInCandidate } from './sign-ins.store.ts';

/** The request with the user, who has authenticated, as the actor. */
export const asSignedInUser = ({ id, login }: Pick<User, 'id' | 'login'>, request: RequestContext): RequestContext => ({
  ...request,
  actor: { id, type: 'User', displayName: login },
});

/** @param amr authentication methods (RFC 8176) */
export const sessionStartEvent = (
  user: Pick<User, 'id' | 'login'>,
  amr: readonly string[],
  secondFactor: SecondFactorRecord,
  request: RequestContext,
): Event => ({
  eventType: SIGN_IN_EVENT,
  displayMessage: 'User login',
  request,
  targets: targets(user),
  decision: { kind: 'session', amr, secondFactor },
});

export interface Failure {
  readonly right: boolean;
  /** The password was not compared, because its queue was full. */
  readonly isSkipped: boolean;
  readonly expired: boolean;
  readonly decision: AttemptDecision;
  readonly knownBrowser: boolean;
}

type FailedUser = User & Pick<SignInCandidate, 'requiredProvider'>;

/** @param user undefined: no user has that name */
export async function recordFailure(trx: Executor, user: FailedUser | undefined, failed: Failure, request: RequestContext): Promise<void> {
  const { right, isSkipped, expired, decision } = failed;
  const notNow = expired ? 'PASSWORD_EXPIRED' : 'USER_NOT_ACTIVE';
  const wrong = user?.requiredProvider ? 'PROVIDER_REQUIRED' : isSkipped ? 'OVERLOADED' : 'INVALID_CREDENTIALS';
  const reason = decision.reason === 'locked' ? 'LOCKED_OUT' : right ? notNow : wrong;
  await recordEvent(trx, {
    eventType: 'user.authentication.failure',
    displayMessage: 'User login',
    request,
    // Never log input for unknown users: it may be a password.
    targets: [
      ...targets(user),
      ...(reason === 'PROVIDER_REQUIRED' && user?.requiredProvider ? [identityProviderTarget(user.requiredProvider)] : []),
    ],
    failure: user === undefined ? 'UNKNOWN_USER' : reason,
    decision: whyRefused(user, failed),
  });
  if (isSkipped || decision.reason !== 'wrong password, which locks') return;
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

/** A password was sent although passwords are not a sign-in method. */
export const recordNoPasswords = (executor: Executor, request: RequestContext): Promise<string> =>
  recordEvent(executor, {
    eventType: 'user.authentication.failure',
    displayMessage: 'User login',
    request,
    targets: [],
    failure: 'PASSWORD_NOT_ALLOWED',
    decision: { kind: 'password', reason: 'NOT_A_METHOD' },
  });

function whyRefused(user: FailedUser | undefined, { right, isSkipped, expired, decision, knownBrowser }: Failure): PasswordRefused {
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
  if (isSkipped && !user.requiredProvider) return { kind: 'password', reason: 'NOT_COMPARED', status, knownBrowser };
  if (!right) return { ...facts, reason: user.requiredProvider ? 'PROVIDER_REQUIRED' : 'WRONG_PASSWORD' };
  if (expired) return { ...facts, reason: 'EXPIRED' };
  return { ...facts, reason: status === 'ACTIVE' ? 'CHANGED_MEANWHILE' : 'NOT_ACTIVE' };
}

const targets = (user: Pick<User, 'id' | 'login'> | undefined) =>
  user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.login }];
