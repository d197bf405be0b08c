/** All pages about users, in the order in which addresses are compared. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { invite } from '../invitations/invite.console.ts';
import { activity } from './activity.console.ts';
import { create } from './create.console.ts';
import { userDataPage } from './data.console.ts';
import { userList } from './list.console.ts';
import { profile } from './profile.console.ts';
import { lifeCycle } from './user-lifecycle.console.ts';
import { pagesBelow, userTabs } from './user-tabs.console.ts';

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
