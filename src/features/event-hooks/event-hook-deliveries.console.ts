/** The deliveries of an event hook: the last fifty, with their requests and responses. */

import { type Content, detailPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import { exactMomentOf } from '../../pages/console/moments.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { LOG } from '../audit/event-links.console.ts';
import { getDelivery, listHookDeliveries, sendAgain } from './event-hook-deliveries.service.ts';
import { eventHookCrumbs, eventHookPath, eventHookTabs, hookIn, standingOf } from './event-hook-page.console.ts';
import type { Delivery } from './event-hooks.resource.ts';

const pathOf = (hookId: string, id: string): string => `${eventHookPath(hookId)}/deliveries/${encodeURIComponent(id)}`;

function answerOf({ status, error }: Delivery): Content {
  if (status === null)
    return [
      { text: 'No response', tone: 'bad' },
      { text: verbatim(error ?? ''), soft: true },
    ];
  return { text: verbatim(String(status)), tone: status >= 200 && status <= 299 ? 'good' : 'bad' };
}

const list: ConsolePage = {
  path: '/api/event-hooks/:id/deliveries',
  access: 'service',
  async show(visit) {
    const hook = await hookIn(visit);
    const deliveries = await listHookDeliveries(visit.services, hook);
    const mayWrite = mayCall(visit.request.roles, 'service', 'write');
    return detailPage({
      title: verbatim(hook.name),
      status: standingOf(hook),
      crumbs: eventHookCrumbs(hook).slice(0, -1),
      tabs: eventHookTabs(hook.id),
      actions: mayWrite ? [{ label: 'Send test event', href: `${eventHookPath(hook.id)}/test` }] : [],
      parts: [
        {
          kind: 'table',
          title: 'Last deliveries',
          lead: 'The last 50, each with its last attempt. Reload the page to see new ones.',
          name: 'Deliveries',
          columns: ['Last attempt', 'Event', 'Response', 'Latency', 'Attempts'],
          rows: deliveries.map((delivery) => ({
            cells: [
              { moment: exactMomentOf(delivery.lastAttempt), href: pathOf(hook.id, delivery.id) },
              { text: verbatim(delivery.eventType), href: pathOf(hook.id, delivery.id) },
              answerOf(delivery),
              phrase('{latency} ms', { latency: delivery.latency }),
              phrase('{attempts}', { attempts: delivery.attempts }),
            ],
            actions: mayWrite ? [{ label: 'Send again', href: `${pathOf(hook.id, delivery.id)}/again` }] : [],
          })),
          empty: 'Nothing was delivered yet. Send a test event to try it.',
        },
      ],
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
      crumbs: [...eventHookCrumbs(hook), { label: 'Deliveries', href: `${eventHookPath(hook.id)}/deliveries` }],
      actions: mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Send again', href: `${pathOf(hook.id, id)}/again` }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Response', value: answerOf(delivery) },
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
    const deliveries = { label: 'Deliveries', href: `${eventHookPath(hook.id)}/deliveries` };
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
    return { goTo: `${eventHookPath(id)}/deliveries`, notice: 'hook-event-queued' };
  },
};

export const deliveryPages: readonly ConsolePage[] = [list, one, again];
