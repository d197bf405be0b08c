/** A link by which somebody chooses his password: told once, on the answer to the form that made it. There is no mail that would carry it. */

import type { Services } from '../../services/dependencies.ts';
import { carriedOutOnce } from '../once.ts';
import type { Drawn, Visit } from '../page.ts';
import { sheetPage } from '../sheet.ts';
import { addressOfUser, USERS } from './user.ts';

export interface Link {
  readonly userId: string;
  readonly login: string;
  readonly url: string;
}

/**
 * Carries out what makes a link once, however often the form is sent, and tells it.
 * @param content all that was typed
 */
export const linkOnce = async (
  visit: Visit,
  form: URLSearchParams,
  content: unknown,
  work: (within: Services) => Promise<Link>,
): Promise<Drawn> => linkPage(await carriedOutOnce(visit, form, content, work));

function linkPage({ userId, login, url }: Link): Drawn {
  return sheetPage({
    title: 'Link to choose a password',
    lead: 'Copy it now, and give it to the user yourself: it is shown only this once, works once, and only for some time.',
    crumbs: [...USERS, { label: login, href: addressOfUser(userId) }],
    parts: [
      {
        kind: 'facts',
        facts: [
          { label: 'User name', value: login },
          { label: 'Link', value: url, copy: true },
        ],
      },
      {
        kind: 'words',
        tone: 'warning',
        paragraphs: ['Whoever has the link can choose the password. Hand it over in a way that nobody else reads.'],
      },
    ],
    actions: [{ label: 'Done, I have copied it', href: addressOfUser(userId), main: true }],
  });
}
