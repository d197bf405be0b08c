/** The tab Roles of an application: the list, creating, changing and deleting one; and which of them come with an assignment. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import { detailPage, type TablePart } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { searchedElsewhere } from '../../pages/console/stacked-pages.ts';
import { inPages } from '../../platform/database/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { assign, getAssignment } from '../applications/application-assignments.service.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from '../applications/application-page.console.ts';
import type { Application } from '../applications/applications.resource.ts';
import { applicationTarget } from '../applications/applications.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import type { ApplicationRole } from './application-roles.resource.ts';
import {
  allApplicationRoles,
  applicationRoleFields,
  createApplicationRole,
  deleteApplicationRole,
  getApplicationRole,
  updateApplicationRole,
} from './application-roles.service.ts';

const homeOf = ({ id }: Application): string => applicationTabs(id).roles.href;
const crumbsOf = (application: Application) => applicationCrumbs(application, applicationTabs(application.id).roles);

const COLUMNS: ListColumns = [
  { label: 'Role', by: 'displayName', searched: true },
  { label: 'Name', by: 'name', searched: true },
  { label: 'Description', by: 'description' },
];

/** The application's roles, on a page of several lists. */
export const rolesSummary = async (visit: ConsoleRequest, application: Application): Promise<TablePart> =>
  searchedElsewhere(await rolesPart({ ...visit, query: new URLSearchParams() }, application, NOTHING_TYPED), homeOf(application));

async function rolesPart(visit: ConsoleRequest, application: Application, typed: Typed): Promise<TablePart> {
  const roles = await allApplicationRoles(visit.services, application.id);
  const { items, total } = inPages(roles.toReversed(), pageIn(visit.query, COLUMNS));
  const changes = mayChangeApplication(visit, application);
  return {
    kind: 'table',
    title: 'Roles',
    lead: 'Assign roles with the application, to users and groups. Tokens list them in the claim roles when the scope roles is granted.',
    actions: changes ? [{ label: 'Create role', href: `${homeOf(application)}/new`, main: true }] : [],
    name: 'Roles',
    ...(changes && { choosing: choosingAction(visit, homeOf(application), typed, { kind: 'application-roles', total }) }),
    rows: items.map(({ id, name, displayName, description }) => ({
      value: id,
      cells: [verbatim(displayName), { text: name, code: true }, description],
      actions: changes
        ? [
            { label: 'Edit', href: `${homeOf(application)}/${id}`, icon: 'edit' as const },
            { label: 'Delete', href: `${homeOf(application)}/${id}/delete` },
          ]
        : [],
    })),
    empty: 'This application has no roles yet. Create one, such as editor.',
    ...paged(homeOf(application), visit.query, COLUMNS, { total }, 'role'),
    files: fileActions(homeOf(application), visit.query, total),
  };
}

const list: ConsolePage = {
  path: '/applications/:id/roles',
  access: 'service',
  async show(visit, typed) {
    const application = await applicationIn(visit);
    return detailPage({
      ...headOf(visit, application),
      parts: [...warningsOf(application), await rolesPart(visit, application, typed)],
    });
  },
  async receive(visit, form) {
    const { id: applicationId } = await applicationToChange(visit);
    return draftForList(visit, form, {
      kind: 'application-roles',
      pieces: rolesOf(visit, applicationId),
      rowOf: ({ id, name }) => ({ name, item: { id, applicationId } }),
    });
  },
  async download(visit) {
    const application = await applicationIn(visit);
    return downloadList(visit, {
      name: 'application-roles',
      columns: ['id', 'name', 'displayName', 'description', 'created', 'lastUpdated'],
      pieces: rolesOf(visit, application.id),
      recordOf: (role) => ({ ...role }),
      of: applicationTarget(application),
    });
  },
};

const rolesOf = ({ services, query }: ConsoleRequest, applicationId: string) =>
  piecesOf(query, COLUMNS, async (window) => inPages(await allApplicationRoles(services, applicationId), window));

const fieldsOf = (now?: ApplicationRole): readonly Field[] => [
  { name: 'name', label: 'Name', hint: 'In tokens, such as editor', required: true, value: now?.name },
  { name: 'displayName', label: 'Display name', hint: 'Shown in the console', value: now?.displayName },
  { name: 'description', label: 'Description', kind: 'description', value: now?.description },
];

const inputIn = (form: URLSearchParams) => parse(applicationRoleFields, typedValues(fieldsOf(), form));

const create: ConsolePage = {
  path: '/applications/:id/roles/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const submit = 'Create role';
    return formPage({ title: submit, crumbs: crumbsOf(application), fields: fieldsOf(), submit, cancel: homeOf(application) }, typed);
  },
  async receive(visit, form) {
    const application = await applicationToChange(visit);
    await createApplicationRole(visit.services, application.id, inputIn(form), visit.request);
    return { goTo: homeOf(application), notice: 'application-role-created' };
  },
};

const roleIn = ({ services, params }: ConsoleRequest, { id }: Application): Promise<ApplicationRole> =>
  getApplicationRole(services, id, params.roleId ?? '');

const edit: ConsolePage = {
  path: '/applications/:id/roles/:roleId',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const role = await roleIn(visit, application);
    const title = phrase('Role {role}', { role: role.name });
    return formPage({ title, crumbs: crumbsOf(application), fields: fieldsOf(role), submit: 'Save', cancel: homeOf(application) }, typed);
  },
  async receive(visit, form) {
    const application = await applicationToChange(visit);
    const { id } = await roleIn(visit, application);
    await updateApplicationRole(visit.services, application.id, id, inputIn(form), visit.request);
    return { goTo: homeOf(application), notice: 'application-role-changed' };
  },
};

const remove = confirmedStep({
  path: '/applications/:id/roles/:roleId/delete',
  access: 'service',
  submit: 'Delete role',
  danger: true,
  notice: 'application-role-deleted',
  async question(visit) {
    const application = await applicationToChange(visit);
    const { id: roleId, name } = await roleIn(visit, application);
    const { users, groups } = await affectedBy(visit.services, 'applicationRole', { applicationId: application.id, id: roleId });
    const facts = [
      phrase('This removes the role from {users} and {groups}, with their next token. Their assignments stay.', {
        users: affectedCount(users, 'user'),
        groups: affectedCount(groups, 'group'),
      }),
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete the role “{name}”?', { name }), name, crumbs: crumbsOf(application), cancel: homeOf(application) },
      ...{ facts, affected: users + groups },
      execute: () => deleteApplicationRole(visit.services, application.id, roleId, visit.request),
    };
  },
});

const KINDS = { users: 'user', groups: 'group' } as const;

/** @throws {ApiError} not found */
function assigneeIn({ params }: ConsoleRequest) {
  const path = params.kind ?? '';
  if (path !== 'users' && path !== 'groups') throw notFound(path, 'AssigneeKind');
  return { kind: KINDS[path], id: params.assigneeId ?? '' };
}

const assigned: ConsolePage = {
  path: '/applications/:id/assignments/:kind/:assigneeId/roles',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { name, roles } = await getAssignment(visit.services, application.id, assigneeIn(visit));
    const all = await allApplicationRoles(visit.services, application.id);
    const { assignments } = applicationTabs(application.id);
    const fields: readonly Field[] = [
      {
        name: 'roles',
        label: 'Roles',
        kind: 'checks',
        hint: all.length === 0 ? 'This application has no roles yet. Create them under Roles.' : 'The next token contains them.',
        values: roles,
        options: all.map((role) => ({ value: role.name, label: verbatim(role.displayName), hint: verbatim(role.description) })),
      },
    ];
    const title = phrase('Roles of “{name}”', { name });
    const crumbs = applicationCrumbs(application, assignments);
    return formPage({ title, crumbs, fields, submit: 'Save', cancel: assignments.href }, typed);
  },
  async receive(visit, form) {
    const { id } = await applicationToChange(visit);
    const assignee = assigneeIn(visit);
    await getAssignment(visit.services, id, assignee);
    await assign(visit.services, id, assignee, visit.request, form.getAll('roles'));
    return { goTo: applicationTabs(id).assignments.href, notice: 'application-roles-assigned' };
  },
};

export const applicationRolePages: readonly ConsolePage[] = [list, create, edit, remove, assigned];
