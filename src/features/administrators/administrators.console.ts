/** Security → Administrators: lists administrators and assigns roles. Roles are removed on the user's own page. */

import { chosenIn } from '../../pages/console/choose-page.ts';
import { listPage, type Piece } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { keptOrder, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, Crumb } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { organizationPath } from '../organizations/organization-page.console.ts';
import { chooseUsers } from '../users/choose-users.console.ts';
import { USER_STATUSES } from '../users/user-lifecycle.policy.ts';
import { addressOfUser } from '../users/user-page.console.ts';
import { userStatusPiece } from '../users/user-status.console.ts';
import { mayCall, type RoleType } from './administration.policy.ts';
import { listAdministrators } from './administrators.service.ts';
import { ROLE_EFFECTS_LEAD, ROLE_NAMES, roleFields, roleIn } from './role-form.console.ts';
import { addressOfRoleRemoval } from './roles.console.ts';
import { grantRoles } from './user-roles.service.ts';

const HOME = '/admin/security/administrators';
const CRUMBS: readonly Crumb[] = [{ label: 'Security' }, { label: 'Administrators', href: HOME }];
const TYPES = Object.keys(ROLE_NAMES) as RoleType[];

const COLUMNS: ListColumns = [
  { label: 'User name', by: 'login', searched: true },
  'Roles',
  { label: 'Status', by: 'status', codes: USER_STATUSES },
];

const typeIn = (query: URLSearchParams): RoleType | undefined => TYPES.find((one) => one === query.get('role'));

const list: ConsolePage = {
  path: '/security/administrators',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const type = typeIn(query);
    const { items, total } = await listAdministrators(services, { type }, pageIn(query, COLUMNS));
    const { search, ...page } = paged(HOME, query, COLUMNS, { total }, 'administrator');
    const give = { label: 'Give role', href: `${HOME}/new`, main: true };
    const isChangeable = mayCall(request.roles, 'service', 'write');
    return listPage({
      title: 'Administrators',
      lead: 'A role gives access to this console and to the management API, within the role’s permissions.',
      crumbs: CRUMBS.slice(0, 1),
      actions: isChangeable ? [give] : [],
      list: {
        name: 'Administrators',
        ...(isChangeable && { choosing: choosingAction(visit, HOME, typed, { kind: 'administrators', total }) }),
        rows: items.map(({ userId, login, status, roles }) => ({
          value: userId,
          cells: [
            { text: login, href: `${addressOfUser(userId)}/roles` },
            roles.flatMap(({ type: one, orgId, orgName }): Piece[] => [
              { text: ROLE_NAMES[one], tone: 'plain' },
              ...(orgId === undefined || orgName === null ? [] : [{ text: orgName, href: organizationPath(orgId) }]),
            ]),
            userStatusPiece(status),
          ],
          actions: [{ label: isChangeable ? 'Edit' : 'View', href: `${addressOfUser(userId)}/roles` }],
        })),
        empty: type === undefined ? 'There is no administrator.' : 'Nobody has this role.',
        search: {
          ...search,
          fields: [
            {
              name: 'role',
              label: 'Role',
              value: type ?? '',
              options: [{ value: '', label: 'All' }, ...TYPES.map((one) => ({ value: one, label: ROLE_NAMES[one] }))],
            },
          ],
          isNarrowed: type !== undefined || search?.isNarrowed === true,
          kept: keptOrder(query),
          problems: typed.problems.map(({ message }) => ({ message })),
        },
        ...page,
        files: fileActions(HOME, query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'administrators',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listAdministrators(visit.services, { type: typeIn(visit.query) }, window)),
      rowOf: ({ userId, login }) => ({ name: login, item: { id: userId } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'administrators',
      columns: ['userId', 'login', 'status', 'roles'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listAdministrators(visit.services, { type: typeIn(visit.query) }, window)),
      recordOf: ({ roles, ...administrator }) => ({
        ...administrator,
        roles: roles.map(({ type, orgId }) => (orgId === undefined ? type : `${type} ${orgId}`)),
      }),
      hasUsers: true,
    }),
};

const give: ConsolePage = {
  path: '/security/administrators/new',
  needsFreshSignIn: true,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const fields = await roleFields(visit, typed);
    const page = {
      title: 'Give a role',
      lead: ROLE_EFFECTS_LEAD,
      crumbs: CRUMBS,
      path: `${HOME}/new`,
      submit: 'Give role',
      fields,
    };
    return chooseUsers(visit, { ...page, taken: async () => new Set() }, typed);
  },
  async receive(visit, form) {
    const userIds = chosenIn(form);
    const [granted, ...others] = await grantRoles(visit.services, userIds, await roleIn(visit, form), visit.request);
    const isOne = granted !== undefined && others.length === 0;
    return { goTo: HOME, notice: 'role-given', undo: isOne ? { href: addressOfRoleRemoval(userIds[0] ?? '', granted.id) } : undefined };
  },
};

export const administrators: readonly ConsolePage[] = [list, give];
