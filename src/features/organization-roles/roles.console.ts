/** Organization → Roles: the list, forms to create, change and delete a role, and the roles of a member. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, type Option, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { type OrganizationPermission, permissionsIn } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import {
  besideMembers,
  mayChangeOrganization,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from '../organizations/organization-page.console.ts';
import { getOrganization, target } from '../organizations/organizations.service.ts';
import { getUser } from '../users/users.service.ts';
import { mayGrant } from './grantable-roles.policy.ts';
import { getMemberRoles, memberRolesBody, setMemberRoles } from './member-roles.service.ts';
import { BUILT_IN_ROLES, type OrganizationRole } from './organization-roles.resource.ts';
import {
  allOrganizationRoles,
  createOrganizationRole,
  deleteOrganizationRole,
  getOrganizationRole,
  organizationRoleFields,
  updateOrganizationRole,
} from './organization-roles.service.ts';

const PERMISSIONS: Readonly<Record<OrganizationPermission, string>> = {
  MANAGE_MEMBERS: 'Manage members, departments and roles',
  MANAGE_INVITATIONS: 'Invite users',
  MANAGE_DOMAINS: 'Manage domains',
  MANAGE_PROVIDERS: 'Manage identity providers',
  MANAGE_BRANDING: 'Change logo and colours',
  READ_LOG: 'Read the log',
};

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/roles`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...organizationCrumbs(organization),
  { label: 'Roles', href: homeOf(organization.id) },
];

const COLUMNS: ListColumns = [
  { label: 'Role', by: 'name', searched: true },
  { label: 'Description', by: 'description', searched: true },
  'Permissions',
];

const list: ConsolePage = {
  path: '/organizations/:orgId/roles',
  access: 'organizations',
  async show(visit, typed) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    const home = homeOf(organization.id);
    const { items, total } = inPages(await shownRoles(visit, organization.id), pageIn(visit.query, COLUMNS));
    const isChangeable = mayChangeOrganization(visit, organization.id);
    const create = { label: 'Create role', href: `${home}/new`, main: true };
    const permissionsOf = (permissions: readonly OrganizationPermission[]) => series(permissions.map((one) => phrase(PERMISSIONS[one])));
    return listPage({
      ...organizationHead(visit, organization),
      actions: isChangeable ? [create] : [],
      list: {
        title: 'Roles',
        actions: besideMembers(visit, organization.id, '/roles'),
        name: 'Roles',
        lead: 'Give roles to members, on the tab Members. Tokens list them in the claim org_roles.',
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'organization-roles', total }) }),
        rows: items.map(({ id, name, description, permissions }) => ({
          ...(id !== undefined && { value: id }),
          cells: [{ text: name, code: true }, id === undefined ? phrase(description) : description, permissionsOf(permissions)],
          actions:
            isChangeable && id !== undefined
              ? [
                  { label: 'Edit', href: `${home}/${id}`, icon: 'edit' as const },
                  { label: 'Delete', href: `${home}/${id}/delete` },
                ]
              : [],
        })),
        empty: '',
        ...paged(home, visit.query, COLUMNS, { total }, 'role'),
        files: fileActions(home, visit.query, total),
      },
    });
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToChange(visit);
    return draftForList(visit, form, {
      kind: 'organization-roles',
      pieces: rolesIn(visit, orgId),
      rowOf: ({ id, name }) => ({ name, item: { id: id ?? name, orgId } }),
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    return downloadList(visit, {
      name: 'organization-roles',
      columns: ['id', 'name', 'description', 'permissions'],
      pieces: rolesIn(visit, organization.id),
      recordOf: (role) => ({ ...role }),
      of: target(organization),
    });
  },
};

/** Built-in roles first, then the newest. */
async function shownRoles({ services, request }: ConsoleRequest, orgId: string) {
  const roles = await allOrganizationRoles(services, orgId, request);
  return [...BUILT_IN_ROLES.map((role) => ({ ...role, id: undefined })), ...roles.toReversed()];
}

const rolesIn = (visit: ConsoleRequest, orgId: string) =>
  piecesOf(visit.query, COLUMNS, async (window) => inPages(await shownRoles(visit, orgId), window));

/** Offers only permissions that the caller has. */
function fieldsOf(visit: ConsoleRequest, now?: OrganizationRole): readonly Field[] {
  const own = permissionsIn(visit.request.roles, orgIdIn(visit));
  const options: readonly Option[] = Object.entries(PERMISSIONS)
    .filter(([name]) => own.has(name as OrganizationPermission))
    .map(([value, label]) => ({ value, label }));
  return [
    { name: 'name', label: 'Name', hint: 'In tokens, such as billing', required: true, value: now?.name },
    { name: 'description', label: 'Description', kind: 'description', value: now?.description },
    {
      name: 'permissions',
      label: 'Permissions',
      kind: 'checks',
      hint: 'In this console. A role without permissions is for applications alone.',
      values: [...(now?.permissions ?? [])],
      options,
    },
  ];
}

const inputIn = (visit: ConsoleRequest, form: URLSearchParams) => parse(organizationRoleFields, typedValues(fieldsOf(visit), form));

const create: ConsolePage = {
  path: '/organizations/:orgId/roles/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const submit = 'Create role';
    return formPage(
      { title: submit, crumbs: crumbsTo(organization), fields: fieldsOf(visit), submit, cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    await createOrganizationRole(visit.services, orgId, inputIn(visit, form), visit.request);
    return { goTo: homeOf(orgId), notice: 'organization-role-created' };
  },
};

const roleIn = ({ services, params, request }: ConsoleRequest): Promise<OrganizationRole> =>
  getOrganizationRole(services, params.orgId ?? '', params.roleId ?? '', request);

const edit: ConsolePage = {
  path: '/organizations/:orgId/roles/:roleId',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const role = await roleIn(visit);
    const title = phrase('Role {role}', { role: role.name });
    const fields = fieldsOf(visit, role);
    return formPage({ title, crumbs: crumbsTo(organization), fields, submit: 'Save', cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit, form) {
    const { id } = await roleIn(visit);
    const orgId = orgIdIn(visit);
    await updateOrganizationRole(visit.services, orgId, id, inputIn(visit, form), visit.request);
    return { goTo: homeOf(orgId), notice: 'organization-role-changed' };
  },
};

const remove = confirmedStep({
  path: '/organizations/:orgId/roles/:roleId/delete',
  access: 'organizations',
  submit: 'Delete role',
  danger: true,
  notice: 'organization-role-deleted',
  async question(visit) {
    const organization = await organizationToChange(visit);
    const { id, name } = await roleIn(visit);
    const { members, invitations } = await affectedBy(visit.services, 'organizationRole', { orgId: organization.id, id });
    const facts = [
      phrase('This removes the role and its permissions from {members} immediately, and from {invitations}.', {
        members: affectedCount(members, 'member'),
        invitations: affectedCount(invitations, 'invitation'),
      }),
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete the role “{name}”?', { name }), name, crumbs: crumbsTo(organization), cancel: homeOf(organization.id) },
      ...{ facts, affected: members + invitations },
      execute: () => deleteOrganizationRole(visit.services, organization.id, id, visit.request),
    };
  },
});

const membersOf = (orgId: string): string => `${organizationPath(orgId)}/members`;

const ofMember: ConsolePage = {
  path: '/organizations/:orgId/members/:userId/roles',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { id: orgId } = organization;
    const userId = visit.params.userId ?? '';
    const held = await getMemberRoles(visit.services, orgId, userId, visit.request);
    const { login } = await getUser(visit.services, userId, visit.request);
    const own = await allOrganizationRoles(visit.services, orgId, visit.request);
    const builtIn = BUILT_IN_ROLES.filter(({ name }) => name !== 'member');
    const isOffered = (role: Pick<OrganizationRole, 'name' | 'permissions'>): boolean =>
      held.includes(role.name) || mayGrant(visit.request.roles, orgId, role);
    const fields: readonly Field[] = [
      {
        name: 'roles',
        label: 'Roles',
        kind: 'checks',
        hint: 'They take effect immediately. Users who get more rights must sign in again. A new owner must also choose a new password.',
        values: [...held],
        options: [
          ...builtIn.filter(isOffered).map(({ name, description }) => ({ value: name, label: verbatim(name), hint: description })),
          ...own.filter(isOffered).map(({ name, description }) => ({ value: name, label: verbatim(name), hint: verbatim(description) })),
        ],
      },
    ];
    const title = phrase('Roles of “{name}”', { name: login });
    const crumbs = [...organizationCrumbs(organization), { label: 'Members', href: membersOf(orgId) }];
    return formPage({ title, crumbs, fields, submit: 'Save', cancel: membersOf(orgId) }, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const { roles } = parse(memberRolesBody, { roles: form.getAll('roles') });
    await setMemberRoles(visit.services, orgId, visit.params.userId ?? '', roles, visit.request);
    return { goTo: membersOf(orgId), notice: 'member-roles-changed' };
  },
};

export const organizationRolePages: readonly ConsolePage[] = [list, create, edit, remove, ofMember];
