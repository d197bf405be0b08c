/** All pages about users, in the order in which their paths are matched. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { stackedParts } from '../../pages/console/stacked-pages.ts';
import { userRolePages } from '../administrators/roles.console.ts';
import { userApplications } from '../applications/user-applications.console.ts';
import { userConsents } from '../consents/consents.console.ts';
import { userGroups } from '../groups/user-groups.console.ts';
import { linkedAccounts } from '../identity-providers/linked-accounts.console.ts';
import { invite } from '../invitations/invite.console.ts';
import { userOrganizations } from '../organizations/user-organizations.console.ts';
import { userFactorPages } from '../second-factors/factors.console.ts';
import { userSessions } from '../sessions/sessions.console.ts';
import { userTrustedBrowsers } from '../trusted-browsers/trusted-browsers.console.ts';
import { activity } from './activity.console.ts';
import { create } from './create.console.ts';
import { userDataPage } from './data.console.ts';
import { userList } from './list.console.ts';
import { profile } from './profile.console.ts';
import { lifeCycle } from './user-lifecycle.console.ts';
import { ACCESS, SECURITY_TAB, userPage, userSubject, visiblePages } from './user-page.console.ts';

// Tabs of a user that show several pages below each other. Each of them also has a path for its further pages and forms.

/** The pages behind the tabs, with their forms. */
const pagesBelow: readonly ConsolePage[] = [
  ...userOrganizations,
  ...userGroups,
  ...userApplications,
  ...userSessions,
  ...userConsents,
  ...userFactorPages,
  ...userTrustedBrowsers,
  ...linkedAccounts,
  ...userRolePages,
];

const tab = (group: typeof ACCESS): ConsolePage => ({
  path: `/users/:id${group.path}`,
  access: 'organizations',
  async show(visit, typed) {
    const subject = await userSubject(visit);
    const shown = visiblePages(visit, subject, group).flatMap(({ label, path }) => {
      const page = pagesBelow.find((one) => one.path === `/users/:id${path}`);
      return page === undefined ? [] : [{ label, page }];
    });
    return { ...userPage(visit, subject, []), locals: { parts: await stackedParts(visit, shown, typed) } };
  },
});

const userTabs: readonly ConsolePage[] = [tab(ACCESS), tab(SECURITY_TAB)];

export const userPages: readonly ConsolePage[] = [
  userList,
  create,
  invite,
  ...profile,
  ...userTabs,
  ...pagesBelow,
  ...lifeCycle,
  activity,
  userDataPage,
];
