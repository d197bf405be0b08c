/** Signal streams (Shared Signals Framework 1.0): the fields of a record. */
import type { SignalType } from './signals.policy.ts';

export const STREAM_STATUSES = ['ENABLED', 'PAUSED', 'DISABLED'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

/** Event that reports the current status of a stream to its receiver (SSF 1.0 section 8.1.5). */
export const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';
export const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';

/** Content of a security event token. */
export interface SecurityEvent {
  readonly jti: string;
  /** The same for all events with one cause. */
  readonly txn: string;
  readonly type: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Absent: the event is about the stream itself. */
  readonly userId?: string;
}

/** Reason of the service when it disables a stream. */
export const RECEIVER_GONE = 'The receiver answered 410';

export interface SignalStream {
  readonly id: string;
  /** The receiver: `aud` of its events. Users have its `sub`. */
  readonly applicationId: string;
  readonly description: string;
  readonly status: StreamStatus;
  /** Reason, if given. */
  readonly statusReason: string | null;
  /** RFC 8935 or RFC 8936. */
  readonly method: 'PUSH' | 'POLL';
  /** Address for pushed events; null: events are polled. */
  readonly endpointUrl: string | null;
  /** Encrypted value of the header `Authorization`; null: none is sent. */
  readonly authorization: string | null;
  /** As requested by the receiver, possibly with unknown types. */
  readonly eventsRequested: readonly string[];
  /** Delivered event types. */
  readonly events: readonly SignalType[];
  /** The types of audit events that cause these events. */
  readonly sources: readonly string[];
  /** Maximum number of users that the receiver has removed; fewer if some of them are deleted. */
  readonly removedAtMost: number;
  readonly lastVerification: Date | null;
  readonly lastDelivered: Date | null;
  readonly lastFailed: Date | null;
  readonly lastError: string | null;
  readonly created: Date;
  readonly lastUpdated: Date;
}
