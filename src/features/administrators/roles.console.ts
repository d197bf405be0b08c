/** The administrator roles of a user: assigning and removing. */

import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { asPhrase, phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { organizationPath } from '../organizations/organization-page.console.ts';
import { getOrganization } from '../organizations/organizations.service.ts';
import { addressOfUser, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { AssignedRole } from './administration.policy.ts';
import { mayCall } from './administration.policy.ts';
import { ROLE_EFFECTS, ROLE_NAMES, ROLE_OPTIONS, roleFields, roleIn } from './role-form.console.ts';
import { getRole, grantRole, listRoles, revokeRole } from './user-roles.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/roles`;

/** The page that removes a role of a user. */
export const addressOfRoleRemoval = (userId: string, roleId: string): string => `${homeOf(userId)}/${encodeURIComponent(roleId)}/take`;

/** Organization of a role. */
async function organizationOf(
  { services, request }: ConsoleRequest,
  { orgId }: AssignedRole,
): Promise<{ id: string; name: string } | undefined> {
  return orgId === undefined ? undefined : getOrganization(services, orgId, request);
}

const COLUMNS: ListColumns = [
  { label: 'Role', by: 'type', codes: Object.keys(ROLE_NAMES) },
  'For',
  'What it allows',
  { label: 'Since', by: 'created', descending: true, isFirst: true },
];

const list: ConsolePage = {
  path: '/users/:id/roles',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = inPages(await listRoles(services, subject.user.id, request), pageIn(query, COLUMNS));
    const isChangeable = mayCall(request.roles, 'service', 'write');
    const rows = items.map(async (role) => {
      const organization = await organizationOf(visit, role);
      return {
        value: role.id,
        cells: [
          phrase(ROLE_NAMES[role.type]),
          organization === undefined
            ? { text: 'The whole service', soft: true }
            : { text: organization.name, href: organizationPath(organization.id) },
          asPhrase(ROLE_OPTIONS.find(({ value }) => value === role.type)?.hint ?? ''),
          { moment: momentOf(role.created) },
        ],
        actions: isChangeable ? [{ label: 'Remove', href: addressOfRoleRemoval(subject.user.id, role.id) }] : [],
      };
    });
    const part = {
      kind: 'table' as const,
      name: 'Roles',
      ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'roles', total }) }),
      rows: await Promise.all(rows),
      empty: 'The user is not an administrator.',
      ...paged(home, query, COLUMNS, { total }, 'role'),
      files: fileActions(home, query, total),
    };
    return userPage(visit, subject, [part], isChangeable ? [{ label: 'Give role', href: `${home}/new`, main: true }] : []);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    return draftForList(visit, form, {
      kind: 'roles',
      pieces: rolesOf(visit, user.id),
      rowOf: ({ id, type, orgId }) => ({ name: [user.login, type, orgId].filter(Boolean).join(', '), item: { id, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'user-roles',
      columns: ['id', 'type', 'orgId', 'created'],
      pieces: rolesOf(visit, user.id),
      recordOf: (role) => ({ ...role }),
      of: userTarget(user),
    });
  },
};

const rolesOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, async (window) => inPages(await listRoles(services, userId, request), window));

const give: ConsolePage = {
  path: '/users/:id/roles/new',
  needsFreshSignIn: true,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await userSubject(visit);
    const fields = await roleFields(visit, typed);
    return formPage(
      { title: phrase('Give {name} a role', { name }), crumbs, facts: ROLE_EFFECTS, fields, submit: 'Give role', cancel: homeOf(user.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    const { id } = await grantRole(visit.services, user.id, await roleIn(visit, form), visit.request);
    const home = homeOf(user.id);
    return { goTo: home, notice: 'role-given', undo: { href: addressOfRoleRemoval(user.id, id) } };
  },
};

const take: ConsolePage = {
  path: '/users/:id/roles/:roleId/take',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await userSubject(visit);
    const role = await getRole(visit.services, user.id, visit.params.roleId ?? '', visit.request);
    const organization = await organizationOf(visit, role);
    const title = phrase('Remove the role {role} from {name}?', { role: phrase(ROLE_NAMES[role.type]), name });
    const facts = [
      ...(organization === undefined ? [] : [phrase('It is for {organization}.', { organization: organization.name })]),
      'The role ends immediately. If it is the last role, the user’s API tokens are revoked, too.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Remove role', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await revokeRole(visit.services, user.id, visit.params.roleId ?? '', visit.request);
    // Administrators who remove their own last role are no longer administrators. The page says so.
    return { goTo: homeOf(user.id), notice: 'role-taken' };
  },
};

export const userRolePages: readonly ConsolePage[] = [list, give, take];
