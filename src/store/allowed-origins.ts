/** The origins whose pages may read what the OAuth endpoints answer: the setting `allowed_origins` of the applications. */
import { whoRegistered } from './applications.ts';
import type { Executor } from './database.ts';

/** Has any active application registered this origin? */
export async function isOriginRegistered(executor: Executor, origin: string): Promise<boolean> {
  return (await whoRegistered(executor, 'allowed_origins', origin)) !== undefined;
}
