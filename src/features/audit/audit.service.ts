/** Writes what happened, who did it and from where, in the transaction of the change itself. Event types are named as in Okta's System Log. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import { queueNoticeOf } from '../mail/mail.service.ts';
import { insertAuditEvent, insertAuditEvents } from './audit.store.ts';
import type { Event } from './audit-event.policy.ts';
import type { AuditEvent } from './events.resource.ts';

/** Requests that have recorded an event. */
const recorded = new WeakSet<object>();

/** Has the request recorded an event? A request that changes nothing records none. */
export const hasRecorded = (request: object): boolean => recorded.has(request);

/** Also queues the notification e-mail. @param trx the transaction of the change @returns the event's ID */
export async function recordEvent(trx: Executor, event: Event): Promise<string> {
  const uuid = await insertAuditEvent(trx, auditEvent(event));
  await queueNoticeOf(trx, event);
  recorded.add(event.request);
  return uuid;
}

/** Several events in one statement, of types without notification e-mails, such as imports. */
export const recordQuietEvents = (trx: Executor, events: readonly Event[]): Promise<void> => insertAuditEvents(trx, events.map(auditEvent));

/** An event as it is stored. */
export function auditEvent(event: Event): AuditEvent {
  const { actor, ipAddress, userAgent, requestId } = event.request;
  return {
    published: present(),
    eventType: event.eventType,
    severity: event.failure === undefined ? 'INFO' : 'WARN',
    displayMessage: event.displayMessage,
    actor,
    client: { ipAddress, userAgent },
    outcome: event.failure === undefined ? { result: 'SUCCESS' } : { result: 'FAILURE', reason: event.failure },
    target: event.targets ?? [],
    transactionId: requestId,
    debugContext: { before: event.before, after: event.after, decision: event.decision },
  };
}
