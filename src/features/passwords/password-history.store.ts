/** Hashes of the passwords that a user had before the present one. The only SQL on that table. */
import type { Executor } from '../../platform/database/database.ts';

/** @returns the newest hashes, at most `most` */
export async function findFormerHashes(executor: Executor, userId: string, most: number): Promise<readonly string[]> {
  return executor('password_history').where({ user_id: userId }).orderBy('seq', 'desc').limit(most).pluck('password_hash');
}

/** Remembers a hash that is replaced, and forgets the oldest. @param most hashes that are kept. Needs the user's row locked. */
export async function rememberFormerHash(trx: Executor, userId: string, passwordHash: string, most: number): Promise<void> {
  if (most > 0) await trx('password_history').insert({ user_id: userId, password_hash: passwordHash });
  const newest = trx('password_history').where({ user_id: userId }).orderBy('seq', 'desc').limit(most).select('seq');
  await trx('password_history').where({ user_id: userId }).whereNotIn('seq', newest).delete();
}
