/** How many members organizations have. The database writes a row for each change of memberships (migration 075); their sum is the number. */
import type { Executor } from '../../platform/database/database.ts';

/** @param o the alias of the organization's row @returns an expression: the number of its members, exact in every snapshot */
export const memberCountOf = (o: string): string => `(SELECT coalesce(sum(n), 0)::int FROM member_counts WHERE org_id = ${o}.id)`;

const FOLD = `WITH due AS (SELECT DISTINCT org_id FROM member_counts WHERE NOT folded LIMIT :limit),
  mine AS MATERIALIZED (SELECT ctid AS place FROM member_counts WHERE org_id IN (SELECT org_id FROM due) FOR UPDATE SKIP LOCKED),
  taken AS (DELETE FROM member_counts WHERE ctid IN (SELECT place FROM mine) RETURNING org_id, n),
  sums AS (INSERT INTO member_counts (org_id, n, folded) SELECT org_id, sum(n), true FROM taken GROUP BY org_id HAVING sum(n) <> 0)
  SELECT count(*)::int AS count FROM due`;

/** Adds the rows of organizations up to one each, in one statement: the sums stay what they are. @returns of how many, at most `limit` */
export async function foldMemberCounts(executor: Executor, limit: number): Promise<number> {
  const { rows } = await executor.raw<{ rows: { count: number }[] }>(FOLD, { limit });
  return rows[0]?.count ?? 0;
}
