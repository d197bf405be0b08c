/**
 * Counts that triggers maintain: they write a row for each change (migrations 063, 075), and the sum of the rows is the number. The sum of the merged rows is also in
 * a table of totals (migration 094), whose index has the order of the numbers.
 */
import type { Knex } from 'knex';
import type { Executor } from './database.ts';
import { type NumberedPage, type NumberedWindow, readNumberedPage, readSlice, totalOf } from './paging.ts';

/** A table of differences `n`, and the column with their owner. */
export interface KeptCounts {
  readonly table: string;
  readonly owner: string;
  /** Table with the sum of the merged rows of each owner. */
  readonly totals: string;
}

/** @param id SQL expression of the owner's ID @returns SQL expression of the number, exact in every snapshot */
export const keptCount = ({ table, owner }: KeptCounts, id: string): string =>
  `(SELECT coalesce(sum(n), 0)::int FROM ${table} WHERE ${owner} = ${id})`;

/** Merges the rows of each owner into one, in one statement, so that sums are unchanged; does nothing while another process does. @returns number of owners, at most `limit` */
export async function foldCounts(executor: Executor, { table, owner }: KeptCounts, limit: number): Promise<number> {
  const { rows } = await executor.raw<{ rows: { count: number }[] }>(
    `WITH due AS (SELECT DISTINCT ${owner} FROM ${table} WHERE NOT folded AND (SELECT pg_try_advisory_xact_lock(hashtext('${table}'))) LIMIT :limit),
      mine AS MATERIALIZED (SELECT ctid AS place FROM ${table} WHERE ${owner} IN (SELECT ${owner} FROM due) FOR UPDATE SKIP LOCKED),
      taken AS (DELETE FROM ${table} WHERE ctid IN (SELECT place FROM mine) RETURNING ${owner}, n),
      sums AS (INSERT INTO ${table} (${owner}, n, folded) SELECT ${owner}, sum(n), true FROM taken GROUP BY ${owner} HAVING sum(n) <> 0)
      SELECT count(*)::int AS count FROM due`,
    { limit },
  );
  return rows[0]?.count ?? 0;
}

/** A list of owners with their numbers. */
interface CountedList {
  /** Which, without columns, order or limit. */
  readonly query: Knex.QueryBuilder;
  /** Does the query select all owners? */
  readonly isWhole: boolean;
  readonly columns: Readonly<Record<string, string>>;
  readonly window: NumberedWindow;
  /** As for `readNumberedPage`. */
  readonly orders: Readonly<Record<'members', string>>;
}

/** Reads a page by its number, in any order. Each row has its number as `members`. */
export async function readCountedPage<T>(
  executor: Executor,
  counts: KeptCounts,
  { query, isWhole, columns, window, orders }: CountedList,
): Promise<NumberedPage<T>> {
  const { page, size, sort, after } = window;
  const isByCount = sort?.by === 'members' && after === undefined;
  const total = isByCount || (isWhole && after === undefined) ? await totalOf(query) : undefined;
  if (total === undefined || !isByCount) {
    const counted = { ...columns, members: executor.raw(orders.members) };
    return readNumberedPage(query, counted, window, orders, { total, isNarrowed: !isWhole });
  }
  const slice = { offset: (page - 1) * size, size, descending: sort.descending, total };
  if (isWhole) return readByCount(query, counts, { ...columns, members: 'counted' }, slice);
  const { owner, totals } = counts;
  query.joinRaw(
    `JOIN (SELECT ${owner} AS merged_owner, n AS merged FROM ${totals}) merged ON merged_owner = id LEFT JOIN ${changesOf(counts)} ON changed_owner = id`,
  );
  const order = 'merged + coalesce(changed, 0)';
  return readSlice(query, { ...columns, members: executor.raw(`(${order})::int`) }, { ...slice, order });
}

/** The sum of the unmerged rows of each owner that has some, as SQL. */
const changesOf = ({ table, owner }: KeptCounts): string =>
  `(SELECT ${owner} AS changed_owner, sum(n)::bigint AS changed FROM ${table} WHERE NOT folded GROUP BY ${owner}) changes`;

/**
 * Reads most rows in the order of the index of totals and sorts the few owners with unmerged rows among them. The second half of a list is read from its end.
 * @param query all owners
 * @param columns `counted` is the number
 */
async function readByCount<T>(
  query: Knex.QueryBuilder,
  counts: KeptCounts,
  columns: Readonly<Record<string, string>>,
  { offset, size, descending, total }: { offset: number; size: number; descending: boolean; total: number },
): Promise<NumberedPage<T>> {
  const { table, owner, totals } = counts;
  const limit = Math.min(size, total - offset);
  if (limit <= 0) return { items: [], total };
  const isBackward = offset > total / 2;
  const skipped = isBackward ? total - offset - limit : offset;
  const inOrder = (isDescending: boolean): string => (isDescending ? 'counted DESC, counted_place DESC' : 'counted, counted_place');
  const order = inOrder(descending !== isBackward);
  const page = `SELECT * FROM (
    (SELECT ${owner} AS counted_owner, n AS counted, seq AS counted_place FROM ${totals} WHERE ${owner} NOT IN (SELECT ${owner} FROM ${table} WHERE NOT folded)
      ORDER BY ${order} LIMIT :most)
    UNION ALL SELECT ${owner}, n + changed, seq FROM ${totals} JOIN ${changesOf(counts)} ON changed_owner = ${owner}
  ) owners ORDER BY ${order} LIMIT :limit OFFSET :skipped`;
  const rows: Knex.QueryBuilder = query
    .joinRaw(`JOIN (SELECT counted_owner, counted::int, counted_place FROM (${page}) page) counts ON counted_owner = id`, {
      most: skipped + limit,
      limit,
      skipped,
    })
    .select(columns)
    .orderByRaw(inOrder(descending));
  const items: T[] = await rows;
  return { items, total };
}
