/** Label and colour of an account's status. */

import type { Piece, Tone } from '../../pages/console/detail-page.ts';
import { awaitsApproval, type UserStatus } from './user-lifecycle.policy.ts';
import type { User } from './users.resource.ts';

export const STATUSES: Readonly<Record<UserStatus, readonly [words: string, tone: Tone]>> = {
  STAGED: ['Not activated yet', 'plain'],
  PROVISIONED: ['Invited', 'plain'],
  ACTIVE: ['Active', 'good'],
  PASSWORD_EXPIRED: ['Password expired', 'warning'],
  LOCKED_OUT: ['Locked', 'bad'],
  SUSPENDED: ['Suspended', 'warning'],
  DEPROVISIONED: ['Deactivated', 'plain'],
};

export const WAITING = 'Waiting for approval';

/** @param status current one, see `statusAt` @param user distinguishes sign-ups waiting for approval from others that are not activated */
export function userStatusPiece(status: UserStatus, user?: Pick<User, 'status' | 'approvalRequested'>): Piece {
  if (user !== undefined && awaitsApproval(user)) return { text: WAITING, tone: 'warning' };
  const [text, tone] = STATUSES[status];
  return { text, tone };
}
