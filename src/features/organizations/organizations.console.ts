/** Directory → Organizations: the list, one organization with its tree, and forms to create, rename and delete. */

import { z } from 'zod';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesInOrder } from '../../pages/console/downloads.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import { countOf, listState, numberedPager, type SortedBy, searched, sortableColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import type { NumberedWindow } from '../../platform/database/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { text } from '../../platform/validation/text.ts';
import { isWithin, mayCall, reachOf } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { organizationActivity } from '../audit/activity.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
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
import type { OrganizationOrder, OrganizationType } from './organizations.resource.ts';
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  renameOrganization,
  searchOrganizations,
} from './organizations.service.ts';

/** Labels of the sources of organizations. */
const SOURCES: Readonly<Record<OrganizationType, string>> = { LOCAL: 'Local', LDAP: 'LDAP', SCIM: 'SCIM', OIDC: 'OpenID Connect' };

const COLUMNS: readonly (string | SortedBy<OrganizationOrder>)[] = [
  { label: 'Name', by: 'name' },
  'External ID',
  'Source',
  { label: 'Members', by: 'members', descending: true },
  { label: 'Created', by: 'created', descending: true },
];

const found = ({ services, query, request }: ConsoleRequest, window: NumberedWindow) =>
  searched(query, (q) => searchOrganizations(services, q, window, request));

const list: ConsolePage = {
  path: '/organizations',
  access: 'organizations',
  async show(visit, typed) {
    const { request, query } = visit;
    const state = listState(query, COLUMNS, { by: 'created', descending: true });
    const { search, items, total } = await found(visit, state);
    const create = { label: 'Create organization', href: `${ORGANIZATIONS_PATH}/new`, main: true };
    const mayCreate = mayCall(request.roles, 'service', 'write');
    return listPage({
      title: 'Organizations',
      lead: 'Organizations have members, departments and their own ways to sign in.',
      crumbs: [{ label: 'Directory' }],
      actions: mayCreate ? [create] : [],
      more: fileActions(ORGANIZATIONS_PATH, query, total),
      list: {
        name: 'Organizations',
        columns: sortableColumns(ORGANIZATIONS_PATH, query, COLUMNS, state),
        count: countOf(total, 'organization'),
        ...(mayCreate && { choosing: choosingAction(visit, ORGANIZATIONS_PATH, typed, { kind: 'organizations', total }) }),
        rows: items.map(({ id, name, originId, type, members, created }) => ({
          value: id,
          cells: [{ text: name, href: organizationPath(id) }, originId, phrase(SOURCES[type]), members, { moment: momentOf(created) }],
        })),
        empty: search.isNarrowed ? 'No organizations match. Try fewer or shorter words, or show all.' : 'There is no organization yet.',
        emptyAction: mayCreate && !search.isNarrowed ? create : undefined,
        search: { ...search, label: 'Search', hint: 'Words of the name or of the external ID' },
        pager: numberedPager(ORGANIZATIONS_PATH, query, state, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'organizations',
      pieces: piecesInOrder((window) => found(visit, window)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'organizations',
      columns: ['id', 'name', 'externalId', 'source', 'members', 'created'],
      pieces: piecesInOrder((window) => found(visit, window)),
      recordOf: ({ id, name, originId, type, members, created }) => ({ id, name, externalId: originId, source: type, members, created }),
    }),
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

/** For administrators who cannot see its members. */
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
  access: 'service',
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
    const affected = await affectedBy(visit.services, 'organization', { id: organization.id });
    const { levelCount } = await departmentTree(visit.services, organization.id, visit.request);
    const facts = [
      levelCount + organization.memberCount === 0
        ? 'It has no departments and no members.'
        : phrase('It has {departments} and {members}. Remove them first: only an empty organization can be deleted.', {
            departments: countOf(levelCount, 'department'),
            members: countOf(organization.memberCount, 'member'),
          }),
      ...(Object.values(affected).every((count) => count === 0)
        ? []
        : [
            phrase(
              'This deletes {roles}, {domains}, {providers} and {invitations}, and removes the administrator role from {administrators}.',
              {
                roles: affectedCount(affected.roles, 'role'),
                domains: affectedCount(affected.domains, 'domain'),
                providers: affectedCount(affected.providers, 'connection to an identity provider', 'connections to identity providers'),
                invitations: affectedCount(affected.invitations, 'invitation'),
                administrators: affectedCount(affected.administrators, 'administrator'),
              },
            ),
          ]),
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
