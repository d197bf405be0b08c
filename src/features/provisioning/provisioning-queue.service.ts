/** Everyone of an application, queued: who is not at the target as they should be, users who leave first. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import { hurryEntries } from '../outbox/outbox.store.ts';
import { PROVISIONING, putLeaversFirst, queueDifferences } from './provisioning-queue.store.ts';

/** Seconds that a delivery may take: some calls of up to five seconds each. */
export const TAKEN_FOR = 90;

/** Ends the pauses of what waits; what is under way is left alone. */
export async function queueAll(trx: Executor, applicationId: string): Promise<void> {
  const now = present();
  await queueDifferences(trx, applicationId, now);
  await hurryEntries(trx, { kind: PROVISIONING, orderingKey: applicationId }, now, new Date(now.getTime() + TAKEN_FOR * 1000));
  await putLeaversFirst(trx, applicationId, now);
}
