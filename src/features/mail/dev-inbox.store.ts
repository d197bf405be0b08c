/** E-mails of the dev inbox, sealed because they contain links. The only SQL on that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';

export interface StoredMail {
  readonly id: string;
  readonly sealed: string;
  readonly created: Date;
  readonly expiresAt: Date;
}

const COLUMNS: Columns<StoredMail> = { id: 'id', sealed: 'sealed', created: 'created', expiresAt: 'expires_at' };

/** A second delivery of the same e-mail is ignored. */
export async function insertMail(executor: Executor, mail: StoredMail): Promise<void> {
  await executor('dev_inbox').insert(toRow(COLUMNS, mail)).onConflict('id').ignore();
}

/** Newest first. */
export async function listMails(executor: Executor, now: Date, limit: number): Promise<StoredMail[]> {
  return executor('dev_inbox').where('expires_at', '>', now).orderBy('seq', 'desc').limit(limit).select<StoredMail[]>(COLUMNS);
}

export async function findMail(executor: Executor, id: string, now: Date): Promise<StoredMail | undefined> {
  return executor('dev_inbox').where({ id }).where('expires_at', '>', now).first<StoredMail | undefined>(COLUMNS);
}

/** @returns the number of deleted e-mails, at most `limit` */
export async function deleteExpiredMails(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('dev_inbox').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('seq');
  return executor('dev_inbox').whereIn('seq', expired).delete();
}
