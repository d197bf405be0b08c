/** All pages about users, in the order in which addresses are compared. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { userRolePages } from '../administrators/roles.console.ts';
import { userApplications } from '../applications/user-applications.console.ts';
import { userConsents } from '../consents/consents.console.ts';
import { userGroups } from '../groups/user-groups.console.ts';
import { linkedAccounts } from '../identity-providers/linked-accounts.console.ts';
import { userOrganizations } from '../organizations/user-organizations.console.ts';
import { userFactorPages } from '../second-factors/factors.console.ts';
import { userSessions } from '../sessions/sessions.console.ts';
import { activity } from './activity.console.ts';
import { create } from './create.console.ts';
import { userDataPage } from './data.console.ts';
import { userList } from './list.console.ts';
import { profile } from './profile.console.ts';
import { lifeCycle } from './user-lifecycle.console.ts';

export const userPages: readonly ConsolePage[] = [
  userList,
  create,
  ...profile,
  ...userOrganizations,
  ...userGroups,
  ...userApplications,
  ...userSessions,
  ...userConsents,
  ...userFactorPages,
  ...linkedAccounts,
  ...userRolePages,
  ...lifeCycle,
  activity,
  userDataPage,
];
