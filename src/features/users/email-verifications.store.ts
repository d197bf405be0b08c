/** Links that verify an e-mail address, found by the digest of their token. The only SQL on that table. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';

export interface EmailVerification {
  /** SHA-256 of the token. */
  readonly id: string;
  readonly userId: string;
  /** The address that the link was sent to. */
  readonly email: string;
  /** The user's address when the link was created. */
  readonly replaces: string | null;
  readonly created: Date;
  readonly expiresAt: Date;
}

const COLUMNS: Columns<EmailVerification> = columns('id', 'userId', 'email', 'replaces', 'created', 'expiresAt');

/** Replaces the user's previous link. */
export async function replaceVerification(trx: Executor, verification: EmailVerification): Promise<void> {
  await trx('email_verifications').where({ user_id: verification.userId }).delete();
  await trx('email_verifications').insert(toRow(COLUMNS, verification));
}

/** Ends a pending change of the address: it may have been requested by another person. A link for the current address stays. */
export async function deletePendingAddress(executor: Executor, userId: string): Promise<void> {
  const present = executor('users').where({ id: userId }).whereRaw('users.email = email_verifications.email');
  await executor('email_verifications').where({ user_id: userId }).whereNotExists(present).delete();
}

/** @returns the link, if it was not used and has not expired */
export async function findVerification(executor: Executor, id: string, now: Date): Promise<EmailVerification | undefined> {
  return executor('email_verifications').where({ id }).where('expires_at', '>', now).first<EmailVerification | undefined>(COLUMNS);
}

/** Uses the link. @returns false if it was used before, or has expired */
export async function consumeVerification(trx: Executor, id: string, now: Date): Promise<boolean> {
  return (await trx('email_verifications').where({ id }).where('expires_at', '>', now).delete()) === 1;
}

/** @returns the number of deleted links, at most `limit` */
export async function deleteExpiredVerifications(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('email_verifications').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('email_verifications').whereIn('id', expired).delete();
}
