/** Directory → Organizations: the list, one organization with its tree, creating, renaming, deleting. */

import { z } from 'zod';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { LIMIT, pageIn, pagesOf } from '../../pages/console/paging.ts';
import { counted, phrase } from '../../platform/i18n/phrase.ts';
import { isPrintable, text } from '../../platform/validation/text.ts';
import { isWithin, mayCall, reachOf } from '../administrators/administration.policy.ts';
import { organizationActivity } from '../audit/activity.console.ts';
import { branchesBelow } from './department-tree.console.ts';
import { departmentMembers, departmentTree } from './departments.service.ts';
import { organizationAdministrators } from './organization-administrators.console.ts';
import {
  mayChangeOrganization,
  ORGANIZATIONS,
  ORGANIZATIONS_PATH,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from './organization-page.console.ts';
import type { OrganizationType } from './organizations.resource.ts';
import { createOrganization, deleteOrganization, getOrganization, listOrganizations, renameOrganization } from './organizations.service.ts';

/** Where organizations are kept. */
const SOURCES: Readonly<Record<OrganizationType, string>> = { LOCAL: 'Local', LDAP: 'LDAP', SCIM: 'SCIM', OIDC: 'OpenID Connect' };

const list: ConsolePage = {
  path: '/organizations',
  access: 'organizations',
  async show({ services, request, query }) {
    const page = pageIn(query);
    const q = (query.get('q') ?? '').trim();
    const search = { page, limit: LIMIT, q: q === '' ? undefined : q };
    const { count, organizations } = isPrintable(q) ? await listOrganizations(services, search, request) : { count: 0, organizations: [] };
    const create = { label: 'Create organization', href: `${ORGANIZATIONS_PATH}/new`, main: true };
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
        columns: ['Name', 'External ID', 'Source'],
        rows: organizations.map(({ id, name, originId, type }) => ({
          cells: [{ text: name, href: organizationPath(id) }, originId, phrase(SOURCES[type])],
        })),
        empty:
          count > 0
            ? 'There is nothing on this page.'
            : isNarrowed
              ? 'No organizations match. Try fewer or shorter words, or show all.'
              : 'There is no organization yet.',
        emptyAction: mayCreate && count === 0 && !isNarrowed ? create : undefined,
        search: { label: 'Search', q, hint: 'Part of the name, or the external ID', isNarrowed },
        pager: pagesOf(ORGANIZATIONS_PATH, query, page, Math.ceil(count / LIMIT)),
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
    const originId = { name: 'originId', label: 'External ID', hint: 'ID in another system' };
    const submit = 'Create organization';
    return formPage({ title: submit, crumbs: ORGANIZATIONS, fields: [NAME, originId], submit, cancel: ORGANIZATIONS_PATH }, typed);
  },
  async receive({ services, request }, form) {
    const { id } = await createOrganization(services, readFields(z.object({ name, originId: text() }), form), request);
    return { goTo: organizationPath(id), notice: 'organization-created' };
  },
};

/** For those who may not see its members. */
const NO_TREE = { levelCount: 0, departments: [] };

const detail: ConsolePage = {
  path: '/organizations/:orgId',
  access: 'organizations',
  async show(visit) {
    const { services, request } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const address = organizationPath(organization.id);
    const isManager = isWithin(reachOf(request.roles, 'read', 'MANAGE_MEMBERS'), organization.id);
    const { levelCount, departments } = isManager ? await departmentTree(services, organization.id, request) : NO_TREE;
    const members = isManager ? await departmentMembers(services, organization.id, request) : new Map<string, number>();
    const add = { label: 'Add department', href: `${address}/departments/new`, main: true };
    const isEmpty = levelCount === 0 && organization.memberCount === 0;
    return {
      ...organizationHead(visit, organization, isEmpty),
      view: 'departments',
      actions: mayChangeOrganization(visit, organization.id) ? [add] : [],
      locals: {
        facts: [
          { label: 'Members', value: organization.memberCount, ...(isManager && { href: `${address}/members` }) },
          { label: 'Source', value: phrase(SOURCES[organization.type]) },
          { label: 'External ID', value: organization.originId || '–' },
          { label: 'ID', value: organization.id },
        ],
        memberCount: (count: number) => countOf(count, 'member'),
        listed: 'Departments',
        total: levelCount,
        branches: branchesBelow(departments, null, members),
        departments: `${address}/departments/`,
      },
    };
  },
};

const activity: ConsolePage = {
  path: '/organizations/:orgId/activity',
  access: 'organizations',
  async show(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    const path = `${organizationPath(organization.id)}/activity`;
    return detailPage({ ...organizationHead(visit, organization), parts: [await organizationActivity(visit, organization.id, path)] });
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
    const { levelCount } = await departmentTree(visit.services, organization.id, visit.request);
    const facts = [
      levelCount + organization.memberCount === 0
        ? 'It has no departments and no members.'
        : phrase('It has {departments} and {members}. Remove them first: only an empty organization can be deleted.', {
            departments: countOf(levelCount, 'department'),
            members: countOf(organization.memberCount, 'member'),
          }),
      'This cannot be undone.',
    ];
    const cancel = organizationPath(organization.id);
    return formPage({ title, crumbs: organizationCrumbs(organization), facts, submit: 'Delete organization', danger: true, cancel }, typed);
  },
  async receive(visit) {
    await deleteOrganization(visit.services, orgIdIn(visit), visit.request);
    return { goTo: ORGANIZATIONS_PATH, notice: 'organization-deleted' };
  },
};

export const organizationPages: readonly ConsolePage[] = [list, create, detail, ...organizationAdministrators, activity, rename, remove];
