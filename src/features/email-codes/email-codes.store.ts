/** Codes by e-mail, found by the digest of the browser's token or of the link's token. The only SQL on that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';

/** Purpose of a code. */
export type CodePurpose = 'SIGN_IN' | 'SIGN_UP';

export interface EmailCode {
  /** SHA-256 of the browser's token. */
  readonly id: string;
  /** SHA-256 of the token in the link. */
  readonly linkId: string;
  /** `FACTOR`: the second factor of a pending sign-in, or one that is being set up. */
  readonly purpose: CodePurpose | 'FACTOR';
  /** SHA-256 of the place to continue at; the browser's token is invalid elsewhere. */
  readonly place: string;
  /** SHA-256 of the requesting browser's device cookie. */
  readonly deviceHash: string;
  /** User to sign in; null: no user found, or a sign-up. */
  readonly userId: string | null;
  /** Address that the code was sent to; null: not sent yet. Without it no code is accepted. */
  readonly mailedTo: string | null;
  /** Encrypted content (`CodeContent` in features/email-codes/email-codes.service.ts). */
  readonly sealed: string;
  /** Number of submitted codes. */
  readonly attempts: number;
  readonly created: Date;
  readonly expiresAt: Date;
}

const CODE: Columns<EmailCode> = {
  id: 'id',
  linkId: 'link_id',
  purpose: 'purpose',
  place: 'place',
  deviceHash: 'device_hash',
  userId: 'user_id',
  mailedTo: 'mailed_to',
  sealed: 'sealed',
  attempts: 'attempts',
  created: 'created',
  expiresAt: 'expires_at',
};

/** Identifies the code of the browser that requested it. */
export type CodeKey = Pick<EmailCode, 'id' | 'place' | 'deviceHash'>;

export async function insertCode(executor: Executor, code: EmailCode): Promise<void> {
  await executor('email_codes').insert(toRow(CODE, code));
}

/** @returns the code, if it has neither been used nor expired */
export async function findCode(executor: Executor, key: CodeKey, now: Date): Promise<EmailCode | undefined> {
  const { id, place, deviceHash } = key;
  const living = executor('email_codes').where({ id, place, device_hash: deviceHash }).where('expires_at', '>', now);
  return living.first<EmailCode | undefined>(CODE);
}

export async function findCodeById(executor: Executor, id: string, now: Date): Promise<EmailCode | undefined> {
  return executor('email_codes').where({ id }).where('expires_at', '>', now).first<EmailCode | undefined>(CODE);
}

export async function findCodeOfLink(executor: Executor, linkId: string, now: Date): Promise<EmailCode | undefined> {
  return executor('email_codes').where({ link_id: linkId }).where('expires_at', '>', now).first<EmailCode | undefined>(CODE);
}

/** Counts a submitted code before it is compared; concurrent ones are all counted. @returns undefined if there were already `most` */
export async function countAttempt(executor: Executor, key: CodeKey, most: number, now: Date): Promise<EmailCode | undefined> {
  const { id, place, deviceHash } = key;
  const counted = executor('email_codes')
    .where({ id, place, device_hash: deviceHash })
    .where('expires_at', '>', now)
    .where('attempts', '<', most);
  return (await counted.increment('attempts', 1)) === 1 ? findCode(executor, key, now) : undefined;
}

/** Records that the code was mailed. @returns false if it has been used or has expired */
export async function noteMailed(trx: Executor, id: string, changes: Pick<EmailCode, 'userId' | 'mailedTo' | 'sealed'>): Promise<boolean> {
  return (await trx('email_codes').where({ id }).update(toRow<EmailCode>(CODE, changes))) === 1;
}

/** Uses the code: of concurrent uses one succeeds. @returns false if it was used before, or does not exist */
export async function deleteCode(executor: Executor, id: string): Promise<boolean> {
  return (await executor('email_codes').where({ id }).delete()) === 1;
}

/** Ends all codes of a user. */
export async function deleteCodesOf(executor: Executor, userId: string): Promise<void> {
  await executor('email_codes').where({ user_id: userId }).delete();
}

/** Ends the codes of a user's second factors. */
export async function deleteFactorCodesOf(executor: Executor, userId: string): Promise<void> {
  await executor('email_codes').where({ user_id: userId, purpose: 'FACTOR' }).delete();
}

/** @returns the number of deleted codes, at most `limit` */
export async function deleteExpiredCodes(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('email_codes').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('email_codes').whereIn('id', expired).delete();
}
