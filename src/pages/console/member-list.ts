/** Columns shared by the lists of members of groups and of organizations. */

import { fullName } from '../../features/claims/claims.policy.ts';
import { statusAt } from '../../features/users/user-lifecycle.policy.ts';
import { addressOfUser } from '../../features/users/user-page.console.ts';
import { userStatusPiece } from '../../features/users/user-status.console.ts';
import type { JoinedUser, MemberOrder } from '../../features/users/users.resource.ts';
import { present } from '../../platform/clock/clock.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import type { Content } from './detail-page.ts';
import type { SortedBy } from './list-state.ts';

type MemberColumn = string | SortedBy<MemberOrder>;

const NAMES: readonly MemberColumn[] = [
  { label: 'User name', by: 'login' },
  { label: 'Name', by: 'name' },
];
const STATE: readonly MemberColumn[] = [
  { label: 'Status', by: 'status' },
  { label: 'Added', by: 'joined', descending: true },
];

/** @param among extra columns of the list */
export const memberColumns = (...among: readonly MemberColumn[]): readonly MemberColumn[] => [...NAMES, ...among, ...STATE];

/** @param among cells of the extra columns */
export const memberCells = (user: JoinedUser, ...among: readonly Content[]): readonly Content[] => [
  { text: user.login, href: addressOfUser(user.id) },
  fullName(user.profile) ?? '',
  ...among,
  userStatusPiece(statusAt(user, present())),
  { moment: momentOf(user.joined) },
];

export const MEMBER_FILE_COLUMNS = ['id', 'login', 'email', 'firstName', 'lastName', 'status', 'joined'] as const;

/** A member in a file. */
export const memberRecord = (user: JoinedUser) => ({
  id: user.id,
  login: user.login,
  email: user.email,
  firstName: user.profile.firstName ?? null,
  lastName: user.profile.lastName ?? null,
  status: statusAt(user, present()),
  joined: user.joined.toISOString(),
});
