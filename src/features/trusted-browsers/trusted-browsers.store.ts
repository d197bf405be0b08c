/** Trusted browsers, found by the digests of their tokens. The only SQL on that table. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { TrustedBrowser } from './trusted-browsers.resource.ts';

const TRUSTED_BROWSER: Columns<TrustedBrowser> = columns('id', 'userId', 'userAgent', 'ipAddress', 'created', 'lastUsed', 'expiresAt');

/** @param since excludes browsers that were trusted before @returns the user's browsers, newest first */
export async function listTrustedBrowsers(executor: Executor, userId: string, since: Date, now: Date): Promise<TrustedBrowser[]> {
  return executor('trusted_browsers')
    .where({ user_id: userId })
    .where('created', '>', since)
    .where('expires_at', '>', now)
    .orderBy('seq', 'desc')
    .select<TrustedBrowser[]>(TRUSTED_BROWSER);
}

/** Adds one, and forgets the oldest. @param most of one user. Needs the user's row locked. */
export async function insertTrustedBrowser(trx: Executor, browser: TrustedBrowser, tokenHash: string, most: number): Promise<void> {
  await trx('trusted_browsers').insert({ ...toRow(TRUSTED_BROWSER, browser), token_hash: tokenHash });
  const newest = trx('trusted_browsers').where({ user_id: browser.userId }).orderBy('seq', 'desc').limit(most).select('id');
  await trx('trusted_browsers').where({ user_id: browser.userId }).whereNotIn('id', newest).delete();
}

/** Selects those of these tokens that are valid for the user. */
const validTokens = (executor: Executor, userId: string, tokenHashes: readonly string[], since: Date, now: Date) =>
  executor('trusted_browsers')
    .where({ user_id: userId })
    .whereIn('token_hash', tokenHashes)
    .where('created', '>', since)
    .where('expires_at', '>', now);

/** Records a sign-in with one of these tokens. @returns false if none is valid for the user */
export async function touchTrustedBrowser(
  trx: Executor,
  userId: string,
  tokenHashes: readonly string[],
  since: Date,
  now: Date,
): Promise<boolean> {
  return (await validTokens(trx, userId, tokenHashes, since, now).update({ last_used: now })) > 0;
}

export async function isTrustedToken(
  executor: Executor,
  userId: string,
  tokenHashes: readonly string[],
  since: Date,
  now: Date,
): Promise<boolean> {
  return (await validTokens(executor, userId, tokenHashes, since, now).first('id')) !== undefined;
}

/** @returns false when the user has no such browser */
export async function deleteTrustedBrowser(trx: Executor, userId: string, id: string): Promise<boolean> {
  return (await trx('trusted_browsers').where({ user_id: userId, id }).delete()) === 1;
}

/** @returns how many there were */
export async function deleteTrustedBrowsersOf(executor: Executor, userId: string): Promise<number> {
  return executor('trusted_browsers').where({ user_id: userId }).delete();
}

/** @returns the number removed, at most `limit` */
export async function deleteExpiredTrustedBrowsers(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('trusted_browsers').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('trusted_browsers').whereIn('id', expired).delete();
}
