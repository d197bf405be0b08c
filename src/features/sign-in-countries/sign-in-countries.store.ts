/** The countries that users have signed in from. The only SQL on that table. */
import type { Executor } from '../../platform/database/database.ts';

/** @param since earlier sign-ins are ignored */
export async function findCountries(executor: Executor, userId: string, since: Date): Promise<ReadonlySet<string>> {
  const rows = await executor('sign_in_countries').where({ user_id: userId }).where('last_used', '>=', since).select('country');
  return new Set(rows.map(({ country }: { country: string }) => country));
}

/** Records a sign-in, and deletes countries of sign-ins before `since`. */
export async function rememberCountry(trx: Executor, userId: string, country: string, now: Date, since: Date): Promise<void> {
  await trx('sign_in_countries')
    .insert({ user_id: userId, country, last_used: now })
    .onConflict(['user_id', 'country'])
    .merge({ last_used: now });
  await trx('sign_in_countries').where({ user_id: userId }).where('last_used', '<', since).delete();
}
