/** Audit events: the fields of a record. */

export interface AuditEvent {
  readonly published: Date;
  /** Event type in Okta's System Log names, e.g. `user.lifecycle.create`. */
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

export interface StoredEvent extends Omit<AuditEvent, 'transactionId'> {
  readonly uuid: string;
  readonly transactionId: string | null;
}
