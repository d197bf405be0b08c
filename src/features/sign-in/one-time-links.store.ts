/** Links that can be used once, found by the digest of their token. The only SQL on that table. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { LinkPurpose } from '../passwords/password-link.policy.ts';

export interface OneTimeLink {
  /** SHA-256 of the token. */
  readonly id: string;
  readonly purpose: LinkPurpose;
  readonly userId: string;
  /** Address of the e-mail; null: the user got the link in another way. */
  readonly mailedTo: string | null;
  readonly created: Date;
  readonly expiresAt: Date;
}

const LINK: Columns<OneTimeLink> = columns('id', 'purpose', 'userId', 'mailedTo', 'created', 'expiresAt');

export async function insertOneTimeLink(executor: Executor, link: OneTimeLink): Promise<void> {
  await executor('one_time_links').insert(toRow(LINK, link));
}

/** @returns the link, if it was not used and has not expired */
export async function findOneTimeLink(executor: Executor, id: string, now: Date): Promise<OneTimeLink | undefined> {
  return executor('one_time_links').where({ id }).where('expires_at', '>', now).first<OneTimeLink | undefined>(LINK);
}

/** Uses the link. @returns false if it was used before, or has expired */
export async function consumeLink(executor: Executor, id: string, now: Date): Promise<boolean> {
  return (await executor('one_time_links').where({ id }).where('expires_at', '>', now).delete()) === 1;
}

/** Ends all links of a user. */
export async function deleteLinksOf(executor: Executor, userId: string): Promise<void> {
  await executor('one_time_links').where({ user_id: userId }).delete();
}

/** @returns the number of deleted links, at most `limit` */
export async function deleteExpiredLinks(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('one_time_links').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('one_time_links').whereIn('id', expired).delete();
}
