/** Applications: the list. */

import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesInOrder } from '../../pages/console/downloads.ts';
import { countOf, keptOrder, listState, numberedPager, type SortedBy, sortableColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { searchApplications } from './application-lists.service.ts';
import {
  APPLICATION_KINDS,
  APPLICATIONS_PATH,
  applicationKindOf,
  applicationPath,
  mayWriteApplications,
  ORIGINS,
  statusOf,
} from './application-page.console.ts';
import type { ApplicationOrder } from './applications.resource.ts';

const COLUMNS: readonly (string | SortedBy<ApplicationOrder>)[] = [
  { label: 'Name', by: 'label' },
  { label: 'Kind', by: 'kind' },
  { label: 'Status', by: 'status' },
  'Client ID',
  { label: 'Created', by: 'created', descending: true },
  { label: 'Last change', by: 'changed', descending: true },
  { label: 'Last used', by: 'used', descending: true },
];

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'ACTIVE', label: 'Active' },
  { value: 'INACTIVE', label: 'Inactive' },
];
const ANY_KIND = [{ value: '', label: 'Any kind' }, ...APPLICATION_KINDS.map(({ value, label }) => ({ value, label }))];

const ANY_ORIGIN = [{ value: '', label: 'Any origin' }, ...Object.entries(ORIGINS).map(([value, label]) => ({ value, label }))];

/** Filter of the list in the syntax of the management API; undefined: no filter. */
function filterOf(kind: string, status: string, origin: string): string | undefined {
  const wanted = [
    ...(kind === '' ? [] : [`settings.oauthClient.application_type eq "${kind}"`]),
    ...(status === '' ? [] : [`status eq "${status}"`]),
    ...(origin === '' ? [] : [`origin eq "${origin}"`]),
  ];
  return wanted.length === 0 ? undefined : wanted.join(' and ');
}

const oneOf = (options: readonly { readonly value: string }[], typed: string | null): string =>
  options.find(({ value }) => value === typed)?.value ?? '';

/** Search words and filters of the URL. */
function searchedIn(query: URLSearchParams) {
  const q = (query.get('q') ?? '')
    .replace(/[\p{Cc}\p{Cs}]/gu, '')
    .trim()
    .slice(0, 255);
  const kind = oneOf(ANY_KIND, query.get('kind'));
  const status = oneOf(STATUSES, query.get('status'));
  const origin = oneOf(ANY_ORIGIN, query.get('origin'));
  const filter = filterOf(kind, status, origin);
  return { q, kind, status, origin, filter, search: { q: q === '' ? undefined : q, filter } };
}

const allFound = ({ services, query }: ConsoleRequest) =>
  piecesInOrder((window) => searchApplications(services, searchedIn(query).search, window));

export const applicationList: ConsolePage = {
  path: '/applications',
  access: 'service',
  async show(visit, typed) {
    const { query } = visit;
    const { q, kind, status, origin, filter, search } = searchedIn(query);
    const state = listState(query, COLUMNS, { by: 'created', descending: true });
    const { items, total } = await searchApplications(visit.services, search, state);
    const create = { label: 'Create application', href: `${APPLICATIONS_PATH}/new`, main: true };
    const isNarrowed = filter !== undefined || q !== '';
    return listPage({
      title: 'Applications',
      lead: 'Web sites, apps and services that sign users in or call your APIs. Each is an OAuth client with its own client ID.',
      actions: mayWriteApplications(visit) ? [create] : [],
      more: fileActions(APPLICATIONS_PATH, query, total),
      list: {
        name: 'applications',
        columns: sortableColumns(APPLICATIONS_PATH, query, COLUMNS, state),
        count: countOf(total, 'application'),
        ...(mayWriteApplications(visit) && {
          choosing: choosingAction(visit, APPLICATIONS_PATH, typed, { kind: 'applications', total }),
        }),
        rows: items.map((application) => ({
          ...(!application.system && { value: application.id }),
          cells: [
            { text: application.label, href: applicationPath(application.id) },
            [
              { text: applicationKindOf(application.settings.application_type) },
              ...(application.system ? [{ text: 'part of the service', tone: 'plain' as const }] : []),
              ...(application.origin === 'ADMIN' ? [] : [{ text: ORIGINS[application.origin], tone: 'plain' as const }]),
            ],
            statusOf(application),
            { text: application.id, code: true },
            { moment: momentOf(application.created) },
            { moment: momentOf(application.lastUpdated) },
            { moment: momentOrNull(application.lastUsed) },
          ],
        })),
        empty: isNarrowed ? 'No applications match. Try fewer or shorter words, or show all.' : 'There is no application yet.',
        emptyAction: !isNarrowed && mayWriteApplications(visit) ? create : undefined,
        search: {
          label: 'Search',
          q,
          hint: 'Words of the name, or the whole client ID',
          fields: [
            { name: 'kind', label: 'Kind', options: ANY_KIND, value: kind },
            { name: 'status', label: 'Status', options: STATUSES, value: status },
            { name: 'origin', label: 'Origin', options: ANY_ORIGIN, value: origin },
          ],
          isNarrowed,
          kept: keptOrder(visit.query),
        },
        pager: numberedPager(APPLICATIONS_PATH, query, state, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'applications',
      pieces: allFound(visit),
      rowOf: ({ id, label }) => ({ name: label, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'applications',
      columns: ['clientId', 'label', 'kind', 'status', 'origin', 'assignment', 'consent', 'created', 'lastUpdated', 'lastUsed'],
      pieces: allFound(visit),
      recordOf: ({ id, label, status, origin, settings, created, lastUpdated, lastUsed }) => ({
        ...{ clientId: id, label, kind: settings.application_type, status, origin },
        ...{ assignment: settings.assignment, consent: settings.consent_method, created, lastUpdated, lastUsed },
      }),
    }),
};
