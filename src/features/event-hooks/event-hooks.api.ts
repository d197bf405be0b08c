/** `eventHooks`, as in Okta's Event Hooks API. Header values are never returned, and the signing secret only once. */

import { z } from 'zod';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { idParams, time, unlessEmpty, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import type { EventHook } from './event-hooks.resource.ts';
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

const withoutSecret = (found: EventHook): { readonly hook: EventHook; readonly signingSecret?: string } => ({ hook: found });

export const eventHooks: readonly Endpoint[] = [
  ...collection({
    path: '/eventHooks',
    idParam: 'id',
    access: 'service',
    status: 200,
    summaries: {
      create: 'Create an event hook; it receives events once it is verified. Its signing secret is returned only once',
      list: 'List the event hooks, oldest first',
      read: 'Read an event hook',
      replace: 'Replace an event hook; a new address must be verified again. Headers without a value keep their values',
      remove: 'Delete an event hook, active or not, and its pending deliveries',
    },
    body: hookBody,
    response: hook,
    create: ({ services, request }, body) => createEventHook(services, eventHookInput(body), request),
    list: async ({ services }, window) => mapPage(await listEventHooks(services, window), withoutSecret),
    read: async ({ services }, id) => withoutSecret(await getEventHook(services, id)),
    replace: async ({ services, request }, id, body) => withoutSecret(await updateEventHook(services, id, eventHookInput(body), request)),
    remove: ({ services, request }, id) => deleteEventHook(services, id, request),
    present: ({ hook, signingSecret }, { services }) => present(hook, services.config.baseUrl, signingSecret),
  }),
  ...lifecycleSteps({
    path: '/eventHooks/:id',
    noun: 'an event hook',
    access: 'service',
    params: idParams,
    response: hook,
    set: async ({ services, params, request }, status) =>
      present(await setEventHookStatus(services, params.id, status, request), services.config.baseUrl),
  }),
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
