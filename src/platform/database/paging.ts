/** Lists in pages: rows in order of creation, each page starting after the last row of the previous one. New rows do not move others. */
import type { Knex } from 'knex';
import { applyWords, inAlphabet, matchesWords } from './words.ts';

/** @param query which rows, without columns, order or limit */
export const totalOf = async (query: Knex.QueryBuilder): Promise<number> =>
  (await query.clone().count<{ count: number }[]>({ count: '*' }).first())?.count ?? 0;

/** A page of a list. */
export interface Window {
  readonly limit: number;
  /** Cursor of the previous page; absent: first page. */
  readonly after?: number | undefined;
  /** Instead of a cursor: the page number, from 1. All rows are counted. Rows of a table are sorted newest first; other lists keep their order. */
  readonly page?: number | undefined;
  /** Only with a page number: a different order. */
  readonly sort?: RowSort | undefined;
  /** Only the rows that match. */
  readonly words?: WordSearch | undefined;
}

/** A search: each typed word must be a prefix of a word in one of these properties. */
export interface WordSearch {
  readonly by: readonly string[];
  readonly typed: string;
}

/** An order by one property of the rows. */
interface RowSort extends Sort {
  /** Text is sorted without regard to case and accents. */
  readonly isText: boolean;
  /** Instead: the property's possible codes in their order. Other values come last. */
  readonly codes?: readonly string[] | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; undefined: last page. */
  readonly next: number | undefined;
  /** Number of rows of all pages, for a page by number. */
  readonly total?: number | undefined;
}

/** The same page with converted items. */
export const mapPage = <T, U>({ items, next }: Page<T>, form: (item: T) => U): Page<U> => ({
  items: items.map((item) => form(item)),
  next,
});

export interface Order {
  /** A unique, increasing number of each row; `seq` by default. */
  readonly by?: string;
  readonly descending?: boolean;
  /** SQL to sort by, if it is not the column of the name. */
  readonly orders?: Readonly<Record<string, Knex.Raw>>;
  /** Replaces the search for words in the columns of their names. */
  readonly search?: ((query: Knex.QueryBuilder, typed: string) => void) | undefined;
  /** To count without a search: as many rows, without joined tables. */
  readonly counted?: Knex.QueryBuilder;
  /** Do all sortable columns have a value? PostgreSQL can then read an index of the order backwards. */
  readonly isFilled?: boolean;
}

/**
 * Reads one page.
 * @param query the rows, without columns, order or limit
 * @param columns of each row, as knex aliases
 */
export async function readPage<T>(
  query: Knex.QueryBuilder,
  columns: Readonly<Record<string, string | Knex.Raw>>,
  { limit, after, page, sort, words }: Window,
  { by = 'seq', descending = false, search = searchIn(columns, words), orders = {}, counted = query, isFilled }: Order = {},
): Promise<Page<T>> {
  const matching = query.clone();
  if (words !== undefined) search(matching, words.typed);
  if (page !== undefined) {
    const inOrder = (rows: Knex.QueryBuilder): Knex.QueryBuilder => {
      if (sort !== undefined) orderByRow(rows, { ...columns, ...orders }, sort, isFilled);
      return rows.orderBy(by, sort === undefined || sort.descending ? 'desc' : 'asc');
    };
    // First the rows, then their columns. Otherwise PostgreSQL computes the columns of the rows of all earlier pages, too. A search runs
    // once: the statement that finds the rows also counts them, unless the page is empty.
    const wanted = { place: by, ...(words !== undefined && { total: query.client.raw('count(*) OVER ()') }) };
    const places: { place: number; total?: number }[] = await inOrder(matching.clone().select(wanted))
      .limit(limit)
      .offset((page - 1) * limit);
    const total = places[0]?.total ?? (await totalOf(words === undefined ? counted : matching));
    const found = query.whereIn(
      by,
      places.map(({ place }) => place),
    );
    const items: T[] = places.length === 0 ? [] : await inOrder(found.select(columns));
    return { items, next: undefined, total };
  }
  // As bigint: a cursor beyond the column's type means the end of the list, not an error.
  if (after !== undefined) matching.whereRaw(`?? ${descending ? '<' : '>'} ?::bigint`, [by, after]);
  const rows: (T & { place: number })[] = await matching
    .select({ ...columns, place: by })
    .orderBy(by, descending ? 'desc' : 'asc')
    .limit(limit + 1);
  const kept = rows.slice(0, limit);
  const items = kept.map(({ place: _, ...item }) => item as T);
  return { items, next: rows.length > limit ? kept.at(-1)?.place : undefined };
}

const searchIn =
  (columns: Readonly<Record<string, string | Knex.Raw>>, words: WordSearch | undefined) =>
  (query: Knex.QueryBuilder, typed: string): void => {
    const names = (words?.by ?? []).map((name) => {
      const column = columns[name];
      if (typeof column !== 'string') throw new Error(`there is no search by ${name}`);
      return column;
    });
    applyWords(query, names, typed);
  };

/** Rows without a value come last. */
function orderByRow(query: Knex.QueryBuilder, columns: Readonly<Record<string, string | Knex.Raw>>, sort: RowSort, isFilled = false) {
  const { by, descending, isText, codes } = sort;
  const column = columns[by];
  if (column === undefined) throw new Error(`there is no order by ${by}`);
  const order = codes !== undefined ? inCodes(codes, '??') : isText ? inAlphabet('??') : '??';
  query.orderByRaw(`${order} ${descending ? 'DESC' : 'ASC'} ${isFilled ? '' : 'NULLS LAST'}`, [column]);
}

/** An expression that sorts codes in this order. @param codes constants of the program @param sql text expression */
export const inCodes = (codes: readonly string[], sql: string): string =>
  `array_position(ARRAY[${codes.map((code) => `'${code}'`).join(', ')}]::text[], ${sql})`;

/** A page by number, of a list in any order. Inserted or deleted rows move the others; use `readPage` if no row must be missed. */
export interface NumberedWindow {
  /** From 1. */
  readonly page: number;
  /** Rows of a page. */
  readonly size: number;
  readonly sort?: Sort | undefined;
  /** Instead of number and order: the rows after this one, in the order of a column that never changes. Nothing is counted. */
  readonly after?: Place | 'first' | undefined;
}

/** The position of a row in that order. */
interface Place {
  readonly place: number | string;
}

export interface Sort {
  readonly by: string;
  readonly descending: boolean;
}

export interface NumberedPage<T> {
  readonly items: readonly T[];
  /** Number of rows on all pages. */
  readonly total: number;
  /** With `after`: the last of these rows; undefined: no more rows. */
  readonly next?: Place | undefined;
}

/**
 * Reads one page by number, and counts the rows.
 * @param query the rows, without columns, order or limit
 * @param orders SQL expressions by the names that a list can be sorted by
 * @param facts deviations from a plain list
 */
export async function readNumberedPage<T>(
  query: Knex.QueryBuilder,
  columns: Readonly<Record<string, string | Knex.Raw>>,
  { page, size, sort, after }: NumberedWindow,
  orders: Readonly<Record<string, string>>,
  facts: Pick<Slice, 'by' | 'total' | 'isNarrowed'> = {},
): Promise<NumberedPage<T>> {
  if (after !== undefined) return readAfter(query, columns, { after, size, by: facts.by ?? 'seq' });
  const order = sort && orders[sort.by];
  if (sort === undefined || order === undefined) throw new Error(`there is no order by ${sort?.by}`);
  return readSlice(query, columns, { ...facts, offset: (page - 1) * size, size, order, descending: sort.descending });
}

/** Concurrent changes neither skip nor repeat rows. */
async function readAfter<T>(
  query: Knex.QueryBuilder,
  columns: Readonly<Record<string, string | Knex.Raw>>,
  { after, size, by }: { readonly after: Place | 'first'; readonly size: number; readonly by: string },
): Promise<NumberedPage<T>> {
  if (after !== 'first') query.where(by, '>', after.place);
  const rows: (T & Place)[] = await query
    .select({ ...columns, place: by })
    .orderBy(by)
    .limit(size);
  const last = rows.length === size ? rows.at(-1) : undefined;
  const items = rows.map(({ place: _, ...item }) => item as T);
  return { items, total: items.length, next: last && { place: last.place } };
}

/** Rows of a list in any order, from an offset. */
export interface Slice {
  readonly offset: number;
  readonly size: number;
  /** An SQL expression without parameters. */
  readonly order: string;
  readonly descending: boolean;
  /** A unique column for ties in the order; `seq` by default. */
  readonly by?: string;
  /** Number of rows of the whole list, if known; otherwise they are counted. */
  readonly total?: number | undefined;
  /** Few rows may match. An index of the order is then not used: PostgreSQL would go through all rows in that order until enough match. */
  readonly isNarrowed?: boolean;
}

/** Like `readNumberedPage`, from any row. */
export async function readSlice<T>(
  query: Knex.QueryBuilder,
  columns: Readonly<Record<string, string | Knex.Raw>>,
  { offset, size, order, descending, by = 'seq', total: known, isNarrowed = false }: Slice,
): Promise<NumberedPage<T>> {
  const direction = descending ? 'DESC' : 'ASC';
  // A whole list, whose number of rows is known, is sorted by columns that are never null, in the order of an index. NULLS LAST prevents
  // use of the index, which is right for a search: PostgreSQL would scan the list by the index until enough rows match.
  const nulls = known === undefined ? 'NULLS LAST' : '';
  const total = known ?? (await totalOf(query));
  if (size === 0 || offset >= total) return { items: [], total };
  const items: T[] = await query
    .select(columns)
    .orderByRaw(`${isNarrowed ? `(SELECT ${order})` : order} ${direction} ${nulls}, ${by} ${direction}`)
    .limit(size)
    .offset(offset);
  return { items, total };
}

/** A page of a list that is in memory: one that is short, or that others sort. Changes between two pages move the rows behind them. */
export function inPages<T extends object>(
  all: readonly T[],
  { limit, page, after = page === undefined ? 0 : (page - 1) * limit, sort, words }: Window,
): Page<T> {
  const end = after + limit;
  const found = words === undefined ? all : all.filter((item) => matchesWords(textsOf(item, words.by), words.typed));
  const items = (sort === undefined ? found : sorted(found, sort)).slice(after, end);
  return { items, next: end < found.length ? end : undefined, total: found.length };
}

const textsOf = (item: object, by: readonly string[]): string[] =>
  Object.entries(item)
    .filter(([name]) => by.includes(name))
    .flatMap(([, value]: [string, unknown]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => typeof value === 'string');

/** Rows without a value come last. */
function sorted<T extends object>(all: readonly T[], { by, descending, isText, codes }: RowSort): readonly T[] {
  if (all.length > 0 && !all.some((item) => by in item)) throw new Error(`there is no order by ${by}`);
  const read = (item: T): unknown => {
    const value = (item as Readonly<Record<string, unknown>>)[by] ?? undefined;
    const place = codes?.indexOf(String(value));
    return place === -1 ? undefined : (place ?? value);
  };
  const compared = (one: unknown, other: unknown): number =>
    isText && codes === undefined ? String(one).localeCompare(String(other), 'en', { numeric: true }) : Number(one) - Number(other);
  const [filled, empty] = [all.filter((item) => read(item) !== undefined), all.filter((item) => read(item) === undefined)];
  return [...filled.sort((one, other) => compared(read(one), read(other)) * (descending ? -1 : 1)), ...empty];
}
