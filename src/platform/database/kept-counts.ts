/** Counts that the database keeps: triggers write a row for each change (migrations 063, 075), and the sum of the rows is the number. */
import type { Executor } from './database.ts';

/** A table of differences `n`, and its column that names what they belong to. */
export interface KeptCounts {
  readonly table: string;
  readonly owner: string;
}

/** @param id an expression: whose count @returns an expression: the number, exact in every snapshot */
export const keptCount = ({ table, owner }: KeptCounts, id: string): string =>
  `(SELECT coalesce(sum(n), 0)::int FROM ${table} WHERE ${owner} = ${id})`;

/** Adds the rows of each owner up to one, in one statement: the sums stay what they are. @returns of how many owners, at most `limit` */
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
