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
