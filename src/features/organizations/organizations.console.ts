/** Directory → Organizations: the list, one organization with its tree, creating, renaming, deleting. */

import { z } from 'zod';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import type { Action, ConsolePage, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { LIMIT, pageIn, pagesOf } from '../../pages/console/paging.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { counted, phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { isPrintable, text } from '../../platform/validation/text.ts';
import { isWithin, mayCall, reachOf } from '../administrators/administration.policy.ts';
import { activityOf } from '../audit/activity.console.ts';
import { USERS_HOME } from '../users/user-page.console.ts';
import { branchesBelow } from './department-tree.console.ts';
import { departmentTree } from './departments.service.ts';
import type { OrganizationType } from './organizations.resource.ts';
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  type OrganizationDetail,
  renameOrganization,
} from './organizations.service.ts';

const HOME = '/admin/organizations';
const ORGANIZATIONS: readonly Crumb[] = [{ label: 'Organizations', href: HOME }];

/** Where organizations are kept. */
const SOURCES: Readonly<Record<OrganizationType, string>> = { LOCAL: 'Local', LDAP: 'LDAP', SCIM: 'SCIM', OIDC: 'OpenID Connect' };

export const organizationPath = (orgId: string): string => `${HOME}/${encodeURIComponent(orgId)}`;
export const orgIdIn = ({ params }: ConsoleRequest): string => params.orgId ?? '';

/** May he change this organization, its departments and its members? */
export const mayChangeOrganization = ({ request }: ConsoleRequest, orgId: string): boolean =>
  isWithin(reachOf(request.roles, 'write'), orgId);

/** For a page that changes the organization. @throws {ApiError} not found, forbidden */
export async function organizationToChange(visit: ConsoleRequest): Promise<OrganizationDetail> {
  const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
  if (!mayChangeOrganization(visit, organization.id)) throw forbidden();
  return organization;
}

/** The way to a page below an organization. */
export const organizationCrumbs = ({ id, name }: { id: string; name: string }): readonly Crumb[] => [
  ...ORGANIZATIONS,
  { label: verbatim(name), href: organizationPath(id) },
];

const list: ConsolePage = {
  path: '/organizations',
  access: 'organizations',
  async show({ services, request, query }) {
    const page = pageIn(query);
    const q = (query.get('q') ?? '').trim();
    const search = { page, limit: LIMIT, q: q === '' ? undefined : q };
    const { count, organizations } = isPrintable(q) ? await listOrganizations(services, search, request) : { count: 0, organizations: [] };
    const create = { label: 'Create organization', href: `${HOME}/new`, main: true };
    const mayCreate = mayCall(request.roles, 'service', 'write');
    const isNarrowed = q !== '';
    return listPage({
      title: 'Organizations',
      lead: isNarrowed
        ? counted(count, '{count} organization found', '{count} organizations found')
        : counted(count, '{count} organization', '{count} organizations'),
      crumbs: [{ label: 'Directory' }],
      actions: mayCreate ? [create] : [],
      list: {
        name: 'Organizations',
        columns: ['Name', 'External id', 'Source'],
        rows: organizations.map(({ id, name, originId, type }) => ({
          cells: [{ text: name, href: organizationPath(id) }, originId, SOURCES[type]],
        })),
        empty:
          count > 0
            ? 'There is nothing on this page.'
            : isNarrowed
              ? 'No name has these words. Look for others, or show all again.'
              : 'There is no organization yet.',
        emptyAction: mayCreate && count === 0 && !isNarrowed ? create : undefined,
        search: { label: 'Search', q, hint: 'Part of the name', isNarrowed },
        pager: pagesOf(HOME, query, page, Math.ceil(count / LIMIT)),
      },
    });
  },
};

const NAME: Field = { name: 'name', label: 'Name', required: true, alias: 'orgName' };
const name = text({ least: 1 });

const create: ConsolePage = {
  path: '/organizations/new',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    const originId = { name: 'originId', label: 'External id', hint: 'ID in another system' };
    const submit = 'Create organization';
    return formPage({ title: submit, crumbs: ORGANIZATIONS, fields: [NAME, originId], submit, cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const { id } = await createOrganization(services, readFields(z.object({ name, originId: text() }), form), request);
    return { goTo: organizationPath(id), notice: 'organization-created' };
  },
};

/** What stands beside the heading of an organization. */
function actionsFor(visit: ConsoleRequest, { id, editable }: OrganizationDetail): readonly Action[] {
  const address = organizationPath(id);
  const members = { label: 'Members', href: `${address}/members` };
  const user = { label: 'Create user', href: `${USERS_HOME}/new?org=${encodeURIComponent(id)}` };
  const activity = mayCall(visit.request.roles, 'service', 'read') ? [{ label: 'Activity', href: `${address}/activity` }] : [];
  if (!mayChangeOrganization(visit, id)) return [members, ...activity];
  return [
    { label: 'Add department', href: `${address}/departments/new`, main: true },
    members,
    user,
    ...activity,
    ...(editable ? [{ label: 'Rename', href: `${address}/rename` }] : []),
    ...(mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Delete', href: `${address}/delete` }] : []),
  ];
}

const detail: ConsolePage = {
  path: '/organizations/:orgId',
  access: 'organizations',
  async show(visit) {
    const { services, request } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const address = organizationPath(organization.id);
    const { levelCount, departments } = await departmentTree(services, organization.id, request);
    return {
      view: 'departments',
      title: verbatim(organization.name),
      crumbs: ORGANIZATIONS,
      actions: actionsFor(visit, organization),
      locals: {
        facts: [
          { label: 'Members', value: organization.memberCount, href: `${address}/members` },
          { label: 'Source', value: phrase(SOURCES[organization.type]) },
          { label: 'External id', value: organization.originId || phrase('None') },
          { label: 'Id', value: organization.id },
        ],
        listed: 'Departments',
        total: levelCount,
        branches: branchesBelow(departments, null),
        departments: `${address}/departments/`,
      },
    };
  },
};

const activity: ConsolePage = {
  path: '/organizations/:orgId/activity',
  access: 'service',
  async show(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    const path = `${organizationPath(organization.id)}/activity`;
    return detailPage({
      title: phrase('Activity of {organization}', { organization: organization.name }),
      crumbs: organizationCrumbs(organization),
      parts: [await activityOf(visit, organization.id, path)],
    });
  },
};

const rename: ConsolePage = {
  path: '/organizations/:orgId/rename',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const fields = [{ ...NAME, value: organization.name }];
    return formPage(
      {
        title: 'Rename organization',
        crumbs: organizationCrumbs(organization),
        fields,
        submit: 'Rename',
        cancel: organizationPath(organization.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    await renameOrganization(visit.services, orgId, readFields(z.object({ name }), form).name, visit.request);
    return { goTo: organizationPath(orgId), notice: 'organization-renamed' };
  },
};

const remove: ConsolePage = {
  path: '/organizations/:orgId/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const title = phrase('Delete “{organization}”?', { organization: organization.name });
    const facts = ['Only an organization without departments and members can be deleted.', 'This cannot be undone.'];
    const cancel = organizationPath(organization.id);
    return formPage({ title, crumbs: organizationCrumbs(organization), facts, submit: 'Delete organization', danger: true, cancel }, typed);
  },
  async receive(visit) {
    await deleteOrganization(visit.services, orgIdIn(visit), visit.request);
    return { goTo: HOME, notice: 'organization-deleted' };
  },
};

export const organizationPages: readonly ConsolePage[] = [list, create, detail, activity, rename, remove];
