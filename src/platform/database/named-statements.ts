/**
 * Locks applications, users and groups that policies and rules refer to, until the transaction ends. A locked object cannot be deleted, so
 * no reference to it is stored after its deletion has searched for them.
 */
import type { Executor } from './database.ts';

const TABLES = { application: 'applications', user: 'users', group: 'groups' } as const;

/** @returns the existing IDs, locked against deletion. Needs a transaction. */
export async function lockExisting(trx: Executor, kind: keyof typeof TABLES, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM ${TABLES[kind]} WHERE id = ANY(?::text[]) ORDER BY id FOR KEY SHARE`,
    [[...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}
