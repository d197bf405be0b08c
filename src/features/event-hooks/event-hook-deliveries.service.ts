/** The deliveries of an event hook, their requests and responses, repeated deliveries, and test events. All use the outbox. */
import { randomUUID } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { requireFound, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { EVENT_HOOK, findAuditEvent } from '../audit/audit.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { insertEntry } from '../outbox/outbox.store.ts';
import { eventHookMessage } from './event-hook-delivery.service.ts';
import type { Delivery, DeliverySearch, EventHook } from './event-hooks.resource.ts';
import { changeEventHook, hookEvent } from './event-hooks.service.ts';
import { findDelivery, listDeliveries } from './event-hooks.store.ts';

/** Newest first; for a page by number, in the order of the window. */
export const listHookDeliveries = (
  { database }: Services,
  { id }: EventHook,
  search: DeliverySearch,
  window: Window,
): Promise<Page<Delivery>> => listDeliveries(database.knex, id, search, window);

/** A delivery and its body; undefined if the event is no longer in the log. @throws {ApiError} not found */
export async function getDelivery(
  { database: { knex }, config }: Services,
  hook: EventHook,
  id: string,
): Promise<{ readonly delivery: Delivery; readonly body: string | undefined }> {
  const delivery = requireFound(await findDelivery(knex, hook.id, id), id, 'EventHookDelivery');
  const event = await findAuditEvent(knex, delivery.eventId);
  return { delivery, body: event && eventHookMessage(event, hook, id, config.baseUrl) };
}

/**
 * Sends a delivery again with the same ID.
 * @throws {ApiError} not found; wrong state: the hook receives no events, or the event is no longer in the log
 */
export async function sendAgain(services: Services, hookId: string, id: string, request: RequestContext): Promise<void> {
  await changeEventHook(services, hookId, async (trx, hook) => {
    requireReceiving(hook);
    const delivery = requireFound(await findDelivery(trx, hookId, id), id, 'EventHookDelivery');
    if ((await findAuditEvent(trx, delivery.eventId)) === undefined) throw wrongState('the event is no longer in the log');
    await recordEvent(trx, {
      ...hookEvent('event_hook.delivery.repeat', 'Send event to event hook again', hook, request),
      after: { deliveryId: id, eventId: delivery.eventId },
    });
    await queue(trx, hookId, delivery.eventId, id);
  });
}

/**
 * Sends an event of type `event_hook.test`, regardless of the hook's types.
 * @throws {ApiError} not found; wrong state: the hook receives no events
 */
export async function sendTestEvent(services: Services, hookId: string, request: RequestContext): Promise<void> {
  await changeEventHook(services, hookId, async (trx, hook) => {
    requireReceiving(hook);
    const eventId = await recordEvent(trx, hookEvent('event_hook.test', 'Send test event to event hook', hook, request));
    await queue(trx, hookId, eventId, randomUUID());
  });
}

function requireReceiving({ status, verificationStatus }: EventHook): void {
  if (status !== 'ACTIVE') throw wrongState('the event hook is inactive. Activate it first');
  if (verificationStatus !== 'VERIFIED') throw wrongState('the event hook is not verified. Verify it first');
}

const queue = (trx: Executor, hookId: string, eventId: string, deliveryId: string): Promise<void> =>
  insertEntry(trx, {
    kind: EVENT_HOOK,
    orderingKey: hookId,
    objectKey: null,
    payload: { hookId, eventId, deliveryId },
    created: present(),
  });
