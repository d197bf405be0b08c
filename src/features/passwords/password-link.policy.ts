/** Links by which people choose a password themselves: who may use one, and what status that leads to. */
import type { UserStatus } from '../users/user-lifecycle.policy.ts';

/** Why the link was made: a new account has no password yet, or the old password shall hold no longer. */
export type LinkPurpose = 'activation' | 'reset';

/** @returns the status after the password was chosen; undefined when the link is of no use to a user of this status */
export function statusAfterChoosing(status: UserStatus, purpose: LinkPurpose): UserStatus | undefined {
  switch (status) {
    case 'ACTIVE':
    case 'PASSWORD_EXPIRED':
    case 'PROVISIONED':
      return 'ACTIVE';
    case 'STAGED':
      return purpose === 'activation' ? 'ACTIVE' : undefined;
    default:
      return undefined;
  }
}
