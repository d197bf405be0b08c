/** Activity of a user: audit events that name them, newest first. */

import type { ConsolePage } from '../../pages/console/page.ts';
import { activityOf } from '../audit/activity.console.ts';
import { listUserActivity } from './user-data.service.ts';
import { addressOfUser, userPage, userSubject } from './user-page.console.ts';

export const activity: ConsolePage = {
  path: '/users/:id/activity',
  access: 'service',
  async show(visit) {
    const subject = await userSubject(visit);
    const { id } = subject.user;
    const read = (window: Parameters<typeof listUserActivity>[2]) => listUserActivity(visit.services, id, window, visit.request);
    const events = await activityOf(visit, id, `${addressOfUser(id)}/activity`, read);
    return userPage(visit, subject, [{ ...events, lead: 'Events by the user and about the account, newest first.' }]);
  },
};
