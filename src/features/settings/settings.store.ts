/** Settings of the whole service, stored by name. The only SQL on that table. */
import type pg from 'pg';
import { whileLocked } from '../../platform/database/advisory-lock.ts';
import type { Database, Executor } from '../../platform/database/database.ts';

type Value = Readonly<Record<string, unknown>>;

/** @returns the stored settings; undefined: none yet */
export async function findSettings(executor: Executor, name: string): Promise<Value | undefined> {
  const row = await executor('settings').where({ name }).first<{ value: Value } | undefined>('value');
  return row?.value;
}

/** Committed settings, regardless of the current transaction. @returns like `findSettings` */
export async function findCommittedSettings(pool: pg.Pool, name: string): Promise<Value | undefined> {
  const { rows } = await pool.query<{ value: Value }>({
    name: 'find-settings',
    text: 'SELECT value FROM settings WHERE name = $1',
    values: [name],
  });
  return rows[0]?.value;
}

/** Locks them, so that the second of two concurrent changes sees the first. Needs a transaction. @returns the former settings */
export async function lockSettings(executor: Executor, name: string, now: Date): Promise<Value> {
  await executor('settings').insert({ name, value: '{}', last_updated: now }).onConflict('name').ignore();
  const row = await executor('settings').where({ name }).forUpdate().first<{ value: Value } | undefined>('value');
  return row?.value ?? {};
}

export async function updateSettings(executor: Executor, name: string, value: Value, now: Date): Promise<void> {
  await executor('settings')
    .where({ name })
    .update({ value: JSON.stringify(value), last_updated: now });
}

// A row marks the first start as done. A lock lets one process at a time run it.

const LOCK = 0x66697273;
const MARK = 'first-start';

/** Runs `work` while no other process runs its own. */
export const withSettingsLock = <T>({ pool }: Database, work: () => Promise<T>): Promise<T> => whileLocked(pool, LOCK, work);

export async function isFirstStartDone(executor: Executor): Promise<boolean> {
  return (await executor('settings').where({ name: MARK }).first('name')) !== undefined;
}

export async function markFirstStartDone(executor: Executor, now: Date): Promise<void> {
  await executor('settings')
    .insert({ name: MARK, value: JSON.stringify({ done: true }), last_updated: now })
    .onConflict('name')
    .ignore();
}
