/**
 * Operations on event hooks: addresses that receive events, compatible with Okta's Event Hooks API. Only active and verified hooks receive events.
 * Delivery is in event-hook-delivery.service.ts.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { PrivateAddress } from '../../platform/http/outbound.ts';
import { text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { EVENT_HOOK } from '../audit/audit.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { type EventType, HOOK_EVENT_TYPES, type HookEventType } from '../audit/event-types.policy.ts';
import { endPausesOf, removeEntriesOf, type Waiting, waitingFor } from '../outbox/outbox.store.ts';
import type { EventHook, HookStatus } from './event-hooks.resource.ts';
import {
  deleteEventHookRow as deleteRow,
  findEventHook,
  insertEventHook,
  selectEventHooks as listRows,
  lockEventHook,
  updateEventHookRow as updateRow,
} from './event-hooks.store.ts';
import { describedChannel, type GivenChannel, givenChannel, hookChannel, sealChannel } from './hook-channel.service.ts';
import { newSigningSecret, openHeaders, replacedSecret, sealSigningSecret } from './hook-secrets.service.ts';

export const eventHookFields = {
  name: text({ least: 1 }),
  description: text({ most: 1024 }).nullable().exactOptional(),
  events: z.strictObject({
    type: z.literal('EVENT_TYPE'),
    /** Okta has an expression here. If it were ignored, events that it excludes would be sent. */
    filter: z.null('must be null: hooks receive all events of their types').exactOptional(),
    items: z
      .array(z.enum(HOOK_EVENT_TYPES, { error: 'is not an event type that hooks can receive' }))
      .min(1)
      .max(HOOK_EVENT_TYPES.length),
  }),
  channel: hookChannel,
};

const hookBody = z.strictObject(eventHookFields);

/** A body as input of the service. */
export const eventHookInput = ({ name, description, events, channel }: z.output<typeof hookBody>) => ({
  name,
  description: description ?? '',
  eventTypes: events.items,
  ...givenChannel(channel),
});

export interface EventHookInput extends GivenChannel {
  readonly name: string;
  readonly description: string;
  readonly eventTypes: readonly HookEventType[];
}

/** A request to an address chosen by others (platform/http/outbound.ts). */
export type OutboundCall = (
  url: string,
  init: { readonly method: 'GET' | 'POST'; readonly headers: Record<string, string>; readonly body?: string },
) => Promise<{ readonly status: number; json(): Promise<unknown>; readonly body: ReadableStream<Uint8Array> | null }>;

/**
 * Creates a hook that is active but not verified yet.
 * @returns its row and its signing secret, which is returned only once and stored sealed
 * @throws {ApiError} validation: a header has no value, or a duplicate name
 */
export async function createEventHook(
  { database, keyring }: Services,
  input: EventHookInput,
  request: RequestContext,
): Promise<{ readonly hook: EventHook; readonly signingSecret: string }> {
  const id = newId('who');
  const now = present();
  const signingSecret = newSigningSecret();
  const hook: EventHook = {
    id,
    ...settingsOf(input),
    status: 'ACTIVE',
    verificationStatus: 'UNVERIFIED',
    channel: sealChannel(keyring, 'event_hook', id, input, undefined),
    signingSecret: sealSigningSecret(keyring, 'event_hook', id, signingSecret),
    previousSecret: null,
    previousSecretUntil: null,
    createdBy: request.actor.id,
    created: now,
    lastUpdated: now,
  };
  await database.transaction(async (trx) => {
    await insertEventHook(trx, hook);
    await recordEvent(trx, { ...hookEvent('event_hook.created', 'Create event hook', hook, request), after: described(hook) });
  });
  return { hook, signingSecret };
}

/** Oldest first. */
export const listEventHooks = ({ database }: Services, window: Window): Promise<Page<EventHook>> => listRows(database.knex, window);

/** @throws {ApiError} not found */
export async function getEventHook({ database }: Services, id: string): Promise<EventHook> {
  return requireFound(await findEventHook(database.knex, id), id, 'EventHook');
}

/** Pending deliveries of a hook. */
export const waitingForEventHook = ({ database }: Services, { id }: EventHook): Promise<Waiting> => waitingFor(database.knex, receiver(id));

/**
 * Replaces a hook's settings. A header without a value keeps its current one; for another host it needs a new one, because callers who can change the
 * URL could otherwise read hidden values. A new URL must be verified; pending deliveries wait for that.
 * @throws {ApiError} not found; validation as at creation
 */
export async function updateEventHook(services: Services, id: string, input: EventHookInput, request: RequestContext): Promise<EventHook> {
  return changeEventHook(services, id, async (trx, before) => {
    const changes = {
      ...settingsOf(input),
      channel: sealChannel(services.keyring, 'event_hook', id, input, before.channel),
      ...(input.uri !== before.channel.uri && { verificationStatus: 'UNVERIFIED' as const }),
      lastUpdated: present(),
    };
    await updateRow(trx, id, changes);
    const after = { ...before, ...changes };
    const event = hookEvent('event_hook.updated', 'Update event hook', after, request);
    await recordEvent(trx, { ...event, before: described(before), after: described(after) });
    return after;
  });
}

/** Deactivating a hook deletes its pending deliveries. @throws {ApiError} not found */
export async function setEventHookStatus(services: Services, id: string, status: HookStatus, request: RequestContext): Promise<EventHook> {
  return changeEventHook(services, id, async (trx, before) => {
    if (before.status === status) return before;
    const changes = { status, lastUpdated: present() };
    await updateRow(trx, id, changes);
    if (status === 'INACTIVE') await removeEntriesOf(trx, receiver(id));
    const event =
      status === 'ACTIVE'
        ? hookEvent('event_hook.activated', 'Activate event hook', before, request)
        : hookEvent('event_hook.deactivated', 'Deactivate event hook', before, request);
    await recordEvent(trx, { ...event, before: { status: before.status }, after: { status } });
    return { ...before, ...changes };
  });
}

/** Deletes a hook, active or not, with its pending deliveries. @throws {ApiError} not found */
export async function deleteEventHook(services: Services, id: string, request: RequestContext): Promise<void> {
  await changeEventHook(services, id, async (trx, before) => {
    await deleteRow(trx, id);
    await removeEntriesOf(trx, receiver(id));
    await recordEvent(trx, { ...hookEvent('event_hook.deleted', 'Delete event hook', before, request), before: described(before) });
  });
}

/**
 * Creates a new signing secret. For a day, deliveries are also signed with the previous one.
 * @returns the secret, which is returned only once and stored sealed
 * @throws {ApiError} not found
 */
export async function renewSigningSecret(services: Services, id: string, request: RequestContext): Promise<string> {
  const secret = newSigningSecret();
  await changeEventHook(services, id, async (trx, before) => {
    const changes = replacedSecret(services.keyring, 'event_hook', before, secret);
    await updateRow(trx, id, changes);
    const event = hookEvent('event_hook.secret.created', 'Create signing secret of event hook', before, request);
    await recordEvent(trx, { ...event, after: { previousSecretUntil: changes.previousSecretUntil } });
  });
  return secret;
}

/**
 * Verifies the address: it must respond to the challenge in a header with `{"verification": "<challenge>"}`. Pending deliveries become due
 * immediately.
 * @throws {ApiError} not found; validation with the problem; wrong state: the hook was changed at the same time
 */
export async function verifyEventHook(services: Services, id: string, request: RequestContext, call: OutboundCall): Promise<EventHook> {
  const asked = await getEventHook(services, id);
  const problem = await challenge(services, asked, call);
  if (problem !== undefined) throw validation([{ field: 'channel.config.uri', message: problem }]);
  return changeEventHook(services, id, async (trx, before) => {
    if (before.channel.uri !== asked.channel.uri) throw wrongState('the event hook was changed in the meantime. Try again');
    await endPausesOf(trx, receiver(id), present(), new Date(present().getTime() + timings.outboxClaim * 1000));
    if (before.verificationStatus === 'VERIFIED') return before;
    const changes = { verificationStatus: 'VERIFIED' as const, lastUpdated: present() };
    await updateRow(trx, id, changes);
    const event = hookEvent('event_hook.verified', 'Verify event hook', before, request);
    await recordEvent(trx, {
      ...event,
      before: { verificationStatus: before.verificationStatus },
      after: { verificationStatus: changes.verificationStatus },
    });
    return { ...before, ...changes };
  });
}

const PRIVATE = 'is in a private network or on this machine. Use a public address, or set ALLOW_PRIVATE_NETWORK=true';

/** Was the request refused because the address is private? */
const isPrivate = (error: unknown): boolean =>
  error instanceof PrivateAddress || (error instanceof Error && error.cause instanceof PrivateAddress);

/** @returns the receiver's problem, without its response, which may contain a secret */
async function challenge({ keyring }: Services, hook: EventHook, call: OutboundCall): Promise<string | undefined> {
  const value = randomToken();
  const headers = {
    ...openHeaders(keyring, 'event_hook', hook),
    accept: 'application/json',
    'x-gatehouse-verification-challenge': value,
    // For receivers of Okta's event hooks.
    'x-okta-verification-challenge': value,
  };
  let response: Awaited<ReturnType<OutboundCall>>;
  try {
    response = await call(hook.channel.uri, { method: 'GET', headers });
  } catch (error) {
    return isPrivate(error) ? PRIVATE : 'cannot be reached. Check the URL and the server';
  }
  if (response.status < 200 || response.status > 299) {
    await response.body?.cancel();
    return `responded to the verification with status ${response.status}. It must respond with 200`;
  }
  const parsed = await response.json().catch(() => undefined);
  const isRight = typeof parsed === 'object' && parsed !== null && 'verification' in parsed && parsed.verification === value;
  return isRight ? undefined : 'did not return the challenge of the verification';
}

/** Changes a hook in one transaction with its row locked. */
export async function changeEventHook<T>(
  { database }: Services,
  id: string,
  work: (trx: Executor, before: EventHook) => Promise<T>,
): Promise<T> {
  return database.transaction(async (trx) => {
    const before = requireFound(await lockEventHook(trx, id), id, 'EventHook');
    return work(trx, before);
  });
}

const settingsOf = ({ name, description, eventTypes }: EventHookInput) => ({ name, description, eventTypes: [...new Set(eventTypes)] });

const receiver = (id: string) => ({ kind: EVENT_HOOK, orderingKey: id });

export const hookTarget = ({ id, name }: EventHook) => ({ id, type: 'EventHook', displayName: name });

/** An event about a hook. */
export const hookEvent = (eventType: EventType, displayMessage: string, hook: EventHook, request: RequestContext) => ({
  eventType,
  displayMessage,
  request,
  targets: [hookTarget(hook)],
});

/** The hook's data in audit events, without values of headers. */
const described = ({ name, description, status, verificationStatus, eventTypes, channel }: EventHook) => ({
  name,
  description,
  status,
  verificationStatus,
  eventTypes,
  ...describedChannel(channel),
});
