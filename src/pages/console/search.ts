/**
 * Global search: users, groups, organizations, applications, authorization servers and identity providers by words or ID, pages of the console by name, and the log by
 * request ID. Results are limited to what the lists show to the administrator. The header (views/public/find.js) and the picker
 * (views/public/pick.js) use it; the picker names the kinds that it needs in `only`.
 */

import { mayCall } from '../../features/administrators/administration.policy.ts';
import { listRoleNames } from '../../features/application-roles/application-roles.service.ts';
import { searchApplications } from '../../features/applications/application-lists.service.ts';
import { pageAuthorizationServers } from '../../features/authorization-servers/authorization-servers.service.ts';
import { fullName } from '../../features/claims/claims.policy.ts';
import { searchGroups } from '../../features/groups/groups.service.ts';
import { listIdentityProviders } from '../../features/identity-providers/identity-providers.service.ts';
import { listOrganizations } from '../../features/organizations/organizations.service.ts';
import { listServerScopes } from '../../features/scopes/scopes.service.ts';
import { suggestUsers } from '../../features/users/user-lists.service.ts';
import { type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { departmentsIn } from './candidates.ts';
import { detailPage, type Part, type Piece } from './detail-page.ts';
import { countOf } from './list-state.ts';
import { menuFor } from './navigation.ts';
import type { ConsolePage, ConsoleRequest } from './page.ts';

/** Limit per kind; the list shows the rest. */
const MOST = 5;
/** Limit per kind for a picker, which has no list. */
const MOST_PICKED = 20;
const LONGEST = 100;
const REQUEST_ID = /^[\w.:-]{8,}$/;

interface Found {
  readonly title: Text;
  readonly columns: readonly Text[];
  readonly rows: readonly (readonly [name: Piece, detail: string | Phrase])[];
  /** The list with all results. */
  readonly all?: string;
}

const page = (by: string, size: number) => ({ page: 1, size, sort: { by, descending: false } });
const at = (home: string, id: string): string => `/admin/${home}/${encodeURIComponent(id)}`;

async function users({ services, request }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const items = await suggestUsers(services, q, most, request);
  return {
    title: 'Users',
    columns: ['User name', 'Name'],
    rows: items.map(({ id, login, email, profile }) => [
      { text: login, href: at('users', id) },
      [fullName(profile), email].filter(Boolean).join(', '),
    ]),
    all: `/admin/users?status=any&q=${encodeURIComponent(q)}`,
  };
}

async function groups({ services }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const { items } = await searchGroups(services, q, page('name', most));
  return {
    title: 'Groups',
    columns: ['Name', 'Description'],
    rows: items.map(({ id, name, description }) => [{ text: name, href: at('groups', id) }, description ?? '']),
    all: `/admin/groups?q=${encodeURIComponent(q)}`,
  };
}

async function organizations({ services, request }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const { items } = await listOrganizations(services, { page: 1, limit: most, q }, request);
  return {
    title: 'Organizations',
    columns: ['Name', 'ID'],
    rows: items.map(({ id, name }) => [{ text: name, href: at('organizations', id) }, id]),
    all: `/admin/organizations?q=${encodeURIComponent(q)}`,
  };
}

async function applications({ services }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const { items } = await searchApplications(services, { q }, page('label', most));
  return {
    title: 'Applications',
    columns: ['Name', 'Client ID'],
    rows: items.map(({ id, label }) => [{ text: label, href: at('applications', id) }, id]),
    all: `/admin/applications?q=${encodeURIComponent(q)}`,
  };
}

async function servers({ services }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const { items } = await pageAuthorizationServers(services, { limit: most, q });
  return {
    title: 'Authorization servers',
    columns: ['Name', 'ID'],
    rows: items.map(({ id, name }) => [{ text: name, href: at('api/servers', id) }, id]),
    all: `/admin/api/servers?q=${encodeURIComponent(q)}`,
  };
}

async function applicationRoles({ services }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const found = await listRoleNames(services, q, most);
  return {
    title: 'Roles',
    columns: ['Name', 'Application'],
    rows: found.map(({ name, id, applicationId, application, applications: count }) => [
      { text: name, href: `${at('applications', applicationId)}/roles/${encodeURIComponent(id)}` },
      count === 1 ? application : countOf(count, 'application'),
    ]),
  };
}

/** Of the authorization server in `within`. */
async function scopes({ services, query }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const serverId = query.get('within') ?? '';
  const items = isPrintable(serverId) ? (await listServerScopes(services, serverId, q, { limit: most })).items : [];
  return {
    title: 'Scopes',
    columns: ['Name', 'Display name'],
    rows: items.map(({ id, name, displayName }) => [
      { text: name, href: `${at('api/servers', serverId)}/scopes/${encodeURIComponent(id)}` },
      displayName ?? '',
    ]),
  };
}

async function providers({ services }: ConsoleRequest, q: string, most: number): Promise<Found> {
  const { items } = await listIdentityProviders(services, { q }, { limit: most });
  return {
    title: 'Identity providers',
    columns: ['Name', 'ID'],
    rows: items.map(({ id, name }) => [{ text: name, href: at('security/identity-providers', id) }, id]),
    all: `/admin/security/identity-providers?q=${encodeURIComponent(q)}`,
  };
}

/** For a picker. @throws {ApiError} not found, forbidden: the organization */
async function departments(visit: ConsoleRequest, orgId: string, q: string): Promise<Found> {
  const found = await (await departmentsIn(visit, orgId)).find(q, MOST_PICKED);
  return {
    title: 'Departments',
    columns: ['Name', 'Below'],
    rows: found.map(({ id, label, shown }) => [{ text: label, href: at(`organizations/${orgId}/departments`, id) }, shown ?? '']),
  };
}

/** Pages whose name in the administrator's language, or in English, has each word in it. */
function pages({ request, translate }: ConsoleRequest, q: string): Found {
  const words = q.toLowerCase().split(/\s+/);
  const matches = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
  const entries = menuFor(request.roles, '').flatMap((section) => section.entries.map((entry) => ({ ...entry, section: section.label })));
  const found = entries.filter(({ label }) => matches(label) || matches(translate(label)));
  return {
    title: 'Pages',
    columns: ['Page', 'Section'],
    rows: found.slice(0, MOST).map(({ label, href, section }) => [{ text: phrase(label), href }, phrase(section)]),
  };
}

const inLog = (q: string): Found => ({
  title: 'System log',
  columns: ['Search', 'Fields'],
  rows: [
    [
      { text: phrase('Events with “{q}”', { q }), href: `/admin/reports/log?q=${encodeURIComponent(q)}` },
      phrase('Request IDs, IP addresses, names and IDs'),
    ],
  ],
});

/** By the first part of their addresses. */
const KINDS = {
  users: { access: 'organizations', search: users },
  organizations: { access: 'organizations', search: organizations },
  groups: { access: 'service', search: groups },
  applications: { access: 'service', search: applications },
  'api/servers': { access: 'service', search: servers },
  'security/identity-providers': { access: 'service', search: providers },
} as const;
/** Only for pickers. */
const PARTS = {
  'application-roles': { access: 'service', search: applicationRoles },
  scopes: { access: 'service', search: scopes },
} as const;

/** One or two statements for each kind. @param only kinds; empty: all, and what is not an object */
async function find(visit: ConsoleRequest, q: string, only: readonly string[]): Promise<readonly Found[]> {
  const may = (access: 'service' | 'organizations') => mayCall(visit.request.roles, access, 'read');
  const isAll = only.length === 0;
  const searches = Object.entries(isAll ? KINDS : { ...KINDS, ...PARTS }).filter(
    ([kind, { access }]) => may(access) && (isAll || only.includes(kind)),
  );
  const found = await Promise.all(searches.map(([, { search }]) => search(visit, q, isAll ? MOST : MOST_PICKED)));
  if (!isAll) {
    const [, orgId] = /(?:^| )organizations\/([\w.~-]+)\/departments(?: |$)/.exec(only.join(' ')) ?? [];
    return orgId === undefined ? found : [...found, await departments(visit, orgId, q)];
  }
  const isSearched = may('service') && (REQUEST_ID.test(q) || found.every(({ rows }) => rows.length === 0));
  return [...found, pages(visit, q), ...(isSearched ? [inLog(q)] : [])].filter(({ rows }) => rows.length > 0);
}

export const searchEverywhere: ConsolePage = {
  path: '/search',
  access: 'own',
  async show(visit) {
    const q = (visit.query.get('q') ?? '').trim().slice(0, LONGEST);
    const found = q === '' || !isPrintable(q) ? [] : await find(visit, q, (visit.query.get('only') ?? '').split(' ').filter(Boolean));
    const parts = found.map(
      ({ title, columns, rows, all }): Part => ({
        kind: 'table',
        title,
        name: title,
        columns,
        rows: rows.map((cells) => ({ cells })),
        empty: '',
        ...(all !== undefined && rows.length === MOST && { actions: [{ label: 'Show all', icon: 'search', href: all }] }),
      }),
    );
    const nothing: Part = {
      kind: 'words',
      paragraphs: [
        q === ''
          ? 'Type words of a name, an e-mail address, an ID or a request ID into the field at the top of the page.'
          : phrase('Nothing matches “{q}”. Try fewer or shorter words.', { q }),
      ],
    };
    return detailPage({ title: q === '' ? 'Search' : phrase('Search: {q}', { q }), parts: parts.length === 0 ? [nothing] : parts });
  },
};
