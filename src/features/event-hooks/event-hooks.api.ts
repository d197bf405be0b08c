/** `eventHooks`, as Okta's Event Hooks API shows them; the values of headers and, but for once, the signing secret are never shown. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, time, unlessEmpty, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import type { EventHook, HookStatus } from './event-hooks.resource.ts';
import {
  createEventHook,
  deleteEventHook,
  eventHookFields,
  eventHookInput,
  getEventHook,
  listEventHooks,
  renewSigningSecret,
  setEventHookStatus,
  updateEventHook,
  verifyEventHook,
} from './event-hooks.service.ts';
import { presentChannel, shownHookChannel } from './hook-channel.service.ts';

const hookBody = z.strictObject(eventHookFields);

const link = z.object({ href: z.url(), hints: z.object({ allow: z.array(z.string()) }).optional() });
const signingSecret = z.string().meta({ description: 'The signing secret of deliveries (Standard Webhooks). Returned only once' });

const hook = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  verificationStatus: z.enum(['UNVERIFIED', 'VERIFIED']),
  events: z.object({ type: z.literal('EVENT_TYPE'), items: z.array(z.string()), filter: z.null() }),
  channel: shownHookChannel,
  signingSecret: signingSecret.optional(),
  createdBy: z.string(),
  created: time,
  lastUpdated: time,
  _links: z.object({ self: link, verify: link, activate: link.optional(), deactivate: link.optional() }),
});

const changeStatus = (step: string, status: HookStatus): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/eventHooks/:id/lifecycle/${step}`,
    access: 'service',
    summary: `Make an event hook ${status}`,
    params: idParams,
    response: hook,
    handler: async ({ services, params, request }) =>
      present(await setEventHookStatus(services, params.id, status, request), services.config.baseUrl),
  });

export const eventHooks: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/eventHooks',
    access: 'service',
    summary: 'Create an event hook; it receives events once it is verified. Its signing secret is returned only once',
    body: hookBody,
    response: hook,
    handler: async ({ services, body, request }) => {
      const created = await createEventHook(services, eventHookInput(body), request);
      return present(created.hook, services.config.baseUrl, created.signingSecret);
    },
  }),
  listing({
    path: '/eventHooks',
    access: 'service',
    summary: 'List the event hooks, oldest first',
    item: hook,
    handler: async ({ services, query }) =>
      mapPage(await listEventHooks(services, query), (found) => present(found, services.config.baseUrl)),
  }),
  endpoint({
    method: 'GET',
    path: '/eventHooks/:id',
    access: 'service',
    summary: 'Read an event hook',
    params: idParams,
    response: hook,
    handler: async ({ services, params }) => present(await getEventHook(services, params.id), services.config.baseUrl),
  }),
  endpoint({
    method: 'PUT',
    path: '/eventHooks/:id',
    access: 'service',
    summary: 'Replace an event hook; a new address must be verified again. Headers without a value keep their values',
    params: idParams,
    body: hookBody,
    response: hook,
    handler: async ({ services, params, body, request }) =>
      present(await updateEventHook(services, params.id, eventHookInput(body), request), services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: '/eventHooks/:id',
    access: 'service',
    summary: 'Delete an event hook, active or not, and its pending deliveries',
    params: idParams,
    handler: ({ services, params, request }) => deleteEventHook(services, params.id, request),
  }),
  changeStatus('activate', 'ACTIVE'),
  changeStatus('deactivate', 'INACTIVE'),
  endpoint({
    method: 'POST',
    path: '/eventHooks/:id/lifecycle/verify',
    access: 'service',
    summary:
      'Verify an event hook: its address must return the challenge of X-Gatehouse-Verification-Challenge. Pending events are then sent at once',
    params: idParams,
    response: hook,
    handler: async ({ services, params, request }) => {
      const { config } = services;
      return present(await verifyEventHook(services, params.id, request, createOutbound(config)), config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/eventHooks/:id/credentials/secret',
    access: 'service',
    summary: 'Create a new signing secret; it is returned only once. For one day, deliveries are also signed with the previous one',
    params: idParams,
    response: z.object({ signingSecret }),
    status: 201,
    handler: async ({ services, params, request }) => ({ signingSecret: await renewSigningSecret(services, params.id, request) }),
  }),
];

function present(found: EventHook, baseUrl: string, secret?: string): z.input<typeof hook> {
  const self = `${baseUrl}/api/v1/eventHooks/${found.id}`;
  const step = (name: string) => ({ href: `${self}/lifecycle/${name}`, hints: { allow: ['POST'] } });
  return {
    id: found.id,
    name: found.name,
    description: unlessEmpty(found.description),
    status: found.status,
    verificationStatus: found.verificationStatus,
    events: { type: 'EVENT_TYPE', items: [...found.eventTypes], filter: null },
    channel: presentChannel(found.channel),
    signingSecret: secret,
    createdBy: found.createdBy,
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    _links: {
      self: { href: self },
      verify: step('verify'),
      ...(found.status === 'ACTIVE' ? { deactivate: step('deactivate') } : { activate: step('activate') }),
    },
  };
}
