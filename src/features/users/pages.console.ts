/** All pages about users, in the order in which addresses are compared. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { userRoles } from '../administrators/roles.console.ts';
import { userApplications } from '../applications/user-applications.console.ts';
import { userConsents } from '../consents/consents.console.ts';
import { userGroups } from '../groups/user-groups.console.ts';
import { linkedAccounts } from '../identity-providers/linked-accounts.console.ts';
import { userOrganizations } from '../organizations/user-organizations.console.ts';
import { userFactors } from '../second-factors/factors.console.ts';
import { userSessions } from '../sessions/sessions.console.ts';
import { activity } from './activity.console.ts';
import { create } from './create.console.ts';
import { data } from './data.console.ts';
import { list } from './list.console.ts';
import { profile } from './profile.console.ts';
import { lifeCycle } from './user-lifecycle.console.ts';

export const users: readonly ConsolePage[] = [
  list,
  create,
  ...profile,
  ...userOrganizations,
  ...userGroups,
  ...userApplications,
  ...userSessions,
  ...userConsents,
  ...userFactors,
  ...linkedAccounts,
  ...userRoles,
  ...lifeCycle,
  activity,
  data,
];
