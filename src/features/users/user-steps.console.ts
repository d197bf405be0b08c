/** The lifecycle steps of a user in the console, and those that the user's status allows. */
import type { PageNotice } from '../../pages/console/notices.ts';
import type { Action } from '../../pages/console/page.ts';
import { awaitsApproval, type LifecycleStep, possibleSteps, type UserStatus } from './user-lifecycle.policy.ts';
import type { User } from './users.resource.ts';

interface Step {
  readonly label: string;
  readonly does: string;
  readonly notice: PageNotice;
  /** The effect cannot be undone. */
  readonly danger?: boolean;
}

export const STEPS: Readonly<Record<LifecycleStep, Step>> = {
  activate: {
    label: 'Activate',
    does: 'Lets the user sign in. Users without a password choose one by a link.',
    notice: 'user-activated',
  },
  refuse: {
    label: 'Refuse',
    does: 'Refuses the sign-up and notifies the user by e-mail. The account stays, deactivated: the address cannot sign up again until you delete it.',
    notice: 'sign-up-refused',
    danger: true,
  },
  reactivate: {
    label: 'Send again',
    does: 'Sends the invitation again. The former link stops working.',
    notice: 'user-invited-again',
  },
  unlock: { label: 'Unlock', does: 'Lets a user sign in again after too many wrong passwords or codes.', notice: 'user-unlocked' },
  unsuspend: { label: 'Unsuspend', does: 'Lets the user sign in again. The password stays the same.', notice: 'user-unsuspended' },
  expire_password: {
    label: 'Expire the password',
    does: 'At the next sign-in, the user enters the current password and chooses a new one. Sessions end.',
    notice: 'password-expired',
    danger: true,
  },
  reset_password: {
    label: 'Reset the password',
    does: 'The current password stops working. The user chooses a new one with a link. Sessions end.',
    notice: 'password-reset-by-mail',
    danger: true,
  },
  suspend: {
    label: 'Suspend',
    does: 'Keeps the user out for a while: sessions and tokens end. The account stays as it is.',
    notice: 'user-suspended',
    danger: true,
  },
  deactivate: {
    label: 'Deactivate',
    does: 'Ends sessions, tokens and API tokens, and keeps the user out until the account is activated again. Only a deactivated account can be deleted.',
    notice: 'user-deactivated',
    danger: true,
  },
};

const APPROVE: Step = {
  label: 'Approve',
  does: 'Lets the user sign in, and notifies them by e-mail.',
  notice: 'user-activated',
};

/** A waiting sign-up is activated by its approval. */
export const stepOf = (step: LifecycleStep, user: User): Step => (step === 'activate' && awaitsApproval(user) ? APPROVE : STEPS[step]);

export const ORDER = Object.keys(STEPS) as LifecycleStep[];
/** The menu of a user's page. @param home URL of the user @param givesRoles can the administrator assign roles? */
export function stepActions(home: string, user: User, status: UserStatus, givesRoles: boolean): readonly Action[] {
  const possible = possibleSteps({ status, hasPassword: user.passwordHash !== null, awaitsApproval: awaitsApproval(user) });
  const steps = ORDER.filter((step) => possible.includes(step));
  const action = (path: string, label: string, danger = false): Action => ({ label, href: `${home}/life-cycle/${path}`, danger });
  const of = (isDangerous: boolean) =>
    steps
      .filter((step) => (STEPS[step].danger ?? false) === isDangerous)
      .map((step) => action(step, stepOf(step, user).label, isDangerous));
  return [
    ...of(false),
    ...(givesRoles ? [{ label: 'Give role', href: `${home}/roles/new` }] : []),
    action('set-password', 'Set password'),
    { label: 'Reset second factors', href: `${home}/factors/reset` },
    { label: 'End all sessions', href: `${home}/sessions/end` },
    ...of(true),
    ...(status === 'DEPROVISIONED' ? [action('delete', 'Delete', true)] : []),
  ];
}
