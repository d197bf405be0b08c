/** Recovery on the machine itself: makes a user an active SUPER_ADMIN and creates a link to choose a password. */

import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { resetUserFactors } from '../second-factors/factors.service.ts';
import { saveFailedCodes } from '../second-factors/factors.store.ts';
import { forgetFailedAttempts } from '../sign-in/failed-sign-ins.store.ts';
import { NO_FAILURES } from '../sign-in/lockout.policy.ts';
import { createPasswordLink } from '../sign-in/one-time-links.service.ts';
import { type LifecycleStep, statusAt } from '../users/user-lifecycle.policy.ts';
import { applyStep } from '../users/user-lifecycle.service.ts';
import { userProfile } from '../users/user-profile.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { createUser } from '../users/users.service.ts';
import { findUserById, findUserByLogin, lockUser } from '../users/users.store.ts';
import { findRoles, lockSuperAdmins } from './roles.store.ts';
import { grantRole } from './user-roles.service.ts';

export interface Recovered {
  readonly login: string;
  /** Short descriptions of the changes. */
  readonly done: readonly string[];
  /** The page on which they choose a password. */
  readonly link: string;
}

/** The step that ends a status in which nobody can sign in. */
const STEP_TO_ACTIVE = {
  STAGED: ['activate', 'activated'],
  DEPROVISIONED: ['activate', 'activated'],
  SUSPENDED: ['unsuspend', 'unsuspended'],
} as const satisfies Partial<Record<User['status'], readonly [LifecycleStep, string]>>;

/**
 * Makes all changes in one transaction with their audit events.
 * @param idOrLogin created if it does not exist
 * @param options.resetFactors also deletes their second factors and passkeys
 */
export async function recoverAdministrator(
  services: Services,
  idOrLogin: string,
  { resetFactors }: { readonly resetFactors: boolean },
): Promise<Recovered> {
  return inOneTransaction(services, async (within, trx) => {
    await lockSuperAdmins(trx);
    const named = (await findUserById(trx, idOrLogin)) ?? (await findUserByLogin(trx, idOrLogin));
    const found = named && (await lockUser(trx, named.id));
    const done: string[] = [];
    const user = found ?? (await created(within, idOrLogin));
    if (found === undefined) done.push('created');
    else await admit(trx, found, done);
    if (!(await findRoles(trx, user.id)).some(({ type }) => type === 'SUPER_ADMIN')) {
      await grantRole(within, user.id, { type: 'SUPER_ADMIN' }, SYSTEM);
      done.push('made a SUPER_ADMIN');
    }
    if (resetFactors) {
      await resetUserFactors(within, user.id, SYSTEM);
      done.push('second factors reset');
    }
    const link = await createPasswordLink(trx, services, user.id, 'reset');
    await recordEvent(trx, {
      eventType: 'user.account.reset_password',
      displayMessage: 'Link to choose a password created on the machine, for a lost administrator',
      request: SYSTEM,
      targets: [userTarget(user)],
      after: { done },
    });
    return { login: user.login, done, link };
  });
}

function created(within: Services, typed: string): Promise<User> {
  const { success, data: profile, error } = userProfile.safeParse({ login: typed });
  if (!success) throw validation(error.issues.map(({ message }) => ({ field: 'login', message })));
  return createUser(within, { profile, isByMachine: true, activate: true, roles: [{ type: 'SUPER_ADMIN' }] }, SYSTEM);
}

/** Lets the user sign in again: changes the status, and ends locks. */
async function admit(trx: Executor, user: User, done: string[]): Promise<void> {
  const step = user.status in STEP_TO_ACTIVE ? STEP_TO_ACTIVE[user.status as keyof typeof STEP_TO_ACTIVE] : undefined;
  if (step !== undefined) {
    await applyStep(trx, user, step[0], SYSTEM);
    done.push(step[1]);
  } else if (statusAt(user, present()) === 'LOCKED_OUT') {
    await applyStep(trx, user, 'unlock', SYSTEM);
    done.push('unlocked');
  }
  await forgetFailedAttempts(trx, user.id);
  await saveFailedCodes(trx, user.id, NO_FAILURES);
}
