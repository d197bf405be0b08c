/** Second factors with codes that are sent to the user. */
import type { MessageType } from './message-factors.policy.ts';

/** `DISABLED`: the sign-in policy does not allow the type. */
export type MessageFactorStatus = 'PENDING_ACTIVATION' | 'ACTIVE' | 'DISABLED';

export interface MessageFactor {
  readonly id: string;
  readonly userId: string;
  readonly type: MessageType;
  readonly status: MessageFactorStatus;
  /** Masked recipient of the codes. */
  readonly name: string;
  /** Encrypted phone number; see factor-codes.service.ts. */
  readonly numberSealed: string | null;
  readonly created: Date;
  readonly lastUsed: Date | null;
}
