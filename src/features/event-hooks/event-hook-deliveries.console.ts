/** The deliveries of an event hook with their requests and responses. */

import { type Content, detailPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage, type Option } from '../../pages/console/form.ts';
import { keptOrder, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { exactMomentOf } from '../../platform/i18n/times.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { LOG } from '../audit/event-links.console.ts';
import { searchFields, searchIn } from '../audit/log-search.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { getDelivery, listHookDeliveries, sendAgain } from './event-hook-deliveries.service.ts';
import { eventHookActions, eventHookCrumbs, eventHookPath, eventHookTabs, hookIn, hookStatusPiece } from './event-hook-page.console.ts';
import { DELIVERY_OUTCOMES, type Delivery, type EventHook } from './event-hooks.resource.ts';
import { hookTarget } from './event-hooks.service.ts';

const deliveriesPath = (hookId: string): string => `${eventHookPath(hookId)}/deliveries`;
const pathOf = (hookId: string, id: string): string => `${deliveriesPath(hookId)}/${encodeURIComponent(id)}`;

function responseText({ status, error }: Delivery): Content {
  if (status === null)
    return [
      { text: 'No response', tone: 'bad' },
      { text: verbatim(error ?? ''), soft: true },
    ];
  return { text: verbatim(String(status)), tone: status >= 200 && status <= 299 ? 'good' : 'bad' };
}

const COLUMNS: ListColumns = [
  { label: 'Last attempt', by: 'lastAttempt', descending: true, isFirst: true },
  'Event',
  'Response',
  { label: 'Latency', by: 'latency', descending: true },
  { label: 'Attempts', by: 'attempts', descending: true },
];

const OUTCOMES: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'DELIVERED', label: 'Delivered' },
  { value: 'FAILED', label: 'Failed' },
];

/** The search in the address. A search with a problem finds nothing. */
function searchedIn(query: URLSearchParams, { eventTypes }: EventHook) {
  const typed = (name: string): string => (query.get(name) ?? '').trim();
  const [q, type] = [typed('q'), typed('type')].map((one) => (isPrintable(one) ? one : '?')) as [string, string];
  const outcome = DELIVERY_OUTCOMES.find((one) => one === typed('outcome'));
  const { question, problems } = searchIn(query);
  const { since, until } = question;
  const types = [...new Set([...eventTypes, 'event_hook.test', ...(type === '' ? [] : [type])])].sort();
  return {
    search: { outcome, eventType: type || undefined, since, until, id: q || undefined },
    form: {
      label: 'Search',
      q,
      hint: 'The whole message ID or event ID',
      fields: [
        { name: 'outcome', label: 'Outcome', options: OUTCOMES, value: outcome ?? '' },
        {
          ...{ name: 'type', label: 'Event', suggest: '', value: type },
          options: [{ value: '', label: 'Any' }, ...types.map((one) => ({ value: one, label: verbatim(one) }))],
        },
      ],
      advanced: searchFields(query).filter(({ name }) => name === 'since' || name === 'until'),
      isNarrowed: outcome !== undefined || [q, type, typed('since'), typed('until')].some((one) => one !== ''),
      kept: keptOrder(query),
      problems,
    },
  };
}

const NOTHING: Page<Delivery> = { items: [], next: undefined, total: 0 };

function found({ services, query }: ConsoleRequest, hook: EventHook, window: Window): Promise<Page<Delivery>> {
  const { search, form } = searchedIn(query, hook);
  return form.problems.length > 0 ? Promise.resolve(NOTHING) : listHookDeliveries(services, hook, search, window);
}

const list: ConsolePage = {
  path: '/api/event-hooks/:id/deliveries',
  access: 'service',
  async show(visit, typed) {
    const { query, request } = visit;
    const hook = await hookIn(visit);
    const home = deliveriesPath(hook.id);
    const { form } = searchedIn(query, hook);
    const { items, total } = await found(visit, hook, pageIn(query, COLUMNS));
    const mayWrite = mayCall(request.roles, 'service', 'write');
    return detailPage({
      title: verbatim(hook.name),
      status: hookStatusPiece(hook),
      crumbs: eventHookCrumbs(hook).slice(0, -1),
      tabs: eventHookTabs(hook.id),
      actions: eventHookActions(visit, hook),
      parts: [
        {
          kind: 'table',
          title: 'Deliveries',
          lead: 'Each with its last attempt. About 10,000 are kept. Reload the page to see new ones.',
          name: 'Deliveries',
          ...(mayWrite && { choosing: choosingAction(visit, home, typed, { kind: 'deliveries', total }) }),
          rows: items.map((delivery) => ({
            value: delivery.id,
            cells: [
              { moment: exactMomentOf(delivery.lastAttempt), href: pathOf(hook.id, delivery.id) },
              { text: verbatim(delivery.eventType), href: pathOf(hook.id, delivery.id) },
              responseText(delivery),
              phrase('{latency} ms', { latency: delivery.latency }),
              phrase('{attempts}', { attempts: delivery.attempts }),
            ],
            actions: mayWrite ? [{ label: 'Send again', href: `${pathOf(hook.id, delivery.id)}/again` }] : [],
          })),
          ...paged(home, query, COLUMNS, { total }, 'delivery'),
          empty: form.isNarrowed ? 'No deliveries match.' : 'Nothing was delivered yet. Send a test event to try it.',
          ...((form.isNarrowed || items.length > 0) && { search: form }),
          files: fileActions(home, query, total),
        },
      ],
    });
  },
  async receive(visit, form) {
    const hook = await hookIn(visit);
    return draftForList(visit, form, {
      kind: 'deliveries',
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, hook, window)),
      rowOf: ({ id, eventType }) => ({ name: `${eventType}, ${id}`, item: { hookId: hook.id, id } }),
    });
  },
  async download(visit) {
    const hook = await hookIn(visit);
    return downloadList(visit, {
      name: 'event-hook-deliveries',
      columns: ['id', 'eventId', 'eventType', 'attempts', 'lastAttempt', 'latencyMs', 'status', 'error'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, hook, window)),
      recordOf: (delivery) => ({ ...delivery, latencyMs: delivery.latency }),
      of: hookTarget(hook),
    });
  },
};

const indented = (json: string): string => JSON.stringify(JSON.parse(json), null, 2);

const one: ConsolePage = {
  path: '/api/event-hooks/:id/deliveries/:deliveryId',
  access: 'service',
  async show(visit) {
    const hook = await hookIn(visit);
    const { delivery, body } = await getDelivery(visit.services, hook, visit.params.deliveryId ?? '');
    const { id, eventId, eventType, attempts, lastAttempt, latency, response } = delivery;
    return detailPage({
      title: verbatim(eventType),
      crumbs: [...eventHookCrumbs(hook), { label: 'Deliveries', href: deliveriesPath(hook.id) }],
      actions: mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Send again', href: `${pathOf(hook.id, id)}/again` }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Response', value: responseText(delivery) },
            { label: 'Last attempt', value: { moment: exactMomentOf(lastAttempt) } },
            { label: 'Latency', value: phrase('{latency} ms', { latency }) },
            { label: 'Attempts', value: phrase('{attempts}', { attempts }) },
            { label: 'Event', value: body === undefined ? 'No longer in the log' : { text: verbatim(eventId), href: `${LOG}/${eventId}` } },
            { label: 'Message ID', value: verbatim(id), copy: true },
          ],
        },
        ...(body === undefined
          ? []
          : [{ kind: 'text' as const, title: 'Request body', id: 'request-body', name: 'text of the request', text: indented(body) }]),
        ...(response === ''
          ? []
          : [
              {
                kind: 'text' as const,
                title: 'Response body',
                lead: 'The first kilobyte.',
                id: 'response-body',
                name: 'text of the response',
                text: response,
              },
            ]),
      ],
    });
  },
};

const again: ConsolePage = {
  path: '/api/event-hooks/:id/deliveries/:deliveryId/again',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await hookIn(visit);
    const { delivery } = await getDelivery(visit.services, hook, visit.params.deliveryId ?? '');
    const deliveries = { label: 'Deliveries', href: deliveriesPath(hook.id) };
    return formPage(
      {
        title: phrase('Send {event} again?', { event: delivery.eventType }),
        crumbs: [...eventHookCrumbs(hook), deliveries],
        facts: ['The event is sent under the same message ID. A receiver that drops repeats ignores it if it has accepted it before.'],
        submit: 'Send again',
        cancel: pathOf(hook.id, delivery.id),
      },
      typed,
    );
  },
  async receive({ services, params, request }) {
    const { id = '', deliveryId = '' } = params;
    await sendAgain(services, id, deliveryId, request);
    return { goTo: deliveriesPath(id), notice: 'hook-event-queued' };
  },
};

export const deliveryPages: readonly ConsolePage[] = [list, one, again];
