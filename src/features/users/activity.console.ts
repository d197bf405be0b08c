/** Activity of a user: audit events that name them, newest first. */

import type { Piece } from '../../pages/console/detail-page.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { series } from '../../platform/i18n/phrase.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { listUserActivity } from './user-data.service.ts';
import { addressOfUser, userPage, userSubject } from './user-page.console.ts';

const outcomeOf = ({ outcome: { result, reason } }: StoredEvent): readonly Piece[] => [
  result === 'SUCCESS' ? { text: 'Success', tone: 'good' } : { text: 'Failure', tone: 'bad' },
  ...(reason === undefined || reason === null ? [] : [{ text: reason, soft: true }]),
];

export const activity: ConsolePage = {
  path: '/users/:id/activity',
  access: 'service',
  async show(visit) {
    const { services, request } = visit;
    const subject = await userSubject(visit);
    const home = `${addressOfUser(subject.user.id)}/activity`;
    const { items, next } = await listUserActivity(services, subject.user.id, { limit: LIMIT, after: afterIn(home, visit) }, request);
    return userPage(visit, subject, [
      {
        kind: 'table',
        lead: 'Events by the user and about the account, newest first.',
        name: 'Activity',
        columns: ['What', 'When', 'By', 'To', 'Outcome'],
        rows: items.map((event) => ({
          cells: [
            { text: event.displayMessage, href: `/admin/reports/log/${event.uuid}` },
            { moment: momentOf(event.published) },
            [{ text: event.actor.displayName }, { text: event.client.ipAddress ?? '', soft: true }],
            series(event.target.map(({ displayName }) => displayName)),
            outcomeOf(event),
          ],
        })),
        empty: 'No activity yet.',
        pager: pagerOf(home, visit, next),
      },
    ]);
  },
};
