/** Directory → Users: the list with search words, status, filter expression (RFC 7644 section 3.4.2.2) and sorting. */

import { listPage } from '../../pages/console/detail-page.ts';
import { fileActions, formatIn } from '../../pages/console/downloads.ts';
import {
  countOf,
  keptOrder,
  type ListState,
  listState,
  numberedPager,
  type SortedBy,
  sortableColumns,
} from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, ConsoleRequest, FieldMessage } from '../../pages/console/page.ts';
import { fieldMessages } from '../../pages/console/refusals.ts';
import { present } from '../../platform/clock/clock.ts';
import { validation } from '../../platform/errors/errors.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { addressOfDraft } from '../bulk/bulk.console.ts';
import { draftForUsers } from '../bulk/bulk-jobs.service.ts';
import { choosingAction, chosenAction } from '../bulk/choose-action.console.ts';
import { fullName } from '../claims/claims.policy.ts';
import { exportUsers } from './user-data.service.ts';
import { awaitsApproval, statusAt, type UserStatus } from './user-lifecycle.policy.ts';
import { searchUsers, type UserQuery } from './user-lists.service.ts';
import { addressOfUser, USERS_HOME } from './user-page.console.ts';
import { STATUSES, userStatusPiece, WAITING } from './user-status.console.ts';
import { stepOf } from './user-steps.console.ts';
import type { User, UserOrder } from './users.resource.ts';

const STATUS_NAMES = Object.keys(STATUSES) as UserStatus[];
const ANY = 'any';
/** Sign-ups that wait for approval. */
const SIGN_UPS = 'waiting';
export const WAITING_SIGN_UPS = `${USERS_HOME}?status=${SIGN_UPS}`;
const NOT_SEARCHED = 'The search failed.';
const NOBODY: Awaited<ReturnType<typeof searchUsers>> = { items: [], total: 0 };

const COLUMNS: readonly (string | SortedBy<UserOrder>)[] = [
  { label: 'User name', by: 'login' },
  { label: 'Name', by: 'name' },
  { label: 'E-mail', by: 'email' },
  { label: 'Status', by: 'status' },
  { label: 'Created', by: 'created', descending: true },
  { label: 'Last sign-in', by: 'lastLogin', descending: true },
];

const FILTERS = new Map([
  [ANY, 'id pr'],
  [SIGN_UPS, 'approvalRequested pr and status eq "STAGED"'],
]);

/** Parses the filters of the URL. */
function askedIn({ query }: ConsoleRequest) {
  const q = (query.get('q') ?? '').trim();
  const status = query.get('status') ?? '';
  const search = (query.get('expression') ?? '').trim();
  const filter = STATUS_NAMES.some((name) => name === status) ? `status eq "${status}"` : FILTERS.get(status);
  const asked: UserQuery = { q: q === '' ? undefined : q, search: search === '' ? undefined : search, filter };
  return { q, status, search, asked, isNarrowed: q !== '' || search !== '' || filter !== undefined };
}

/** The users that exports and bulk actions apply to. @throws {ApiError} validation of the words */
function searchedFor(visit: ConsoleRequest): UserQuery {
  const { asked } = askedIn(visit);
  if (asked.q !== undefined && !isPrintable(asked.q)) throw validation([{ field: 'q', message: 'must not contain control characters' }]);
  return asked;
}

/** @returns the list, or the problem of the expression */
async function found(
  visit: ConsoleRequest,
  asked: UserQuery,
  state: ListState<UserOrder>,
): Promise<{ page: typeof NOBODY; problems?: readonly FieldMessage[] }> {
  const words = [asked.q, asked.search].filter((one) => one !== undefined);
  if (!words.every(isPrintable)) return { page: NOBODY };
  try {
    return { page: await searchUsers(visit.services, asked, state, visit.request) };
  } catch (error) {
    const problems = fieldMessages(error);
    if (problems === undefined) throw error;
    return { page: NOBODY, problems };
  }
}

const decisions = (user: User): readonly Action[] =>
  (['activate', 'refuse'] as const).map((step) => ({
    label: stepOf(step, user).label,
    href: `${addressOfUser(user.id)}/life-cycle/${step}`,
  }));

export const userList: ConsolePage = {
  path: '/users',
  access: 'organizations',
  async show(visit, typed) {
    const { q, status, search, asked, isNarrowed } = askedIn(visit);
    const state = listState(visit.query, COLUMNS, { by: 'created', descending: true });
    const { page, problems = [] } = await found(visit, asked, state);
    const now = present();
    const mayCreate = mayCall(visit.request.roles, 'organizations', 'write');
    const create = { label: 'Create user', href: `${USERS_HOME}/new`, main: true };
    const invite = { label: 'Invite user', href: `${USERS_HOME}/invite` };
    const head = {
      title: 'Users',
      lead: 'Users who can sign in. Filter by status to see deactivated users.',
      crumbs: [{ label: 'Directory' }],
      actions: mayCreate ? [invite, create] : [],
      more: [
        ...(mayCreate ? [{ label: 'Import users from CSV', href: `${USERS_HOME}/import` }] : []),
        ...fileActions(USERS_HOME, visit.query, page.total),
      ],
    };
    const list = {
      name: 'Users',
      columns: sortableColumns(USERS_HOME, visit.query, COLUMNS, state),
      count: countOf(page.total, 'user'),
      ...(mayCreate &&
        page.total > 0 && {
          choosing: choosingAction(visit, USERS_HOME, typed, { total: page.total }),
        }),
      rows: page.items.map((user) => ({
        value: user.id,
        avatar: fullName(user.profile) ?? user.login,
        cells: [
          { text: user.login, href: addressOfUser(user.id) },
          fullName(user.profile) ?? '',
          user.email ?? '',
          userStatusPiece(statusAt(user, now), user),
          { moment: momentOf(user.created) },
          user.lastLogin === null ? { text: 'Never', soft: true } : { moment: momentOrNull(user.lastLogin) },
        ],
        ...(mayCreate && awaitsApproval(user) && { actions: decisions(user) }),
      })),
      empty:
        problems.length > 0
          ? NOT_SEARCHED
          : isNarrowed
            ? 'No users match. Try fewer or shorter words, or show all.'
            : 'There is no user yet.',
      emptyAction: mayCreate && !isNarrowed ? create : undefined,
      search: {
        label: 'Search',
        q,
        hint: 'Words of the name, user name or e-mail address, such as anna mül or example.com',
        fields: [
          {
            name: 'status',
            label: 'Status',
            value: status,
            options: [
              { value: '', label: 'All but deactivated' },
              { value: ANY, label: 'All' },
              { value: SIGN_UPS, label: WAITING },
              ...STATUS_NAMES.map((name) => ({ value: name, label: STATUSES[name][0] })),
            ],
          },
        ],
        advanced: [
          {
            name: 'expression',
            label: 'Expression',
            value: search,
            alias: 'search',
            hint: 'Compares any attribute: profile.city eq "Rome"',
          },
        ],
        isNarrowed,
        kept: keptOrder(visit.query),
        problems: [...problems, ...typed.problems.map(({ message }) => ({ message }))],
      },
      pager: numberedPager(USERS_HOME, visit.query, state, page.total),
    };
    return listPage({ ...head, list });
  },
  async receive(visit, form) {
    const { action, ids } = chosenAction(form, visit.request, 'users');
    const job = await draftForUsers(visit.services, action, { query: searchedFor(visit), ids }, visit.request);
    return { goTo: addressOfDraft(job.id) };
  },
  async download(visit) {
    return exportUsers(visit.services, searchedFor(visit), formatIn(visit.query), visit.request);
  },
};
