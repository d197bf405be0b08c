/** A signed-in user changes their password, and gives the present one if they have one (OWASP ASVS 5.0 section 6.2.3). The caller has checked that the sign-in is fresh. */

import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { queueNotice } from '../mail/mail.service.ts';
import { endHoldings, storeChosen } from '../sign-in/one-time-links.service.ts';
import { checkPassword } from '../sign-in/sign-in.service.ts';
import { asUser } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, lockUser } from '../users/users.store.ts';
import { type FoundProblem, findProblemOfChoice } from './password-policy.service.ts';
import { hashPassword } from './passwords.service.ts';

export interface PasswordChange {
  readonly userId: string;
  /** Of no use where the user has no password yet. */
  readonly current: string;
  readonly password: string;
  /** Value of the browser's device cookie. */
  readonly device?: string | undefined;
}

/**
 * Sets the password, which ends all sessions and tokens of the user. A wrong present one counts as a failed sign-in.
 * @returns the user as they are now, or what is wrong
 * @throws {TooManyFailures}
 */
export async function changeOwnPassword(
  services: Services,
  { userId, current, password, device }: PasswordChange,
  request: RequestContext,
): Promise<User | FoundProblem | { readonly problem: 'wrong-current' }> {
  const user = await findUserById(services.database.knex, userId);
  if (user === undefined) return { problem: 'wrong-current' };
  if (user.passwordHash !== null) {
    const checked = await checkPassword(services, { username: user.login, password: current, device }, request);
    if (checked?.user.id !== user.id) return { problem: 'wrong-current' };
  }
  const problem = await findProblemOfChoice(services, password, user, { differs: true });
  if (problem !== undefined) return problem;
  // Before the transaction: a hash takes its time, and connections are few.
  const passwordHash = await hashPassword(password);
  const changed = await services.database.transaction(async (trx) => {
    const before = await lockUser(trx, userId);
    // Of two at once the second knows the present password no more. A hash made again is of the same password: the time tells.
    if (before?.status !== 'ACTIVE' || before.passwordChanged?.getTime() !== user.passwordChanged?.getTime()) return undefined;
    // A first password is a new way in, and anyone who gives themselves one here has been using the account.
    if (before.passwordChanged === null) await queueNotice(trx, userId, 'password-changed', {}, asUser(request, before));
    return storeChosen(trx, before, { status: 'ACTIVE', passwordHash, displayMessage: 'User changed their password' }, request);
  });
  if (changed === undefined) return { problem: 'wrong-current' };
  // What was being written meanwhile.
  await endHoldings(services.database.knex, userId);
  return changed;
}
