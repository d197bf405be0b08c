/** The departments of an organization: the page of one with its subdepartments, and forms to add, change, move and delete. */

import { z } from 'zod';
import { departmentsIn, departmentsOf } from '../../pages/console/candidates.ts';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Typed } from '../../pages/console/page.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { text } from '../../platform/validation/text.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { branchesBelow, lineAbove, within } from './department-tree.console.ts';
import { createDepartment, deleteDepartment, departmentMembers, departmentTree, updateDepartment } from './departments.service.ts';
import { mayChangeOrganization, organizationCrumbs, organizationPath, organizationToChange, orgIdIn } from './organization-page.console.ts';
import type { Department } from './organizations.resource.ts';
import { getOrganization, type OrganizationDetail } from './organizations.service.ts';

/** Maximum levels of the breadcrumbs. */
const NEAREST = 4;

const homeOf = (orgId: string, depId: string): string => `${organizationPath(orgId)}/departments/${encodeURIComponent(depId)}`;

const fieldsFor = async (
  orgId: string,
  departments: readonly Department[],
  now: { name?: string; originId?: string; parentId?: string | null },
  typed: Typed,
): Promise<Field[]> => [
  { name: 'name', label: 'Name', required: true, value: now.name ?? '' },
  { name: 'originId', label: 'External ID', hint: 'ID in another system', value: now.originId ?? '' },
  await pickField(
    departmentsOf(orgId, departments),
    { name: 'parentId', label: 'Below', value: now.parentId ?? '', none: 'Nothing: at the top level' },
    typed,
  ),
];

const settings = z.object({ name: text({ least: 1 }), originId: text(), parentId: z.string() });

/** Parses the form and finds the selected parent. @throws {ApiError} validation, not found */
async function settingsIn(visit: ConsoleRequest, form: URLSearchParams) {
  const { parentId, ...rest } = readFields(settings, form);
  return { ...rest, parentId: (await pickedId(await departmentsIn(visit, orgIdIn(visit)), 'parentId', parentId)) ?? '' };
}

/** @throws {ApiError} not found */
async function look({ services, request, params }: ConsoleRequest, organization: OrganizationDetail) {
  const { departments } = await departmentTree(services, organization.id, request);
  const department = departments.find(({ id }) => id === params.depId);
  const line = department === undefined ? [] : lineAbove(departments, department.id);
  const crumbs: readonly Crumb[] = [
    ...organizationCrumbs(organization),
    ...(line.length > NEAREST ? [{ label: '…' }] : []),
    ...line.slice(-NEAREST).map(({ id, name }) => ({ label: verbatim(name), href: homeOf(organization.id, id) })),
  ];
  const asked = () => {
    if (department === undefined) throw notFound(params.depId ?? '', 'Department');
    return department;
  };
  return { departments, crumbs, asked };
}

const create: ConsolePage = {
  path: '/organizations/:orgId/departments/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { departments } = await look(visit, organization);
    const fields = await fieldsFor(organization.id, departments, { parentId: visit.query.get('parent') }, typed);
    const cancel = organizationPath(organization.id);
    return formPage({ title: 'Add department', crumbs: organizationCrumbs(organization), fields, submit: 'Add department', cancel }, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const { parentId } = await createDepartment(visit.services, orgId, await settingsIn(visit, form), visit.request);
    return { goTo: parentId === null ? organizationPath(orgId) : homeOf(orgId, parentId), notice: 'department-created' };
  },
};

const detail: ConsolePage = {
  path: '/organizations/:orgId/departments/:depId',
  access: 'organizations',
  async show(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    const { departments, crumbs, asked } = await look(visit, organization);
    const department = asked();
    const home = homeOf(organization.id, department.id);
    const members = await departmentMembers(visit.services, organization.id, visit.request);
    const list = {
      label: 'Members',
      href: `${organizationPath(organization.id)}/members?department=${encodeURIComponent(department.id)}`,
    };
    const actions = [
      {
        label: 'Add department below',
        href: `${organizationPath(organization.id)}/departments/new?parent=${encodeURIComponent(department.id)}`,
        main: true,
      },
      list,
      { label: 'Edit or move', href: `${home}/edit` },
      { label: 'Delete', href: `${home}/delete` },
    ];
    return {
      view: 'departments',
      title: verbatim(department.name),
      crumbs,
      actions: mayChangeOrganization(visit, organization.id) ? actions : [list],
      locals: {
        facts: [
          { label: 'Members', value: members.get(department.id) ?? 0, href: list.href },
          { label: 'External ID', value: department.originId || '–' },
          { label: 'ID', value: department.id },
        ],
        memberCount: (count: number) => countOf(count, 'member'),
        listed: 'Departments below',
        total: within(departments, department.id).size - 1,
        branches: branchesBelow(departments, department.id, members),
        departments: `${organizationPath(organization.id)}/departments/`,
      },
    };
  },
};

const edit: ConsolePage = {
  path: '/organizations/:orgId/departments/:depId/edit',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { departments, crumbs, asked } = await look(visit, organization);
    const department = asked();
    const own = within(departments, department.id);
    const cancel = homeOf(organization.id, department.id);
    return formPage(
      {
        title: 'Edit department',
        crumbs: [...crumbs, { label: verbatim(department.name), href: cancel }],
        fields: await fieldsFor(
          organization.id,
          departments.filter(({ id }) => !own.has(id)),
          department,
          typed,
        ),
        submit: 'Save',
        cancel,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const [orgId, depId] = [orgIdIn(visit), visit.params.depId ?? ''];
    await updateDepartment(visit.services, orgId, depId, await settingsIn(visit, form), visit.request);
    return { goTo: homeOf(orgId, depId), notice: 'department-changed' };
  },
};

const remove: ConsolePage = {
  path: '/organizations/:orgId/departments/:depId/delete',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { crumbs, asked } = await look(visit, organization);
    const department = asked();
    const cancel = homeOf(organization.id, department.id);
    const { departments, members } = await affectedBy(visit.services, 'department', { orgId: organization.id, id: department.id });
    const facts = [
      departments + members === 0
        ? 'It has no departments and no members.'
        : phrase('It has {departments} and {members}. Remove them first: only an empty department can be deleted.', {
            departments: affectedCount(departments, 'department'),
            members: affectedCount(members, 'member'),
          }),
      'This cannot be undone.',
    ];
    const title = phrase('Delete “{department}”?', { department: department.name });
    return formPage(
      {
        title,
        crumbs: [...crumbs, { label: verbatim(department.name), href: cancel }],
        facts,
        submit: 'Delete department',
        danger: true,
        cancel,
      },
      typed,
    );
  },
  async receive(visit) {
    const orgId = orgIdIn(visit);
    await deleteDepartment(visit.services, orgId, visit.params.depId ?? '', visit.request);
    return { goTo: organizationPath(orgId), notice: 'department-deleted' };
  },
};

export const departmentPages: readonly ConsolePage[] = [create, detail, edit, remove];
