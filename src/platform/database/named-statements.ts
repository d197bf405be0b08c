/**
 * Whom policies and rules name: applications, users, groups. A name that is locked here is not deleted until the transaction ends, so that none is
 * written down after its deletion looked for it.
 */
import type { Executor } from './database.ts';

const TABLES = { application: 'applications', user: 'users', group: 'groups' } as const;

/** @returns those of the ids that exist, each kept from deletion by a lock. Needs a transaction. */
export async function lockExisting(trx: Executor, kind: keyof typeof TABLES, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM ${TABLES[kind]} WHERE id = ANY(?::text[]) ORDER BY id FOR KEY SHARE`,
    [[...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}
