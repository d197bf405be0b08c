/** The audit log for tests: events written by hand, sealed without waiting, and verified. */

import { insertAuditEvent } from '../../src/features/audit/audit.store.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { eraseDue, removeOldEvents } from '../../src/features/audit/audit-retention.service.ts';
import { sealBatch } from '../../src/features/audit/audit-seals.service.ts';
import { type AuditVerification, type ExternalSeal, verifyAuditLog } from '../../src/features/audit/audit-verification.service.ts';
import type { Executor } from '../../src/platform/database/database.ts';
import type { Services } from '../../src/platform/database/dependencies.ts';

/** Writes an event about nobody, as a service would. */
export const happen = (executor: Executor, message: string, published = new Date()): Promise<string> =>
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

export const verify = (services: Services, noted?: ExternalSeal): Promise<AuditVerification> => verifyAuditLog(services, noted);
