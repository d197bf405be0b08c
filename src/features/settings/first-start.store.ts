/** The mark that a first start was carried to its end, and the lock under which one process carries it out while others wait. */
import { whileLocked } from '../../platform/database/advisory-lock.ts';
import type { Database, Executor } from '../../platform/database/database.ts';

const LOCK = 0x66697273;
const MARK = 'first-start';

/** Runs `work` while no other process runs any. */
export const alone = <T>({ pool }: Database, work: () => Promise<T>): Promise<T> => whileLocked(pool, LOCK, work);

export async function isFirstStartDone(executor: Executor): Promise<boolean> {
  return (await executor('settings').where({ name: MARK }).first('name')) !== undefined;
}

export async function markFirstStartDone(executor: Executor, now: Date): Promise<void> {
  await executor('settings')
    .insert({ name: MARK, value: JSON.stringify({ done: true }), last_updated: now })
    .onConflict('name')
    .ignore();
}
