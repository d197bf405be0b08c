/** How an account stands, in words and in colour. */

import type { Piece, Tone } from '../../pages/console/detail-page.ts';
import type { UserStatus } from './user-lifecycle.policy.ts';

export const STATUSES: Readonly<Record<UserStatus, readonly [words: string, tone: Tone]>> = {
  STAGED: ['Not activated yet', 'plain'],
  PROVISIONED: ['Invited', 'plain'],
  ACTIVE: ['Active', 'good'],
  PASSWORD_EXPIRED: ['Password expired', 'warning'],
  LOCKED_OUT: ['Locked', 'bad'],
  SUSPENDED: ['Suspended', 'warning'],
  DEPROVISIONED: ['Deactivated', 'plain'],
};

/** @param status as it is now: see `statusAt` */
export function userStatusPiece(status: UserStatus): Piece {
  const [text, tone] = STATUSES[status];
  return { text, tone };
}
