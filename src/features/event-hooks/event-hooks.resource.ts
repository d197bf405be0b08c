/** Event hooks: the fields of a record, and those that they share with inline hooks. */

/** Deliveries of event hooks: the fields of a record. */
export interface Delivery {
  readonly hookId: string;
  /** `webhook-id`: the same at each attempt. */
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly attempts: number;
  readonly lastAttempt: Date;
  /** Milliseconds until the response, or until the last attempt failed. */
  readonly latency: number;
  /** null: there was no response. */
  readonly status: number | null;
  /** The first kilobyte of the response. */
  readonly response: string;
  /** Why there was no response. */
  readonly error: string | null;
}

/** By the last attempt: the receiver accepted the event, or it did not. */
export const DELIVERY_OUTCOMES = ['DELIVERED', 'FAILED'] as const;

export interface DeliverySearch {
  readonly outcome?: (typeof DELIVERY_OUTCOMES)[number] | undefined;
  readonly eventType?: string | undefined;
  /** The last attempt was at this time or later. */
  readonly since?: Date | undefined;
  /** The last attempt was before this time. */
  readonly until?: Date | undefined;
  /** `webhook-id`, or the ID of the event. */
  readonly id?: string | undefined;
}

/** Kind of sender; part of the encryption context of hook secrets. */
export type HookKind = 'event_hook' | 'inline_hook' | 'telephony';

export type HookStatus = 'ACTIVE' | 'INACTIVE';

export interface SealedHeader {
  readonly key: string;
  /** Sealed in the context of features/event-hooks/hook-secrets.service.ts. */
  readonly sealed: string;
}

/** Address and headers of a hook. */
export interface HookChannel {
  readonly uri: string;
  readonly headers: readonly SealedHeader[];
  readonly authScheme: SealedHeader | null;
}

/** Signing secrets of a hook. */
export interface SigningSecrets {
  readonly id: string;
  /** Sealed current secret. */
  readonly signingSecret: string;
  /** Sealed previous secret; requests are also signed with it until `previousSecretUntil`. */
  readonly previousSecret: string | null;
  readonly previousSecretUntil: Date | null;
}

export interface EventHook extends SigningSecrets {
  readonly name: string;
  readonly description: string;
  readonly status: HookStatus;
  readonly verificationStatus: 'UNVERIFIED' | 'VERIFIED';
  readonly eventTypes: readonly string[];
  readonly channel: HookChannel;
  readonly createdBy: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}
