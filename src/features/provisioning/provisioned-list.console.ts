/** The users and groups at the SCIM target of an application: the list, and another attempt. */
import type { TablePart } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import { keptOrder, type ListColumns } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  mayChangeApplication,
} from '../applications/application-page.console.ts';
import type { Application } from '../applications/applications.resource.ts';
import { applicationTarget } from '../applications/applications.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { PROVISIONED_KINDS, PROVISIONED_STATES, type ProvisionedResource } from './provisioning.resource.ts';
import { listProvisioned, pushNow } from './provisioning.service.ts';

const STATES = {
  PROVISIONED: { text: 'Active there', tone: 'good' },
  DEACTIVATED: { text: 'Inactive there', tone: 'plain' },
  FAILED: { text: 'Failed', tone: 'bad' },
} as const satisfies Readonly<Record<ProvisionedResource['state'], unknown>>;

const KINDS = { user: 'User', group: 'Group' } as const;

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  { label: 'Kind', by: 'kind', codes: PROVISIONED_KINDS },
  { label: 'Status', by: 'state', codes: PROVISIONED_STATES },
  { label: 'Last attempt', by: 'lastAttempt', descending: true },
  { label: 'Error', by: 'error' },
];

const filterIn = (query: URLSearchParams) => ({
  kind: PROVISIONED_KINDS.find((one) => one === query.get('kind')),
  state: PROVISIONED_STATES.find((one) => one === query.get('state')),
});

const found = (
  { services, query }: Pick<ConsoleRequest, 'services' | 'query'>,
  id: string,
  window: Window,
): Promise<Page<ProvisionedResource>> => listProvisioned(services, id, filterIn(query), window);

/** The list of the address. */
export async function provisionedList(visit: ConsoleRequest, application: Application, typed: Typed = NOTHING_TYPED): Promise<TablePart> {
  const { query } = visit;
  const home = applicationTabs(application.id).provisioning.href;
  const { kind, state } = filterIn(query);
  const { items, total } = await found(visit, application.id, pageIn(query, COLUMNS));
  const changes = mayChangeApplication(visit, application);
  const { search, ...table } = paged(home, query, COLUMNS, { total }, 'entry', 'entries');
  const isNarrowed = kind !== undefined || state !== undefined || search?.isNarrowed === true;
  const fields = [
    {
      ...{ name: 'kind', label: 'Kind', value: kind ?? '' },
      options: [{ value: '', label: 'Any kind' }, ...PROVISIONED_KINDS.map((value) => ({ value, label: KINDS[value] }))],
    },
    {
      ...{ name: 'state', label: 'Status', value: state ?? '' },
      options: [{ value: '', label: 'Any status' }, ...PROVISIONED_STATES.map((value) => ({ value, label: STATES[value].text }))],
    },
  ];
  return {
    kind: 'table',
    title: 'Users and groups at the target',
    lead: 'Those that failed do not delay others. They are retried when they change, or when you retry.',
    name: 'users and groups at the target',
    ...(changes && { choosing: choosingAction(visit, home, typed, { kind: 'provisioned', total }) }),
    rows: items.map((one) => ({
      value: one.id,
      cells: [
        { text: one.name, href: `/admin/${one.kind}s/${encodeURIComponent(one.id)}` },
        phrase(KINDS[one.kind]),
        STATES[one.state],
        { moment: momentOf(one.lastAttempt) },
        one.error ?? '',
      ],
      actions: changes ? [{ label: 'Retry', href: `${home}/${one.kind}/${encodeURIComponent(one.id)}/retry` }] : [],
    })),
    empty: 'No users pushed yet.',
    ...table,
    ...(isNarrowed && { empty: 'Nothing matches. Try fewer or shorter words, or show all.' }),
    ...((isNarrowed || search !== undefined) && {
      search: { label: 'Search', q: search?.q ?? '', hint: 'Words of the name', fields, isNarrowed, kept: keptOrder(query) },
    }),
    files: fileActions(home, query, total),
  };
}

const pieces = (visit: ConsoleRequest, { id }: Application) => piecesOf(visit.query, COLUMNS, (window) => found(visit, id, window));

export const provisionedReceive: NonNullable<ConsolePage['receive']> = async (visit, form) => {
  const application = await applicationToChange(visit);
  return draftForList(visit, form, {
    kind: 'provisioned',
    pieces: pieces(visit, application),
    rowOf: ({ kind, id, name }) => ({ name, item: { applicationId: application.id, kind, id } }),
  });
};

export const provisionedDownload: NonNullable<ConsolePage['download']> = async (visit) => {
  const application = await applicationIn(visit);
  return downloadList(visit, {
    name: 'provisioned',
    columns: ['kind', 'id', 'name', 'state', 'remoteId', 'error', 'lastAttempt', 'lastSuccess'],
    pieces: pieces(visit, application),
    recordOf: (resource) => ({ ...resource }),
    of: applicationTarget(application),
    hasUsers: true,
  });
};

export const provisionedRetry: ConsolePage = {
  path: '/applications/:id/provisioning/:kind/:resourceId/retry',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { provisioning } = applicationTabs(application.id);
    return formPage(
      {
        title: 'Retry',
        crumbs: applicationCrumbs(application, provisioning),
        facts: ['It is compared with the target again and pushed in a moment.'],
        submit: 'Retry',
        cancel: provisioning.href,
      },
      typed,
    );
  },
  async receive(visit) {
    const application = await applicationToChange(visit);
    const kind = PROVISIONED_KINDS.find((one) => one === visit.params.kind);
    if (kind === undefined) throw notFound(visit.params.kind ?? '', 'ProvisionedResource');
    await pushNow(visit.services, application.id, { kind, id: visit.params.resourceId ?? '' }, visit.request);
    return { goTo: applicationTabs(application.id).provisioning.href, notice: 'provisioning-started' };
  },
};
