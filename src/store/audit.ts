/** Audit events. The only SQL on that table; nothing here changes or removes one. */
import { randomUUID } from 'node:crypto';
import type { Executor } from './database.ts';

export interface AuditEvent {
  readonly published: Date;
  /** As Okta's System Log names it, e.g. `user.lifecycle.create`. */
  readonly eventType: string;
  readonly severity: 'INFO' | 'WARN' | 'ERROR';
  readonly displayMessage: string;
  readonly actor: { readonly id: string; readonly type: string; readonly displayName: string };
  readonly client: { readonly ipAddress?: string | undefined; readonly userAgent?: string | undefined };
  readonly outcome: { readonly result: 'SUCCESS' | 'FAILURE'; readonly reason?: string | undefined };
  readonly target: readonly { readonly id: string; readonly type: string; readonly displayName: string }[];
  readonly transactionId?: string | undefined;
  readonly debugContext: Readonly<Record<string, unknown>>;
}

export async function insertAuditEvent(executor: Executor, event: AuditEvent): Promise<void> {
  await executor('audit_events').insert({
    uuid: randomUUID(),
    published: event.published,
    event_type: event.eventType,
    severity: event.severity,
    display_message: event.displayMessage,
    actor: JSON.stringify(event.actor),
    client: JSON.stringify(event.client),
    outcome: JSON.stringify(event.outcome),
    target: JSON.stringify(event.target),
    transaction_id: event.transactionId ?? null,
    debug_context: JSON.stringify(event.debugContext),
  });
}
