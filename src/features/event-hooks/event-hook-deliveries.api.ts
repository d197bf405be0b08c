/** The deliveries of event hooks with their requests and responses, repeated deliveries, and test events. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, moment, time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { getDelivery, listHookDeliveries, sendAgain, sendTestEvent } from './event-hook-deliveries.service.ts';
import { DELIVERY_OUTCOMES, type Delivery } from './event-hooks.resource.ts';
import { getEventHook } from './event-hooks.service.ts';

const deliveryParams = z.object({ ...idParams.shape, deliveryId: z.string().min(1) });

const delivery = z.object({
  id: z.string().meta({ description: 'The header webhook-id, the same for every attempt' }),
  eventId: z.string().meta({ description: 'The uuid of the event in the log' }),
  eventType: z.string(),
  attempts: z.int(),
  lastAttempt: time,
  latencyMs: z.int().meta({ description: 'Until the response came, or until the last attempt failed' }),
  status: z.int().nullable().meta({ description: 'The HTTP status of the response; null if there was none' }),
  error: z.string().nullable().meta({ description: 'Why there was no response' }),
  requestBody: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'What was sent; null when the event has been removed from the log and cannot be sent again. Not in the list' }),
  responseBody: z.string().optional().meta({ description: 'The first kilobyte of the response. Not in lists' }),
  _links: links,
});

const present = (found: Delivery, baseUrl: string): z.input<typeof delivery> => ({
  id: found.id,
  eventId: found.eventId,
  eventType: found.eventType,
  attempts: found.attempts,
  lastAttempt: writeTime(found.lastAttempt),
  latencyMs: found.latency,
  status: found.status,
  error: found.error,
  _links: { self: { href: `${baseUrl}/api/v1/eventHooks/${found.hookId}/deliveries/${encodeURIComponent(found.id)}` } },
});

export const eventHookDeliveries: readonly Endpoint[] = [
  listing({
    path: '/eventHooks/:id/deliveries',
    access: 'service',
    summary: 'List the deliveries of an event hook, newest first, each with its last attempt; about 10,000 of each hook are kept',
    params: idParams,
    query: {
      outcome: z.enum(DELIVERY_OUTCOMES).optional().meta({
        description: 'DELIVERED: the response to the last attempt had a status from 200 to 299. FAILED: another status, or no response',
      }),
      eventType: text().optional(),
      since: moment.optional().meta({ description: 'The last attempt was at this time or later' }),
      until: moment.optional().meta({ description: 'The last attempt was before this time' }),
    },
    item: delivery,
    handler: async ({ services, params, query: { outcome, eventType, since, until, ...window } }) =>
      mapPage(
        await listHookDeliveries(services, await getEventHook(services, params.id), { outcome, eventType, since, until }, window),
        (found) => present(found, services.config.baseUrl),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/eventHooks/:id/deliveries/:deliveryId',
    access: 'service',
    summary: 'Read a delivery with the body that was sent and the beginning of the response',
    params: deliveryParams,
    response: delivery,
    handler: async ({ services, params }) => {
      const found = await getDelivery(services, await getEventHook(services, params.id), params.deliveryId);
      return {
        ...present(found.delivery, services.config.baseUrl),
        requestBody: found.body ?? null,
        responseBody: found.delivery.response,
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/eventHooks/:id/deliveries/:deliveryId/repeat',
    access: 'service',
    summary: 'Send a delivery again under the same webhook-id',
    params: deliveryParams,
    handler: ({ services, params, request }) => sendAgain(services, params.id, params.deliveryId, request),
  }),
  endpoint({
    method: 'POST',
    path: '/eventHooks/:id/test',
    access: 'service',
    summary: 'Send the event event_hook.test to this event hook alone',
    params: idParams,
    handler: ({ services, params, request }) => sendTestEvent(services, params.id, request),
  }),
];
