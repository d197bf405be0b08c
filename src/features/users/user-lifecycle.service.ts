/**
 * Lifecycle of a user: changes the status and ends what the user holds. features/users/user-lifecycle.policy.ts defines the possible steps. Links to
 * choose a password are mailed, or returned to the caller.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { isLastSuperAdmin, lockSuperAdmins } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { requestErasure } from '../audit/audit-seals.store.ts';
import type { EventType } from '../audit/event-types.policy.ts';
import { hasMailAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible, requireMail } from '../mail/mail-route.service.ts';
import { rememberReplaced } from '../passwords/password-policy.service.ts';
import { removePersonFromPolicies } from '../policies/policy-names.service.ts';
import { saveFailedCodes } from '../second-factors/factors.store.ts';
import { forgetFailedAttempts } from '../sign-in/failed-sign-ins.store.ts';
import { NO_FAILURES } from '../sign-in/lockout.policy.ts';
import { createPasswordLink, mailPasswordLink } from '../sign-in/one-time-links.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import { hasCredential } from '../sign-in/ways-to-sign-in.service.ts';
import { endApiTokens, endBrowserSessions, endOAuthTokens } from './account-state.store.ts';
import { awaitsApproval, decideStep, type LifecycleStep, locksOut, statusAt } from './user-lifecycle.policy.ts';
import { lockChangeableUser, userTarget } from './user-reach.service.ts';
import type { User } from './users.resource.ts';
import { deleteUserRow as deleteRow, updateUser } from './users.store.ts';

const EVENTS: Readonly<Record<LifecycleStep, readonly [eventType: EventType, displayMessage: string]>> = {
  activate: ['user.lifecycle.activate', 'Activate user'],
  refuse: ['user.registration.refuse', 'Refuse sign-up'],
  reactivate: ['user.lifecycle.reactivate', 'Invite user again'],
  deactivate: ['user.lifecycle.deactivate', 'Deactivate user'],
  suspend: ['user.lifecycle.suspend', 'Suspend user'],
  unsuspend: ['user.lifecycle.unsuspend', 'Unsuspend user'],
  unlock: ['user.account.unlock_by_admin', 'Unlock user'],
  expire_password: ['user.account.expire_password', 'Expire password of user'],
  reset_password: ['user.account.reset_password', 'Reset password of user'],
};

/**
 * Takes one step.
 * @throws {ApiError} not found, forbidden, wrong state with the reason
 */
export async function takeStep(services: Services, idOrLogin: string, step: LifecycleStep, request: RequestContext): Promise<User> {
  return changeStatus(services, idOrLogin, step, request, async (_, user) => user);
}

interface LinkDelivery {
  readonly sendEmail: boolean;
}

/**
 * A user with a password and an address confirmed at sign-up is notified by e-mail. One without a password gets a link to choose one: by e-mail if
 * requested, possible, and they have an address. One with no other way to sign in is invited (PROVISIONED) until they use it.
 * @returns the link if it is not mailed
 * @throws {ApiError} as `takeStep`
 */
export async function activateUser(
  services: Services,
  idOrLogin: string,
  { sendEmail }: LinkDelivery,
  request: RequestContext,
): Promise<string | undefined> {
  return changeStatus(services, idOrLogin, 'activate', request, async (trx, user, before) => {
    if (user.passwordHash !== null) {
      const link = `${services.config.baseUrl}/signin`;
      if (awaitsApproval(before) && sendEmail) await mailDecision(trx, services, user, 'account-approved', request, link);
      return undefined;
    }
    if (!sendEmail || !hasMailAddress(user) || !(await isMailPossible(services, request, trx)))
      return createPasswordLink(trx, services, user.id, 'activation');
    await mailPasswordLink(trx, services, user, 'activation', {});
    return undefined;
  });
}

/**
 * Refuses a sign-up that waits for approval. The account stays, deactivated, so that the address does not sign up again; deleted, it can.
 * @throws {ApiError} as `takeStep`
 */
export async function refuseSignUp(
  services: Services,
  idOrLogin: string,
  { sendEmail }: LinkDelivery,
  request: RequestContext,
): Promise<undefined> {
  return changeStatus(services, idOrLogin, 'refuse', request, async (trx, user) => {
    if (sendEmail) await mailDecision(trx, services, user, 'account-refused', request);
    return undefined;
  });
}

/** Without a mail server no e-mail is sent, but the decision takes effect. */
async function mailDecision(
  trx: Executor,
  services: Services,
  user: User,
  kind: 'account-approved' | 'account-refused',
  request: RequestContext,
  link?: string,
): Promise<void> {
  if (!hasMailAddress(user) || !(await isMailPossible(services, request, trx))) return;
  await queueMail(trx, services.keyring, user, kind, { to: user.email, link });
}

/**
 * Invites a user again who has not chosen a password yet. The previous link ends.
 * @returns the link; undefined: it was mailed
 * @throws {ApiError} as `takeStep`, and wrong state if it should be mailed and cannot be
 */
export async function reactivateUser(
  services: Services,
  idOrLogin: string,
  { sendEmail }: LinkDelivery,
  request: RequestContext,
): Promise<string | undefined> {
  return changeStatus(services, idOrLogin, 'reactivate', request, async (trx, user) => {
    if (!sendEmail) return createPasswordLink(trx, services, user.id, 'activation');
    await mailPasswordLink(trx, services, await requireMail(trx, services, user, request), 'invitation', {});
    return undefined;
  });
}

/**
 * An invited user authenticated in another way than by the link: activate them and end the link.
 * @param user locked in the transaction
 */
export async function acceptInvitation(trx: Executor, user: User, request: RequestContext): Promise<User> {
  if (user.status !== 'PROVISIONED') return user;
  const now = present();
  const changes = { status: 'ACTIVE', statusChanged: now, activated: user.activated ?? now, lastUpdated: now } as const;
  await updateUser(trx, user.id, changes);
  await deleteLinksOf(trx, user.id);
  await recordEvent(trx, {
    eventType: 'user.lifecycle.activate',
    displayMessage: 'Activate user',
    request,
    targets: [userTarget(user)],
    before: { status: user.status },
    after: { status: changes.status },
  });
  return { ...user, ...changes };
}

/**
 * @returns the URL at which the user chooses a new password; undefined: it was mailed
 * @throws {ApiError} as `takeStep`, and wrong state if it should be mailed and cannot be
 */
export async function resetPassword(
  services: Services,
  idOrLogin: string,
  { sendEmail }: LinkDelivery,
  request: RequestContext,
): Promise<string | undefined> {
  return changeStatus(services, idOrLogin, 'reset_password', request, async (trx, user) => {
    if (!sendEmail) return createPasswordLink(trx, services, user.id, 'reset');
    await mailPasswordLink(trx, services, await requireMail(trx, services, user, request), 'password-reset', {});
    return undefined;
  });
}

/**
 * Deactivates the user, or deletes a deactivated one with all data.
 * @throws {ApiError} as `takeStep`
 */
export async function deleteUser(services: Services, idOrLogin: string, request: RequestContext): Promise<void> {
  const user = await services.database.transaction(async (trx) => {
    await lockSuperAdmins(trx);
    const before = await lockChangeableUser(trx, idOrLogin, request);
    if (before.status !== 'DEPROVISIONED') return applyStep(trx, before, 'deactivate', request);
    await endEverything(trx, before.id);
    await removePersonFromPolicies(services, trx, 'user', before.id, request);
    await deleteRow(trx, before.id);
    await requestErasure(trx, before.id, present());
    await recordEvent(trx, {
      eventType: 'user.lifecycle.delete.initiated',
      displayMessage: 'Delete user',
      request,
      targets: [userTarget(before)],
      before: { status: before.status },
    });
    return before;
  });
  await endEverything(services.database.knex, user.id);
}

/** Takes one step in one transaction, which `also` extends. */
async function changeStatus<T>(
  services: Services,
  idOrLogin: string,
  step: LifecycleStep,
  request: RequestContext,
  also: (trx: Executor, user: User, before: User) => Promise<T>,
): Promise<T> {
  const { id, result } = await services.database.transaction(async (trx) => {
    if (locksOut(step)) await lockSuperAdmins(trx);
    const before = await lockChangeableUser(trx, idOrLogin, request);
    const user = await applyStep(trx, before, step, request);
    return { id: user.id, result: await also(trx, user, before) };
  });
  // Also ends what was created during the transaction. An idempotent call commits later: then the return to ACTIVE ends the rest.
  await ENDINGS[step]?.(services.database.knex, id);
  return result;
}

/**
 * Applies a step as a part of another change.
 * @param before the user, locked in the transaction
 * @throws {ApiError} wrong state with the reason
 */
export async function applyStep(trx: Executor, before: User, step: LifecycleStep, request: RequestContext): Promise<User> {
  const now = present();
  const status = statusAt(before, now);
  const decision = decideStep(step, {
    status,
    hasPassword: before.passwordHash !== null,
    awaitsApproval: awaitsApproval(before),
    hasWayToSignIn: await hasCredential(trx, before),
    isSelf: request.actor.id === before.id,
    isLastSuperAdmin: locksOut(step) && (await isLastSuperAdmin(trx, before.id)),
  });
  if ('refused' in decision) throw wrongState(decision.refused);
  const changes = {
    status: decision.to,
    ...(decision.to !== status && { statusChanged: now }),
    lastUpdated: now,
    approvalRequested: null,
    ...(step === 'activate' && decision.to === 'ACTIVE' && { activated: now }),
    // Someone else may know the password, so it cannot be used even to choose another one.
    ...(step === 'reset_password' && { passwordHash: null }),
  };
  if (step === 'reset_password') await rememberReplaced(trx, before);
  await updateUser(trx, before.id, changes);
  // A lock is part of the previous status.
  await forgetFailedAttempts(trx, before.id);
  await saveFailedCodes(trx, before.id, NO_FAILURES);
  await ENDINGS[step]?.(trx, before.id);
  // The link belongs to the previous status; the user can request a new one.
  await deleteLinksOf(trx, before.id);
  // While a user is suspended, their API tokens are refused; on deactivation they are deleted.
  const apiTokens = step === 'deactivate' ? await endApiTokens(trx, before.id) : 0;
  const [eventType, displayMessage] = EVENTS[step];
  await recordEvent(trx, {
    eventType,
    displayMessage,
    request,
    targets: [userTarget(before)],
    before: { status },
    after: { status: decision.to, ...(apiTokens > 0 && { apiTokensRevoked: apiTokens }) },
  });
  return { ...before, ...changes, lockedUntil: null };
}

async function endEverything(executor: Executor, userId: string): Promise<void> {
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
}

/** Ended with each step. The return to ACTIVE also ends what a concurrent request created while the user was leaving. */
const ENDINGS: Readonly<Partial<Record<LifecycleStep, (executor: Executor, userId: string) => Promise<void>>>> = {
  activate: endEverything,
  refuse: endEverything,
  deactivate: endEverything,
  suspend: endEverything,
  unsuspend: endEverything,
  expire_password: endBrowserSessions,
  reset_password: endBrowserSessions,
};
