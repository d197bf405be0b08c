/** Links by which users choose a password: who can use one, and the resulting status. */
import type { UserStatus } from '../users/user-lifecycle.policy.ts';

/** Purpose of the link: a new account has no password yet, or the old password is no longer valid. */
export type LinkPurpose = 'activation' | 'reset';

/** @returns the status after the password was chosen; undefined if the link cannot be used in this status */
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
