/** Work that only one process does at a time, while others wait (PostgreSQL manual, "Advisory Locks"). */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

const PAUSE_MS = 50;

/**
 * Runs `work` while no other process runs any with the same key. The lock belongs to a transaction, so a pooler in transaction mode is
 * possible, and the lock is released if the process dies.
 * @param pool has at least one more connection, for the work itself
 */
export async function whileLocked<T>(pool: pg.Pool, key: number, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    // Polls instead of waiting, in this isolation level, and without a parameter, which would keep the statement open. Otherwise a snapshot
    // would be held, which blocks a migration that creates an index concurrently.
    for (;;) {
      // The connection is idle during the work.
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0');
      const { rows } = await client.query<{ held: boolean }>(`SELECT pg_try_advisory_xact_lock(${key}) AS held`);
      if (rows[0]?.held === true) return await work();
      await client.query('ROLLBACK');
      await delay(PAUSE_MS);
    }
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    client.release(true);
  }
}
