/** Sort orders of user lists, also in joins. */
import { inCodes } from '../../platform/database/paging.ts';
import { inAlphabet } from '../../platform/database/words.ts';
import { USER_STATUSES } from './user-lifecycle.policy.ts';
import type { UserOrder } from './users.resource.ts';

/** As in lists. */
export const CURRENT_STATUS = "CASE WHEN users.status = 'ACTIVE' AND users.locked_until > now() THEN 'LOCKED_OUT' ELSE users.status END";

/** Users who wait for approval come first. */
const SHOWN_STATUS = `CASE WHEN users.status = 'STAGED' AND users.approval_requested IS NOT NULL THEN 'WAITING' ELSE ${CURRENT_STATUS} END`;

/** The same expressions as in the indexes users_by_sorted_login and users_by_sorted_name. */
export const USER_ORDERS: Readonly<Record<UserOrder, string>> = {
  login: inAlphabet('users.login'),
  name: inAlphabet("coalesce(users.profile->>'lastName', users.profile->>'displayName', users.login)"),
  email: inAlphabet('users.email'),
  status: inCodes(['WAITING', ...USER_STATUSES], SHOWN_STATUS),
  created: 'users.seq',
  lastLogin: 'users.last_login',
};
