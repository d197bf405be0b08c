/** Organization → Administrators: users who administer only this organization, and a form to add one. */
import { usersIn } from '../../pages/console/candidates.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { listAdministrators } from '../administrators/administrators.service.ts';
import { ROLE_EFFECTS, ROLE_EFFECTS_LEAD } from '../administrators/role-form.console.ts';
import { addressOfRoleRemoval } from '../administrators/roles.console.ts';
import { grantRole } from '../administrators/user-roles.service.ts';
import { USER_STATUSES } from '../users/user-lifecycle.policy.ts';
import { addressOfUser } from '../users/user-page.console.ts';
import { userStatusPiece } from '../users/user-status.console.ts';
import { organizationCrumbs, organizationHead, organizationPath, organizationToChange, orgIdIn } from './organization-page.console.ts';
import { getOrganization, target } from './organizations.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/administrators`;
const SUBMIT = 'Add administrator';

/** Problems with the role are shown at the user field. */
const userField = (visit: ConsoleRequest, typed: Typed): Promise<Field> =>
  pickField(usersIn(visit), { name: 'user', label: 'User', alias: 'type' }, typed);

const COLUMNS: ListColumns = [
  { label: 'User name', by: 'login', searched: true },
  { label: 'Status', by: 'status', codes: USER_STATUSES },
];

const list: ConsolePage = {
  path: '/organizations/:orgId/administrators',
  access: 'service',
  async show(visit) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { items, total } = await listAdministrators(services, { orgId: organization.id }, pageIn(query, COLUMNS));
    const isChangeable = mayCall(request.roles, 'service', 'write');
    return detailPage({
      ...organizationHead(visit, organization),
      parts: [
        {
          kind: 'table',
          name: 'Administrators',
          rows: items.map(({ userId, login, status }) => ({
            avatar: login,
            cells: [{ text: login, href: `${addressOfUser(userId)}/roles` }, userStatusPiece(status)],
          })),
          empty: 'Nobody is an administrator of this organization only. Administrators of the whole service can change it.',
          ...paged(home, query, COLUMNS, { total }, 'administrator'),
          files: fileActions(home, query, total),
        },
        ...(isChangeable
          ? [
              {
                kind: 'form' as const,
                title: SUBMIT,
                lead: ROLE_EFFECTS_LEAD,
                action: `${home}/new`,
                fields: [await userField(visit, NOTHING_TYPED)],
                submit: SUBMIT,
              },
            ]
          : []),
      ],
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    return downloadList(visit, {
      name: 'organization-administrators',
      columns: ['userId', 'login', 'status'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listAdministrators(visit.services, { orgId: organization.id }, window)),
      recordOf: ({ userId, login, status }) => ({ userId, login, status }),
      of: target(organization),
      hasUsers: true,
    });
  },
};

const add: ConsolePage = {
  path: '/organizations/:orgId/administrators/new',
  needsFreshSignIn: true,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const fields = [await userField(visit, typed)];
    const crumbs = [...organizationCrumbs(organization), { label: 'Administrators', href: homeOf(organization.id) }];
    return formPage({ title: SUBMIT, crumbs, facts: ROLE_EFFECTS, fields, submit: SUBMIT, cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const userId = await pickedId(usersIn(visit), 'user', form.get('user') ?? '');
    if (userId === undefined) throw validation([{ field: 'user', message: 'is required' }]);
    const { id } = await grantRole(visit.services, userId, { type: 'ORG_ADMIN', orgId }, visit.request);
    return { goTo: homeOf(orgId), notice: 'role-given', undo: { href: addressOfRoleRemoval(userId, id) } };
  },
};

export const organizationAdministrators: readonly ConsolePage[] = [list, add];
