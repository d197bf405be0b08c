/** The audit log for tests: events written by hand, sealed without waiting, and verified. */
import { SYSTEM } from '../../src/services/audit.ts';
import { eraseDue } from '../../src/services/audit-erasure.ts';
import { removeOldEvents } from '../../src/services/audit-retention.ts';
import { sealBatch } from '../../src/services/audit-seals.ts';
import { type NotedSeal, type Verification, verifyAuditLog } from '../../src/services/audit-verification.ts';
import type { Services } from '../../src/services/dependencies.ts';
import { insertAuditEvent } from '../../src/store/audit.ts';
import type { Executor } from '../../src/store/database.ts';

/** Writes an event about nobody, as a service would. */
export const happen = (executor: Executor, message: string, published = new Date()): Promise<void> =>
  insertAuditEvent(executor, {
    published,
    eventType: 'org.update',
    severity: 'INFO',
    displayMessage: message,
    actor: SYSTEM.actor,
    client: {},
    outcome: { result: 'SUCCESS' },
    target: [],
    debugContext: { before: { name: 'a' }, after: { name: message } },
  });

/** Seals all that there is, in batches of a size. */
export async function sealAll(services: Services, batch?: number): Promise<void> {
  while ((await sealBatch(services, batch))?.complete === false);
}

/** All that the sealer does in a round, at once. */
export async function keepLog(services: Services): Promise<void> {
  await sealAll(services);
  while (await eraseDue(services));
  while (await removeOldEvents(services));
}

export const verify = (services: Services, noted?: NotedSeal): Promise<Verification> => verifyAuditLog(services, noted);
