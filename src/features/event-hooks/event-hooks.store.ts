/**
 * Event hooks and the last deliveries of each. The only SQL on these tables, except the statement that writes an event
 * (features/audit/audit.store.ts). Header values and secrets are stored sealed.
 */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { Delivery, EventHook } from './event-hooks.resource.ts';

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

/** Maximum deliveries kept per hook. */
const DELIVERIES_KEPT = 50;

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

/** Records an attempt, replacing the previous one of the same delivery, and deletes the oldest beyond the maximum. */
export async function noteDelivery(trx: Executor, delivery: Omit<Delivery, 'attempts'>): Promise<void> {
  const { hookId } = delivery;
  await trx('event_hook_deliveries')
    .insert(toRow<Delivery>(DELIVERY, { ...delivery, attempts: 1 }))
    .onConflict(['hook_id', 'id'])
    .merge({
      ...toRow<Delivery>(DELIVERY, delivery),
      attempts: trx.raw('event_hook_deliveries.attempts + 1'),
    });
  const oldestKeptSeals = trx('event_hook_deliveries')
    .where({ hook_id: hookId })
    .orderBy('last_attempt', 'desc')
    .offset(DELIVERIES_KEPT - 1)
    .limit(1)
    .select('last_attempt');
  await trx('event_hook_deliveries').where({ hook_id: hookId }).where('last_attempt', '<', oldestKeptSeals).delete();
}

/** Newest first. */
export const listDeliveries = (executor: Executor, hookId: string): Promise<Delivery[]> =>
  executor('event_hook_deliveries')
    .where({ hook_id: hookId })
    .orderBy([{ column: 'last_attempt', order: 'desc' }, 'id'])
    .limit(DELIVERIES_KEPT)
    .select<Delivery[]>(DELIVERY);

export const findDelivery = (executor: Executor, hookId: string, id: string): Promise<Delivery | undefined> =>
  executor('event_hook_deliveries').where({ hook_id: hookId, id }).first<Delivery | undefined>(DELIVERY);
