/** The origins whose pages may read what the OAuth endpoints answer: the setting `allowed_origins` of the applications. */
import type { Executor } from './database.ts';

/** Has any active application registered this origin? */
export async function isOriginRegistered(executor: Executor, origin: string): Promise<boolean> {
  const row = await executor('applications')
    .where({ status: 'ACTIVE' })
    .whereRaw(`settings->'allowed_origins' @> ?::jsonb`, [JSON.stringify([origin])])
    .first('id');
  return row !== undefined;
}
