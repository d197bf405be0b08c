/** Directory → Users: the list, searched by the beginning of names, by status and by an expression (RFC 7644 section 3.4.2.2). */

import { listPage } from '../../pages/console/detail-page.ts';
import { momentOrNull } from '../../pages/console/moments.ts';
import type { ConsolePage, ConsoleRequest, FieldMessage } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { fieldMessages } from '../../pages/console/refusals.ts';
import { present } from '../../platform/clock/clock.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { fullName } from '../claims/claims.policy.ts';
import { statusAt, type UserStatus } from './user-lifecycle.policy.ts';
import { addressOfUser, USERS_HOME } from './user-page.console.ts';
import { STATUSES, userStatusPiece } from './user-status.console.ts';
import { listUsers, type UserQuery } from './users.service.ts';

const STATUS_NAMES = Object.keys(STATUSES) as UserStatus[];
const ANY = 'any';
const NOT_SEARCHED = 'The search could not be carried out.';
const NOBODY: Awaited<ReturnType<typeof listUsers>> = { items: [], next: undefined };

/** What the address asks for. */
function askedIn({ query }: ConsoleRequest) {
  const q = (query.get('q') ?? '').trim();
  const status = query.get('status') ?? '';
  const search = (query.get('expression') ?? '').trim();
  const filter = STATUS_NAMES.some((name) => name === status) ? `status eq "${status}"` : status === ANY ? 'id pr' : undefined;
  const asked: UserQuery = { q: q === '' ? undefined : q, search: search === '' ? undefined : search, filter };
  return { q, status, search, asked, isNarrowed: q !== '' || search !== '' || filter !== undefined };
}

/** @returns what is wrong with the expression instead, where it is */
async function found(visit: ConsoleRequest, asked: UserQuery): Promise<{ page: typeof NOBODY; problems?: readonly FieldMessage[] }> {
  const words = [asked.q, asked.search].filter((one) => one !== undefined);
  if (!words.every(isPrintable)) return { page: NOBODY };
  try {
    return { page: await listUsers(visit.services, { ...asked, limit: LIMIT, after: afterIn(visit.query) }, visit.request) };
  } catch (error) {
    const problems = fieldMessages(error);
    if (problems === undefined) throw error;
    return { page: NOBODY, problems };
  }
}

export const userList: ConsolePage = {
  path: '/users',
  access: 'organizations',
  async show(visit) {
    const { q, status, search, asked, isNarrowed } = askedIn(visit);
    const { page, problems = [] } = await found(visit, asked);
    const now = present();
    const mayCreate = mayCall(visit.request.roles, 'organizations', 'write');
    const create = { label: 'Create user', href: `${USERS_HOME}/new`, main: true };
    const head = {
      title: 'Users',
      lead: 'Users who can sign in. Filter by status to see deactivated users.',
      crumbs: [{ label: 'Directory' }],
      actions: mayCreate ? [create] : [],
    };
    const list = {
      name: 'Users',
      columns: ['User name', 'Name', 'Email', 'Status', 'Last sign-in'],
      rows: page.items.map((user) => ({
        cells: [
          { text: user.login, href: addressOfUser(user.id) },
          fullName(user.profile) ?? '',
          user.email ?? '',
          userStatusPiece(statusAt(user, now)),
          user.lastLogin === null ? { text: 'Never', soft: true } : { moment: momentOrNull(user.lastLogin) },
        ],
      })),
      empty:
        problems.length > 0
          ? NOT_SEARCHED
          : isNarrowed
            ? 'No users match. Search for the start of a name, or show all.'
            : 'There is no user yet.',
      emptyAction: mayCreate && !isNarrowed ? create : undefined,
      search: {
        label: 'Search',
        q,
        hint: 'What the user name, email address, first or last name begins with. An expression compares any attribute: profile.city eq "Rome"',
        fields: [
          {
            name: 'status',
            label: 'Status',
            value: status,
            options: [
              { value: '', label: 'All but deactivated' },
              { value: ANY, label: 'All' },
              ...STATUS_NAMES.map((name) => ({ value: name, label: STATUSES[name][0] })),
            ],
          },
          { name: 'expression', label: 'Expression', value: search, alias: 'search' },
        ],
        isNarrowed,
        problems,
      },
      pager: pagerOf(USERS_HOME, visit.query, page.next),
    };
    return listPage({ ...head, list });
  },
};
