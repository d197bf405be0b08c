/** Counts that triggers maintain: they write a row for each change (migrations 063, 075), and the sum of the rows is the number. */
import type { Executor } from './database.ts';

/** A table of differences `n`, and the column with their owner. */
export interface KeptCounts {
  readonly table: string;
  readonly owner: string;
}

/** @param id SQL expression of the owner's ID @returns SQL expression of the number, exact in every snapshot */
export const keptCount = ({ table, owner }: KeptCounts, id: string): string =>
  `(SELECT coalesce(sum(n), 0)::int FROM ${table} WHERE ${owner} = ${id})`;

/** Merges the rows of each owner into one, in one statement, so that sums are unchanged. @returns number of owners, at most `limit` */
export async function foldCounts(executor: Executor, { table, owner }: KeptCounts, limit: number): Promise<number> {
  const { rows } = await executor.raw<{ rows: { count: number }[] }>(
    `WITH due AS (SELECT DISTINCT ${owner} FROM ${table} WHERE NOT folded LIMIT :limit),
      mine AS MATERIALIZED (SELECT ctid AS place FROM ${table} WHERE ${owner} IN (SELECT ${owner} FROM due) FOR UPDATE SKIP LOCKED),
      taken AS (DELETE FROM ${table} WHERE ctid IN (SELECT place FROM mine) RETURNING ${owner}, n),
      sums AS (INSERT INTO ${table} (${owner}, n, folded) SELECT ${owner}, sum(n), true FROM taken GROUP BY ${owner} HAVING sum(n) <> 0)
      SELECT count(*)::int AS count FROM due`,
    { limit },
  );
  return rows[0]?.count ?? 0;
}
