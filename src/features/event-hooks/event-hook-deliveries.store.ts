/** The last deliveries of each event hook. The only SQL on that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Delivery } from './event-hook-deliveries.resource.ts';

/** Limit per hook. */
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

/** Notes an attempt, in place of the one before of the same delivery, and removes the oldest beyond those that are kept. */
export async function noteDelivery(trx: Executor, delivery: Omit<Delivery, 'attempts'>): Promise<void> {
  const { hookId } = delivery;
  await trx('event_hook_deliveries')
    .insert(toRow<Delivery>(DELIVERY, { ...delivery, attempts: 1 }))
    .onConflict(['hook_id', 'id'])
    .merge({
      ...toRow<Delivery>(DELIVERY, delivery),
      attempts: trx.raw('event_hook_deliveries.attempts + 1'),
    });
  const oldestKept = trx('event_hook_deliveries')
    .where({ hook_id: hookId })
    .orderBy('last_attempt', 'desc')
    .offset(DELIVERIES_KEPT - 1)
    .limit(1)
    .select('last_attempt');
  await trx('event_hook_deliveries').where({ hook_id: hookId }).where('last_attempt', '<', oldestKept).delete();
}

/** The newest first. */
export const listDeliveries = (executor: Executor, hookId: string): Promise<Delivery[]> =>
  executor('event_hook_deliveries')
    .where({ hook_id: hookId })
    .orderBy([{ column: 'last_attempt', order: 'desc' }, 'id'])
    .limit(DELIVERIES_KEPT)
    .select<Delivery[]>(DELIVERY);

export const findDelivery = (executor: Executor, hookId: string, id: string): Promise<Delivery | undefined> =>
  executor('event_hook_deliveries').where({ hook_id: hookId, id }).first<Delivery | undefined>(DELIVERY);
