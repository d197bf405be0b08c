/** The mark that a first start was carried to its end, and the lock under which one process carries it out while others wait. */
import type { Database, Executor } from '../../platform/database/database.ts';

const LOCK = 0x66697273;
const MARK = 'first-start';

/** Runs `work` while no other process runs any: a lock of the connection, freed also when the process dies. */
export async function alone<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    return await work();
  } finally {
    client.release(true);
  }
}

export async function isFirstStartDone(executor: Executor): Promise<boolean> {
  return (await executor('settings').where({ name: MARK }).first('name')) !== undefined;
}

export async function markFirstStartDone(executor: Executor, now: Date): Promise<void> {
  await executor('settings')
    .insert({ name: MARK, value: JSON.stringify({ done: true }), last_updated: now })
    .onConflict('name')
    .ignore();
}
