/** Writes what happened, who did it and from where, in the transaction of the change itself. Event types are named as in Okta's System Log. */
import { present } from '../clock.ts';
import type { Role } from '../policy/administration.ts';
import type { Decision } from '../policy/decisions.ts';
import type { EventType } from '../policy/event-types.ts';
import { type AuditEvent, insertAuditEvent } from '../store/audit.ts';
import type { Executor } from '../store/database.ts';
import { queueNoticeOf } from './mail.ts';

/** Who acts: a person, the service itself, or an application. */
export interface Actor {
  readonly id: string;
  readonly type: 'User' | 'SystemPrincipal' | 'PublicClientApp';
  readonly displayName: string;
}

/** Who asks and from where; made at the edge, once a request. */
export interface RequestContext {
  readonly actor: Actor;
  /** What an administrator may do; absent: nothing. */
  readonly roles?: readonly Role[];
  readonly ipAddress?: string;
  readonly userAgent?: string;
  /** Does the caller's program refuse values that Okta does not have? */
  readonly knowsOktaValuesOnly?: boolean;
  readonly requestId?: string;
  /** Did it come through a proxy? */
  readonly isForwarded?: boolean;
  /** BCP 47: of the page that it was made on. */
  readonly language?: string;
  /** Value of the browser's device cookie. */
  readonly device?: string;
}

/** The service acting by itself, e.g. at its first start. */
export const SYSTEM: RequestContext = {
  actor: { id: 'system', type: 'SystemPrincipal', displayName: 'Gatehouse' },
  roles: [{ type: 'SUPER_ADMIN' }],
};

/** Somebody who has not proved who he is. */
export const NOBODY: Actor = { id: 'unknown', type: 'User', displayName: 'unknown' };

export interface Event {
  readonly eventType: EventType;
  readonly displayMessage: string;
  readonly request: RequestContext;
  readonly targets?: readonly { readonly id: string; readonly type: string; readonly displayName: string }[];
  /** Present: it failed, and why. */
  readonly failure?: string;
  /** The resource as it was and as it is now, never with a secret or its hash. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** What decided, where something was decided. */
  readonly decision?: Decision | undefined;
}

/** With it goes the mail that tells its user. @param trx the transaction of the change that the event tells of */
export async function recordEvent(trx: Executor, event: Event): Promise<void> {
  await insertAuditEvent(trx, auditEvent(event));
  await queueNoticeOf(trx, event);
}

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
