/** Users: the fields of a record. */
import type { UserStatus } from './user-lifecycle.policy.ts';

/** null: not set, or has not come yet. */
export interface User {
  readonly id: string;
  /** Unique, whatever the case of its letters. */
  readonly login: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** As it is stored; see `statusAt` for who is locked out. */
  readonly status: UserStatus;
  /** After too many wrong passwords; may have passed. */
  readonly lockedUntil: Date | null;
  /** All further attributes of the profile; login and email are columns of their own. */
  readonly profile: Readonly<Record<string, string>>;
  readonly passwordHash: string | null;
  readonly passwordChanged: Date | null;
  readonly created: Date;
  readonly activated: Date | null;
  readonly statusChanged: Date | null;
  readonly lastLogin: Date | null;
  readonly lastUpdated: Date;
}

/** What users can be sorted by. */
export type UserOrder = 'login' | 'name' | 'email' | 'status' | 'created' | 'lastLogin';
