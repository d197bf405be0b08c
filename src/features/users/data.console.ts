/** Download of a user's data on their request (Regulation (EU) 2016/679, articles 15 and 20). */

import type { ConsolePage } from '../../pages/console/page.ts';
import { exportUserData } from './user-data.service.ts';
import { addressOfUser, userPage, userSubject } from './user-page.console.ts';

export const userDataPage: ConsolePage = {
  path: '/users/:id/data',
  access: 'service',
  async show(visit) {
    const subject = await userSubject(visit);
    const home = addressOfUser(subject.user.id);
    const download = { label: 'Download as JSON', href: `${home}/data/download`, main: true };
    return userPage(
      visit,
      subject,
      [
        {
          kind: 'words',
          paragraphs: [
            'The file holds the profile, memberships, groups, roles, assigned applications, consents, factors, linked accounts, API tokens and sessions of the user, without secrets.',
            'The download is an event of the audit log. The events that name the user are under Activity; the API exports them.',
          ],
        },
      ],
      [download],
    );
  },
  async download({ services, params, request }) {
    const { user, factors, ...rest } = await exportUserData(services, params.id ?? '', request);
    const { passwordHash: _, ...account } = user;
    const listed = factors.map(({ id, type, name, created, lastUsed }) => ({ id, type, name, created, lastUsed }));
    const content = `${JSON.stringify({ user: account, ...rest, factors: listed }, undefined, 2)}\n`;
    return { name: `${user.id}.json`, type: 'application/json', content };
  },
};
