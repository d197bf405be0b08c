/** Reports → System log: the audit events, newest first, with search and download. */

import { detailPage } from '../../pages/console/detail-page.ts';
import { keptOrder, sizeIn, sizeLinks } from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, ConsoleRequest, FieldMessage } from '../../pages/console/page.ts';
import { afterIn, pagerOf } from '../../pages/console/paging.ts';
import { fieldMessages } from '../../pages/console/refusals.ts';
import { zoneOfViewer } from '../../pages/console/viewer-zone.ts';
import { present } from '../../platform/clock/clock.ts';
import { startOfDay } from '../../platform/clock/time-zones.ts';
import type { Page } from '../../platform/database/paging.ts';
import { ApiError, validation } from '../../platform/errors/errors.ts';
import { listFile } from '../../platform/http/list-files.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { LOG } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { describeEvent } from './log-events.service.ts';
import { applicationTargetOf, LOG_COLUMNS, MINUTE_MS, rowOf, writtenMinute } from './log-rows.console.ts';
import { type LogSearch, searchFields, searchIn } from './log-search.console.ts';
import { type LogQuery, readLogs } from './logs.service.ts';

/** Default rows per page. */
const ROWS = 50;
/** Number of events read from the database at a time for the file. */
const BATCH = 1000;

const BUSY = 'Too many searches are running. Try again in a moment.';

interface Found {
  readonly page: Page<StoredEvent>;
  readonly problems: readonly FieldMessage[];
}

/** @returns no events and the problems, if the search fails */
export async function findEvents({ problems }: LogSearch, read: () => Promise<Page<StoredEvent>>): Promise<Found> {
  const nothing = { items: [], next: undefined };
  if (problems.length > 0) return { page: nothing, problems };
  try {
    return { page: await read(), problems };
  } catch (error) {
    const isBusy = error instanceof ApiError && error.status === 429;
    const messages = isBusy ? [{ message: BUSY }] : fieldMessages(error);
    if (messages === undefined) throw error;
    // Several form fields make up the filter, so its problems have no field of their own.
    return {
      page: nothing,
      problems: messages.map(({ field, message }) => (field === undefined || field === 'filter' ? { message } : { field, message })),
    };
  }
}

const ofService = ({ question, lookedBackTo }: LogSearch): LogQuery => ({ ...question, since: question.since ?? lookedBackTo });

/** Number of search fields that are always visible: event and outcome, which most searches need. */
export const COMMON = 2;

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Periods to choose with one click, ending now. */
function presets({ query, ...visit }: ConsoleRequest): readonly Action[] {
  const zone = zoneOfViewer(visit);
  const now = present().getTime();
  const since = (moment: number): string => {
    const kept = new URLSearchParams([...query].filter(([name]) => !['after', 'since', 'until'].includes(name)));
    kept.set('since', writtenMinute(moment));
    return `${LOG}?${kept}`;
  };
  return [
    { label: 'Last 15 minutes', href: since(now - 15 * MINUTE_MS) },
    { label: 'Last hour', href: since(now - HOUR_MS) },
    { label: phrase('Today ({zone})', { zone }), href: since(startOfDay(now, zone)) },
    { label: 'Last 24 hours', href: since(now - DAY_MS) },
    { label: 'Last 7 days', href: since(now - 7 * DAY_MS) },
    { label: 'Last 90 days', href: since(now - 90 * DAY_MS) },
  ];
}

/** Loads newer events: by a click, or continuously (`live`) by a script. */
function liveActions(kept: URLSearchParams, isLive: boolean): readonly Action[] {
  const other = new URLSearchParams(kept);
  if (isLive) other.delete('live');
  else other.set('live', 'true');
  const at = (query: URLSearchParams): string => (query.size === 0 ? LOG : `${LOG}?${query}`);
  return [
    { label: 'Newer', href: at(kept), icon: 'reset' },
    { label: isLive ? 'Stop live view' : 'Live view', href: at(other), icon: isLive ? 'deactivate' : 'activate', main: true },
  ];
}

const CSV_COLUMNS = [
  ...['published', 'eventType', 'displayMessage', 'severity', 'result', 'reason', 'actorId', 'actor', 'targetIds', 'targets'],
  ...['applicationId', 'application', 'ipAddress', 'userAgent', 'requestId', 'uuid'],
] as const;

/** An event as a row of a CSV file, with text cells. */
const recordOf = (
  event: StoredEvent,
  application = applicationTargetOf(event),
): Readonly<Record<(typeof CSV_COLUMNS)[number], string>> => ({
  published: event.published.toISOString(),
  eventType: event.eventType,
  displayMessage: event.displayMessage,
  severity: event.severity,
  result: event.outcome.result,
  reason: event.outcome.reason ?? '',
  actorId: event.actor.id,
  actor: event.actor.displayName,
  targetIds: event.target.map(({ id }) => id).join(' '),
  targets: event.target.map(({ displayName }) => displayName).join(', '),
  applicationId: application?.id ?? '',
  application: application?.displayName ?? '',
  ipAddress: event.client.ipAddress ?? '',
  userAgent: event.client.userAgent ?? '',
  requestId: event.transactionId ?? '',
  uuid: event.uuid,
});

export const log: ConsolePage = {
  path: '/reports/log',
  access: 'service',
  async show(visit) {
    const { query } = visit;
    const search = searchIn(query);
    const window = { limit: sizeIn(query, ROWS), after: afterIn(LOG, visit) };
    const { page, problems } = await findEvents(search, () => readLogs(visit.services, ofService(search), window));
    const { isNarrowed, lookedBackTo } = search;
    const kept = new URLSearchParams([...query].filter(([name]) => name !== 'after'));
    const asked = [...kept].filter(([name]) => name !== 'live' && name !== 'size');
    const file = (format: 'csv' | 'ndjson'): string => `${LOG}/download?${new URLSearchParams([...asked, ['format', format]])}`;
    const nothing = phrase(isNarrowed ? 'No matches.' : 'Nothing happened.');
    const span = lookedBackTo && phrase('Looked back to {since}; set “Since” to look further back.', { since: lookedBackTo });
    const none = span === undefined ? nothing : phrase('{nothing} {span}', { nothing, span });
    const isLive = query.has('live') && !query.has('after');
    const isEnd = page.items.length > 0 && page.next === undefined;
    return detailPage({
      title: 'System log',
      lead: 'Actions, actors, times and places, newest first.',
      crumbs: [{ label: 'Reports' }],
      ...(isLive && { scripts: ['live.js'], status: { text: 'Live', tone: 'good' } }),
      actions: [
        ...liveActions(kept, isLive),
        ...(page.items.length === 0
          ? []
          : [
              { label: 'Download as CSV', href: file('csv') },
              { label: 'Download as NDJSON', href: file('ndjson') },
            ]),
        ...(mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Retention', href: `${LOG}/retention` }] : []),
      ],
      parts: [
        {
          kind: 'table',
          name: 'System log',
          isDense: true,
          columns: LOG_COLUMNS,
          rows: page.items.map((event) => rowOf(event, kept)),
          empty: problems.length > 0 ? 'The search failed.' : none,
          search: {
            label: 'Search',
            q: query.get('q') ?? '',
            hint: 'Names, IDs, a request ID, an IP address, words of the event. An event must contain every word.',
            presets: presets(visit),
            fields: searchFields(query).slice(0, COMMON),
            advanced: searchFields(query).slice(COMMON),
            isNarrowed,
            kept: keptOrder(query),
            problems,
          },
          pager: { ...pagerOf(LOG, visit, page.next), sizes: problems.length > 0 ? [] : sizeLinks(LOG, query, sizeIn(query, ROWS)) },
        },
        ...(isEnd && span !== undefined ? [{ kind: 'words', paragraphs: [span] } as const] : []),
      ],
    });
  },
  async download({ services, query }) {
    const search = searchIn(query);
    if (search.problems.length > 0) throw validation(search.problems);
    const question = ofService(search);
    const format = query.get('format') === 'csv' ? 'csv' : 'ndjson';
    // Read the first batch before the response starts, so that an invalid search returns an error.
    const first = await readLogs(services, question, { limit: BATCH, after: undefined });
    async function* events() {
      for (let page = first; ; page = await readLogs(services, question, { limit: BATCH, after: page.next })) {
        yield* page.items;
        if (page.next === undefined) return;
      }
    }
    async function* records() {
      for await (const event of events()) yield format === 'csv' ? recordOf(event) : describeEvent(event);
    }
    return listFile('system-log', format, CSV_COLUMNS, records());
  },
};
