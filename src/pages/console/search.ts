/**
 * Global search: users, groups, organizations, applications and authorization servers by words or ID, pages of the console by name, and the log by
 * request ID. Results are limited to what the lists show to the administrator. The header uses it for suggestions (views/public/find.js).
 */

import { mayCall } from '../../features/administrators/administration.policy.ts';
import { searchApplications } from '../../features/applications/application-lists.service.ts';
import { pageAuthorizationServers } from '../../features/authorization-servers/authorization-servers.service.ts';
import { fullName } from '../../features/claims/claims.policy.ts';
import { searchGroups } from '../../features/groups/groups.service.ts';
import { listOrganizations } from '../../features/organizations/organizations.service.ts';
import { searchUsers } from '../../features/users/user-lists.service.ts';
import { type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { detailPage, type Part, type Piece } from './detail-page.ts';
import { menuFor } from './navigation.ts';
import type { ConsolePage, ConsoleRequest } from './page.ts';

/** Limit per kind; the list shows the rest. */
const MOST = 5;
const LONGEST = 100;
const REQUEST_ID = /^[\w.:-]{8,}$/;

interface Found {
  readonly title: Text;
  readonly columns: readonly Text[];
  readonly rows: readonly (readonly [name: Piece, detail: string | Phrase])[];
  /** The list with all results. */
  readonly all?: string;
}

const page = (by: string) => ({ page: 1, size: MOST, sort: { by, descending: false } });
const at = (home: string, id: string): string => `/admin/${home}/${encodeURIComponent(id)}`;

async function users({ services, request }: ConsoleRequest, q: string): Promise<Found> {
  const query = /^usr_\w+$/.test(q) ? { filter: `id eq "${q}"` } : { q, filter: 'id pr' };
  const { items } = await searchUsers(services, query, page('name'), request);
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

async function groups({ services }: ConsoleRequest, q: string): Promise<Found> {
  const { items } = await searchGroups(services, q, page('name'));
  return {
    title: 'Groups',
    columns: ['Name', 'Description'],
    rows: items.map(({ id, name, description }) => [{ text: name, href: at('groups', id) }, description ?? '']),
    all: `/admin/groups?q=${encodeURIComponent(q)}`,
  };
}

async function organizations({ services, request }: ConsoleRequest, q: string): Promise<Found> {
  const { items } = await listOrganizations(services, { page: 1, limit: MOST, q }, request);
  return {
    title: 'Organizations',
    columns: ['Name', 'ID'],
    rows: items.map(({ id, name }) => [{ text: name, href: at('organizations', id) }, id]),
    all: `/admin/organizations?q=${encodeURIComponent(q)}`,
  };
}

async function applications({ services }: ConsoleRequest, q: string): Promise<Found> {
  const { items } = await searchApplications(services, { q }, page('label'));
  return {
    title: 'Applications',
    columns: ['Name', 'Client ID'],
    rows: items.map(({ id, label }) => [{ text: label, href: at('applications', id) }, id]),
    all: `/admin/applications?q=${encodeURIComponent(q)}`,
  };
}

async function servers({ services }: ConsoleRequest, q: string): Promise<Found> {
  const { items } = await pageAuthorizationServers(services, { limit: MOST, q });
  return {
    title: 'Authorization servers',
    columns: ['Name', 'ID'],
    rows: items.map(({ id, name }) => [{ text: name, href: at('api/servers', id) }, id]),
    all: `/admin/api/servers?q=${encodeURIComponent(q)}`,
  };
}

function pages({ request }: ConsoleRequest, q: string): Found {
  const words = q.toLowerCase().split(/\s+/);
  const entries = menuFor(request.roles, '').flatMap((section) => section.entries.map((entry) => ({ ...entry, section: section.label })));
  const found = entries.filter(({ label }) =>
    words.every((word) =>
      label
        .toLowerCase()
        .split(' ')
        .some((one) => one.startsWith(word)),
    ),
  );
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

/** One or two statements for each kind. */
async function find(visit: ConsoleRequest, q: string): Promise<readonly Found[]> {
  const may = (access: 'service' | 'organizations') => mayCall(visit.request.roles, access, 'read');
  const found = await Promise.all([
    ...(may('organizations') ? [users(visit, q), organizations(visit, q)] : []),
    ...(may('service') ? [groups(visit, q), applications(visit, q), servers(visit, q)] : []),
  ]);
  const isSearched = may('service') && (REQUEST_ID.test(q) || found.every(({ rows }) => rows.length === 0));
  return [...found, pages(visit, q), ...(isSearched ? [inLog(q)] : [])].filter(({ rows }) => rows.length > 0);
}

export const searchEverywhere: ConsolePage = {
  path: '/search',
  access: 'own',
  async show(visit) {
    const q = (visit.query.get('q') ?? '').trim().slice(0, LONGEST);
    const found = q === '' || !isPrintable(q) ? [] : await find(visit, q);
    const parts = found.map(
      ({ title, columns, rows, all }): Part => ({
        kind: 'table',
        title,
        name: title,
        columns,
        rows: rows.map((cells) => ({ cells })),
        empty: '',
        ...(all !== undefined && rows.length === MOST && { actions: [{ label: 'Show all', href: all }] }),
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
