/** Applications: the list. */

import { listPage } from '../../pages/console/detail-page.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import {
  APPLICATION_KINDS,
  APPLICATIONS_PATH,
  applicationKindOf,
  applicationPath,
  mayWrite,
  statusOf,
} from './application-page.console.ts';
import { listApplications } from './applications.service.ts';

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'ACTIVE', label: 'Active' },
  { value: 'INACTIVE', label: 'Inactive' },
];
const ANY_KIND = [{ value: '', label: 'Any kind' }, ...APPLICATION_KINDS.map(({ value, label }) => ({ value, label }))];

/** What narrows the list, as a filter of the management API; undefined: nothing does. */
function filterOf(q: string, kind: string, status: string): string | undefined {
  const wanted = [
    ...(q === '' ? [] : [`(label sw ${JSON.stringify(q)} or id eq ${JSON.stringify(q)})`]),
    ...(kind === '' ? [] : [`settings.oauthClient.application_type eq "${kind}"`]),
    ...(status === '' ? [] : [`status eq "${status}"`]),
  ];
  return wanted.length === 0 ? undefined : wanted.join(' and ');
}

const oneOf = (options: readonly { readonly value: string }[], typed: string | null): string =>
  options.find(({ value }) => value === typed)?.value ?? '';

export const applicationList: ConsolePage = {
  path: '/applications',
  access: 'service',
  async show(visit) {
    const { services, query } = visit;
    const q = (query.get('q') ?? '')
      .replace(/[\p{Cc}\p{Cs}]/gu, '')
      .trim()
      .slice(0, 255);
    const kind = oneOf(ANY_KIND, query.get('kind'));
    const status = oneOf(STATUSES, query.get('status'));
    const filter = filterOf(q, kind, status);
    const { items, next } = await listApplications(services, { filter }, { limit: LIMIT, after: afterIn(query) });
    const create = { label: 'Create application', href: `${APPLICATIONS_PATH}/new`, main: true };
    const isNarrowed = filter !== undefined;
    return listPage({
      title: 'Applications',
      lead: 'What people sign in to, and what calls your APIs: each is a client of OAuth with an id of its own.',
      actions: mayWrite(visit) ? [create] : [],
      list: {
        name: 'applications',
        columns: ['Name', 'Kind', 'Status', 'Client id', 'Last change'],
        rows: items.map((application) => ({
          cells: [
            { text: application.label, href: applicationPath(application.id) },
            [
              { text: applicationKindOf(application.settings.application_type) },
              ...(application.system ? [{ text: 'part of the service', tone: 'plain' as const }] : []),
            ],
            statusOf(application),
            { text: application.id, code: true },
            { moment: momentOf(application.lastUpdated) },
          ],
        })),
        empty: isNarrowed
          ? 'No application fits. Search for the beginning of its name, or its whole client id.'
          : 'There is no application yet.',
        emptyAction: !isNarrowed && mayWrite(visit) ? create : undefined,
        search: {
          label: 'Name or client id',
          q,
          fields: [
            { name: 'kind', label: 'Kind', options: ANY_KIND, value: kind },
            { name: 'status', label: 'Status', options: STATUSES, value: status },
          ],
          isNarrowed,
        },
        pager: pagerOf(APPLICATIONS_PATH, query, next),
      },
    });
  },
};
