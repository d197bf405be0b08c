/**
 * Event hooks and the deliveries of each. The only SQL on these tables, except the statement that writes an event
 * (features/audit/audit.store.ts). Header values and secrets are stored sealed.
 */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { Delivery, DeliverySearch, EventHook } from './event-hooks.resource.ts';

const HOOK: Columns<EventHook> = {
  id: 'id',
  name: 'name',
  description: 'description',
  status: 'status',
  verificationStatus: 'verification_status',
  eventTypes: 'event_types',
  channel: 'channel',
  signingSecret: 'signing_secret_sealed',
  previousSecret: 'previous_secret_sealed',
  previousSecretUntil: 'previous_secret_until',
  createdBy: 'created_by',
  created: 'created',
  lastUpdated: 'last_updated',
};

export async function insertEventHook(executor: Executor, hook: EventHook): Promise<void> {
  await executor('event_hooks').insert(toRow(HOOK, hook));
}

export async function updateEventHookRow(
  executor: Executor,
  id: string,
  changes: Partial<Omit<EventHook, 'id' | 'createdBy' | 'created'>>,
): Promise<void> {
  await executor('event_hooks').where({ id }).update(toRow<EventHook>(HOOK, changes));
}

export async function deleteEventHookRow(executor: Executor, id: string): Promise<void> {
  await executor('event_hooks').where({ id }).delete();
}

export async function findEventHook(executor: Executor, id: string): Promise<EventHook | undefined> {
  return executor('event_hooks').where({ id }).first<EventHook | undefined>(HOOK);
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockEventHook(trx: Executor, id: string): Promise<EventHook | undefined> {
  return trx('event_hooks').where({ id }).forUpdate().first<EventHook | undefined>(HOOK);
}

/** Oldest first. */
export const selectEventHooks = (executor: Executor, window: Window): Promise<Page<EventHook>> =>
  readPage(executor('event_hooks'), HOOK, window);

/** Deliveries kept per hook, approximately: the rest is deleted once a minute. */
const DELIVERIES_KEPT = 10_000;

const DELIVERY: Columns<Delivery> = {
  hookId: 'hook_id',
  id: 'id',
  eventId: 'event_id',
  eventType: 'event_type',
  attempts: 'attempts',
  lastAttempt: 'last_attempt',
  latency: 'latency',
  status: 'status',
  response: 'response',
  error: 'error',
};

/** Records an attempt, replacing the previous one of the same delivery. */
export async function noteDelivery(trx: Executor, delivery: Omit<Delivery, 'attempts'>): Promise<void> {
  await trx('event_hook_deliveries')
    .insert(toRow<Delivery>(DELIVERY, { ...delivery, attempts: 1 }))
    .onConflict(['hook_id', 'id'])
    .merge({
      ...toRow<Delivery>(DELIVERY, delivery),
      attempts: trx.raw('event_hook_deliveries.attempts + 1'),
    });
}

// Remaining rows are only counted: a row that OFFSET skips would be locked too.
const SURPLUS = `DELETE FROM event_hook_deliveries WHERE (hook_id, id) IN (
    SELECT more.hook_id, more.id FROM event_hooks h
    CROSS JOIN LATERAL (
      SELECT last_attempt FROM event_hook_deliveries WHERE hook_id = h.id ORDER BY last_attempt DESC OFFSET :most - 1 LIMIT 1
    ) boundary
    CROSS JOIN LATERAL (
      SELECT hook_id, id FROM event_hook_deliveries WHERE hook_id = h.id AND last_attempt < boundary.last_attempt
      ORDER BY last_attempt LIMIT :limit FOR UPDATE SKIP LOCKED
    ) more)`;

/** Deletes deliveries beyond the number that is kept, those with the oldest last attempt first. @param limit of each hook @returns their number */
export const deleteSurplusDeliveries = async (executor: Executor, limit: number): Promise<number> =>
  (await executor.raw<{ rowCount: number }>(SURPLUS, { most: DELIVERIES_KEPT, limit })).rowCount;

/** Newest first; for a page by number, in the order of the window. */
export function listDeliveries(
  executor: Executor,
  hookId: string,
  { outcome, eventType, since, until, id }: DeliverySearch,
  window: Window,
): Promise<Page<Delivery>> {
  const query = executor('event_hook_deliveries').where({ hook_id: hookId });
  if (outcome === 'DELIVERED') query.whereBetween('status', ACCEPTED);
  if (outcome === 'FAILED') query.where((failed) => failed.whereNull('status').orWhereNotBetween('status', ACCEPTED));
  if (eventType !== undefined) query.where({ event_type: eventType });
  if (since !== undefined) query.where('last_attempt', '>=', since);
  if (until !== undefined) query.where('last_attempt', '<', until);
  if (id !== undefined) query.where((either) => either.where({ id }).orWhereRaw('event_id::text = ?', [id]));
  return readPage(query, DELIVERY, window, { descending: true, isFilled: true });
}

/** Responses by which a receiver accepts an event. */
const ACCEPTED = [200, 299] as const;

export const findDelivery = (executor: Executor, hookId: string, id: string): Promise<Delivery | undefined> =>
  executor('event_hook_deliveries').where({ hook_id: hookId, id }).first<Delivery | undefined>(DELIVERY);
