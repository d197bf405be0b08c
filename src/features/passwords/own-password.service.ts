/**
 * A signed-in user changes or removes their password. A change requires the current one, if there is one (OWASP ASVS 5.0 section 6.2.3). The caller
 * has checked that the sign-in is recent.
 */

import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { queueNotice } from '../mail/mail.service.ts';
import { listPasskeys } from '../passkeys/passkeys.store.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { endSessionsAndTokens, storeChosen } from '../sign-in/one-time-links.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import { checkPassword } from '../sign-in/sign-in.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, lockUser, updateUser } from '../users/users.store.ts';
import { type FoundProblem, findProblemOfChoice, rememberReplaced } from './password-policy.service.ts';
import { passwordRefusal } from './password-sign-in.service.ts';
import { hashPassword } from './passwords.service.ts';

export interface PasswordChange {
  readonly userId: string;
  /** Ignored if the user has no password yet. */
  readonly current: string;
  readonly password: string;
  /** Value of the browser's device cookie. */
  readonly device?: string | undefined;
}

/**
 * Sets the password, which ends all sessions and tokens of the user. A wrong current one counts as a failed sign-in.
 * @returns the changed user, or the problem; `not-used`: this user does not sign in with a password
 * @throws {TooManyFailures}
 */
export async function changeOwnPassword(
  services: Services,
  { userId, current, password, device }: PasswordChange,
  request: RequestContext,
): Promise<User | FoundProblem | { readonly problem: 'wrong-current' | 'not-used' }> {
  const user = await findUserById(services.database.knex, userId);
  if (user === undefined) return { problem: 'wrong-current' };
  if ((await passwordRefusal(services, services.database.knex, userId)) !== undefined) return { problem: 'not-used' };
  if (user.passwordHash !== null) {
    const checked = await checkPassword(services, { username: user.login, password: current, device }, request);
    if (checked?.user.id !== user.id) return { problem: 'wrong-current' };
  }
  const problem = await findProblemOfChoice(services, password, user, { differs: true });
  if (problem !== undefined) return problem;
  // Before the transaction: hashing is slow, and connections are few.
  const passwordHash = await hashPassword(password);
  const changed = await services.database.transaction(async (trx) => {
    const before = await lockUser(trx, userId);
    // Of two concurrent changes, the second has an outdated current password. A rehash keeps the time of the change.
    if (before?.status !== 'ACTIVE' || before.passwordChanged?.getTime() !== user.passwordChanged?.getTime()) return undefined;
    // A first password is a new way to sign in, set by someone who was already using the account.
    if (before.passwordChanged === null) await queueNotice(trx, userId, 'password-changed', {}, asUser(request, before));
    return storeChosen(trx, before, { status: 'ACTIVE', passwordHash, displayMessage: 'User changed their password' }, request);
  });
  if (changed === undefined) return { problem: 'wrong-current' };
  // Also end sessions and tokens created during the transaction.
  await endSessionsAndTokens(services.database.knex, userId);
  return changed;
}

/**
 * Can this user remove their password: do the settings allow it, and do they have a passkey to sign in with?
 * @param user locked, if the result decides a change
 */
export async function mayRemovePassword(services: Services, executor: Executor, user: User): Promise<boolean> {
  const { methods, passwordOptional } = await currentSettings(services, 'sign-in');
  if (!passwordOptional || !methods.includes('passkey') || user.status !== 'ACTIVE' || user.passwordHash === null) return false;
  return (await listPasskeys(executor, user.id)).length > 0;
}

/** Removes the password, which ends all sessions and tokens of the user. @returns false if it cannot be removed */
export async function removeOwnPassword(services: Services, userId: string, request: RequestContext): Promise<boolean> {
  const removed = await services.database.transaction(async (trx) => {
    const before = await lockUser(trx, userId);
    if (before === undefined || !(await mayRemovePassword(services, trx, before))) return false;
    const now = present();
    await queueNotice(trx, userId, 'password-removed', {}, asUser(request, before));
    await updateUser(trx, userId, { passwordHash: null, passwordChanged: now, lastUpdated: now });
    await rememberReplaced(trx, before);
    await deleteLinksOf(trx, userId);
    await endSessionsAndTokens(trx, userId);
    await recordEvent(trx, {
      eventType: 'user.account.update_password',
      displayMessage: 'User removed their password',
      request: asUser(request, before),
      targets: [userTarget(before)],
      before: { passwordChanged: before.passwordChanged },
      after: { passwordChanged: now, hasPassword: false },
    });
    return true;
  });
  // Also end sessions and tokens created during the transaction.
  if (removed) await endSessionsAndTokens(services.database.knex, userId);
  return removed;
}
