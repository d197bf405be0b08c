/** All pages about users, in the order in which addresses are compared. */
import type { ConsolePage } from '../page.ts';
import { activity } from './activity.ts';
import { userApplications } from './applications.ts';
import { userConsents } from './consents.ts';
import { create } from './create.ts';
import { data } from './data.ts';
import { userFactors } from './factors.ts';
import { userGroups } from './groups.ts';
import { lifeCycle } from './life-cycle.ts';
import { linkedAccounts } from './linked-accounts.ts';
import { list } from './list.ts';
import { userOrganizations } from './organizations.ts';
import { profile } from './profile.ts';
import { userRoles } from './roles.ts';
import { userSessions } from './sessions.ts';

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
