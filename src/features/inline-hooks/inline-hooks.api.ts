/** `inlineHooks`, as in Okta's Inline Hooks API. Header values are never returned, and the signing secret only once. */

import { z } from 'zod';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { idParams, time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { presentChannel, shownHookChannel } from '../event-hooks/hook-channel.service.ts';
import { tryInlineHook } from './inline-hook-trial.service.ts';
import { INLINE_HOOK_TYPES, type InlineHook } from './inline-hooks.resource.ts';
import {
  createInlineHook,
  deleteInlineHook,
  getInlineHook,
  inlineHookBody,
  inlineHookChange,
  inlineHookChangeInput,
  inlineHookInput,
  listInlineHooks,
  renewInlineHookSecret,
  setInlineHookStatus,
  updateInlineHook,
} from './inline-hooks.service.ts';

const link = z.object({ href: z.url(), hints: z.object({ allow: z.array(z.string()) }).optional() });
const signingSecret = z.string().meta({ description: 'The signing secret of requests (Standard Webhooks). Returned only once' });

const hook = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(INLINE_HOOK_TYPES),
  version: z.literal('1.0.0'),
  failure: z.enum(['OPEN', 'CLOSED']),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  channel: shownHookChannel,
  signingSecret: signingSecret.optional(),
  createdBy: z.string(),
  created: time,
  lastUpdated: time,
  _links: z.object({ self: link, execute: link, activate: link.optional(), deactivate: link.optional() }),
});

const trial = z.object({
  outcome: z.enum(['ANSWERED', 'FAILED']),
  problem: z.string().nullable().meta({ description: 'The problem with the response. Null: none' }),
  status: z.int().nullable().meta({ description: 'null: no response came' }),
  durationMillis: z.int(),
  attempts: z.int(),
  request: z.string().meta({ description: 'The body that was sent' }),
  response: z.string().meta({ description: 'The start of the response body' }),
  commands: z
    .array(z.object({ type: z.string(), value: z.unknown() }))
    .meta({ description: "The hook's commands, as the service understood them" }),
});

const envelope = text({ most: 1000 }).exactOptional();
/** A message in the format of hooks; only its data is used. */
const trialBody = z.strictObject({
  ...{ source: envelope, eventId: envelope, eventTime: envelope, eventType: envelope, eventTypeVersion: envelope },
  ...{ contentType: envelope, cloudEventVersion: envelope, cloudEventsVersion: envelope },
  data: z.record(z.string().max(100), z.unknown()).exactOptional(),
});

const withoutSecret = (found: InlineHook): { readonly hook: InlineHook; readonly signingSecret?: string } => ({ hook: found });

export const inlineHooks: readonly Endpoint[] = [
  ...collection({
    path: '/inlineHooks',
    idParam: 'id',
    access: 'service',
    status: 200,
    summaries: {
      create: 'Create an inline hook. Its signing secret is returned only once',
      list: 'List the inline hooks',
      read: 'Read an inline hook',
      replace:
        'Replace an inline hook, but not its type. A header without a value keeps its value if the host stays the same; an absent failure stays unchanged',
      remove: 'Delete an inline hook, active or not, that no rule names',
    },
    body: inlineHookBody,
    replacement: inlineHookChange,
    response: hook,
    create: ({ services, request }, body) => createInlineHook(services, inlineHookInput(body), request),
    list: async ({ services }, window) => mapPage(await listInlineHooks(services, window), withoutSecret),
    read: async ({ services }, id) => withoutSecret(await getInlineHook(services, id)),
    replace: async ({ services, request }, id, body) =>
      withoutSecret(await updateInlineHook(services, id, inlineHookChangeInput(body), request)),
    remove: ({ services, request }, id) => deleteInlineHook(services, id, request),
    present: ({ hook, signingSecret }, { services }) => present(hook, services.config.baseUrl, signingSecret),
  }),
  ...lifecycleSteps({
    path: '/inlineHooks/:id',
    noun: 'an inline hook',
    access: 'service',
    params: idParams,
    response: hook,
    set: async ({ services, params, request }, status) =>
      present(await setInlineHookStatus(services, params.id, status, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'POST',
    path: '/inlineHooks/:id/execute',
    access: 'service',
    summary: 'Test an inline hook: send it a request with the body as data, and return its response. Without a body, a sample is sent',
    params: idParams,
    bodyLimit: LARGE_BODY,
    bodyOptional: true,
    body: trialBody,
    response: trial,
    handler: async ({ services, params, body, request }) => {
      const { result, message } = await tryInlineHook(services, params.id, body.data, request);
      const { facts } = result;
      return {
        outcome: result.kind === 'answered' ? 'ANSWERED' : 'FAILED',
        problem: result.kind === 'failed' ? (result.detail ?? result.problem) : null,
        status: facts.status ?? null,
        durationMillis: facts.milliseconds,
        attempts: facts.attempts,
        request: message,
        response: facts.body,
        commands: result.kind === 'answered' ? result.commands.map(({ type, value }) => ({ type, value })) : [],
      } as const;
    },
  }),
  endpoint({
    method: 'POST',
    path: '/inlineHooks/:id/credentials/secret',
    access: 'service',
    summary: 'Create a new signing secret; it is returned only once. For one day, requests are also signed with the previous one',
    params: idParams,
    response: z.object({ signingSecret }),
    status: 201,
    handler: async ({ services, params, request }) => ({ signingSecret: await renewInlineHookSecret(services, params.id, request) }),
  }),
];

function present(found: InlineHook, baseUrl: string, secret?: string): z.input<typeof hook> {
  const self = `${baseUrl}/api/v1/inlineHooks/${found.id}`;
  const step = (name: string) => ({ href: `${self}/${name}`, hints: { allow: ['POST'] } });
  const { id, name, type, failure, status, createdBy } = found;
  return {
    ...{ id, name, type, failure, status, createdBy },
    version: '1.0.0',
    channel: presentChannel(found.channel),
    signingSecret: secret,
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    _links: {
      self: { href: self },
      execute: step('execute'),
      ...(status === 'ACTIVE' ? { deactivate: step('lifecycle/deactivate') } : { activate: step('lifecycle/activate') }),
    },
  };
}
