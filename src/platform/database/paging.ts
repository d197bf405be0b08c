/** Lists in pieces: rows in the order of their creation, each piece begun after the last row of the one before. New rows move none of them. */
import type { Knex } from 'knex';

/** Which piece of a list. */
export interface Window {
  readonly limit: number;
  /** Where the piece before ended; absent: from the beginning. */
  readonly after?: number | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Where this piece ended; undefined: nothing comes after it. */
  readonly next: number | undefined;
}

export interface Order {
  /** A unique number of each row, which the database counts up; `seq` unless given. */
  readonly by?: string;
  readonly descending?: boolean;
}

/**
 * Reads one piece.
 * @param query which rows, without columns, order or limit
 * @param columns what of each row, as knex aliases
 */
export async function readPage<T>(
  query: Knex.QueryBuilder,
  columns: Readonly<Record<string, string | Knex.Raw>>,
  { limit, after }: Window,
  { by = 'seq', descending = false }: Order = {},
): Promise<Page<T>> {
  // As bigint: a cursor beyond the column's type is the end of the list, not an error.
  if (after !== undefined) query.whereRaw(`?? ${descending ? '<' : '>'} ?::bigint`, [by, after]);
  const rows: (T & { place: number })[] = await query
    .select({ ...columns, place: by })
    .orderBy(by, descending ? 'desc' : 'asc')
    .limit(limit + 1);
  const kept = rows.slice(0, limit);
  const items = kept.map(({ place: _, ...item }) => item as T);
  return { items, next: rows.length > limit ? kept.at(-1)?.place : undefined };
}

/**
 * A piece of a list that was read whole: of one that is short, or whose order others decide. What is moved or taken away between two pieces moves those
 * behind it by one.
 */
export function inPages<T>(all: readonly T[], { limit, after = 0 }: Window): Page<T> {
  const end = after + limit;
  return { items: all.slice(after, end), next: end < all.length ? end : undefined };
}
