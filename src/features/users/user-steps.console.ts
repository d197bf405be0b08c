/** The steps of a user's life cycle as the console names them, and which of them the user's status allows. */
import type { PageNotice } from '../../pages/console/notices.ts';
import type { Action } from '../../pages/console/page.ts';
import { type LifecycleStep, possibleSteps, type UserStatus } from './user-lifecycle.policy.ts';
import type { User } from './users.resource.ts';

interface Step {
  readonly label: string;
  readonly does: string;
  readonly notice: PageNotice;
  /** What ends with it does not come back. */
  readonly danger?: boolean;
}

export const STEPS: Readonly<Record<LifecycleStep, Step>> = {
  activate: {
    label: 'Activate',
    does: 'Lets the user sign in. Users without a password choose one by a link.',
    notice: 'user-activated',
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
    does: 'At the next sign-in the user types the present password and chooses another one. Sessions end.',
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

export const ORDER = Object.keys(STEPS) as LifecycleStep[];
/** The menu of a user's page. @param home the user's address */
export function stepActions(home: string, { passwordHash }: User, status: UserStatus): readonly Action[] {
  const possible = possibleSteps({ status, hasPassword: passwordHash !== null });
  const steps = ORDER.filter((step) => possible.includes(step));
  const action = (path: string, label: string, danger = false): Action => ({ label, href: `${home}/life-cycle/${path}`, danger });
  const of = (isDangerous: boolean) =>
    steps.filter((step) => (STEPS[step].danger ?? false) === isDangerous).map((step) => action(step, STEPS[step].label, isDangerous));
  return [
    ...of(false),
    action('set-password', 'Set password'),
    { label: 'Reset second factors', href: `${home}/factors/reset` },
    { label: 'End all sessions', href: `${home}/sessions/end` },
    ...of(true),
    ...(status === 'DEPROVISIONED' ? [action('delete', 'Delete', true)] : []),
  ];
}
