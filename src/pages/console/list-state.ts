/** List state in an address: page, page size and sort order. Column headers and pager link to variations of it. */

import type { NumberedWindow, Page, Sort, WordSearch } from '../../platform/database/paging.ts';
import { counted, type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { Column, Pager, Search } from './detail-page.ts';

/** Selectable numbers of rows per page; the first is the default. */
const SIZES = [20, 50, 100] as const;
type Size = (typeof SIZES)[number];

/** A column that the list can be sorted by. */
export interface SortedBy<Order extends string> {
  readonly label: Text;
  readonly by: Order;
  /** The first click sorts in descending order. Set for everything except text: times, numbers, yes and no. */
  readonly descending?: boolean;
  /** Stored codes in the order of sorting, for columns whose texts differ from the stored values. */
  readonly codes?: readonly string[];
  /** The default sort column, in the direction of its first click. */
  readonly isFirst?: boolean;
  /** Is the column searched? */
  readonly searched?: boolean;
}

/** A property that only the search reads: a text, or several texts. */
interface SearchedBy {
  readonly label: Text;
  readonly searchedBy: string;
}

/** Column headers of a list. Those with an order can be sorted by. */
export type ListColumns<Order extends string = string> = readonly (Text | SortedBy<Order> | SearchedBy)[];

/** The search `q` of a URL, which keeps the order and the page size. */
function searchIn(query: URLSearchParams) {
  const q = (query.get('q') ?? '').trim();
  return { q, isNarrowed: q !== '', kept: keptOrder(query) };
}

const searchedBy = (columns: ListColumns): readonly string[] =>
  columns.flatMap((column) => (isSearched(column) ? [column.searchedBy] : isSorted(column) && column.searched === true ? [column.by] : []));

/** Words to find in the searched columns. Unprintable characters match nothing. */
export function wordSearchIn(query: URLSearchParams, columns: ListColumns): WordSearch | undefined {
  const by = searchedBy(columns);
  const { q, isNarrowed } = searchIn(query);
  return by.length > 0 && isNarrowed ? { by, typed: isPrintable(q) ? q : '' } : undefined;
}

/** The search form of a list. A list that fits on one page has none. */
export function searchOf(query: URLSearchParams, columns: ListColumns, total: number): Search | undefined {
  const search = searchIn(query);
  return searchedBy(columns).length > 0 && (search.isNarrowed || total > SIZES[0]) ? { label: 'Search', ...search } : undefined;
}

export interface ListState<Order extends string> extends NumberedWindow {
  readonly sort: Sort & { readonly by: Order };
}

const isSorted = <Order extends string>(column: ListColumns<Order>[number]): column is SortedBy<Order> =>
  typeof column === 'object' && 'by' in column;

const isSearched = (column: ListColumns[number]): column is SearchedBy => typeof column === 'object' && 'searchedBy' in column;

/** The column and direction in the URL; by default those of the list. */
export function sortIn<Order extends string>(query: URLSearchParams, columns: ListColumns<Order>) {
  const typed = query.get('sort') ?? '';
  const sorted = columns.filter(isSorted);
  const asked = sorted.find(({ by }) => by === typed.replace(/^-/, ''));
  const column = asked ?? sorted.find(({ isFirst }) => isFirst);
  if (column === undefined) return undefined;
  const { by, descending = false, codes } = column;
  return { by, descending: asked === undefined ? descending : typed.startsWith('-'), isText: !descending, codes };
}

/**
 * @param first default sort column
 * @param size default rows per page
 */
export function listState<Order extends string>(
  query: URLSearchParams,
  columns: ListColumns<Order>,
  first: Sort & { readonly by: Order },
  size: Size = SIZES[0],
): ListState<Order> {
  return { ...listPageIn(query, size), sort: sortIn(query, columns) ?? first };
}

/** Number and size of the page in the URL. @param size the default */
export function listPageIn(query: URLSearchParams, size: Size = SIZES[0]): Pick<NumberedWindow, 'page' | 'size'> {
  const page = query.get('page') ?? '';
  return { page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1, size: sizeIn(query, size) };
}

/** @param size the default */
export const sizeIn = (query: URLSearchParams, size: Size): Size => SIZES.find((one) => String(one) === query.get('size')) ?? size;

/** Runs the search `q` of an address. Unprintable characters match nothing. @param find without text: reads the whole list */
export async function searched<P extends Pick<Page<unknown>, 'items' | 'total'>>(
  query: URLSearchParams,
  find: (text: string | undefined) => Promise<P>,
) {
  const search = searchIn(query);
  const found = isPrintable(search.q) ? await find(search.isNarrowed ? search.q : undefined) : { items: [], total: 0 };
  return { search, ...found };
}

/** URL of the same list with one change; sorting and page size start at the first page again. */
function addressWith(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== 'page' && name !== 'after'));
  for (const [name, value] of Object.entries(changes)) kept.set(name, value);
  return kept.size === 0 ? path : `${path}?${kept}`;
}

/** Parameters that a search keeps: order and page size. */
export const keptOrder = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => name === 'sort' || name === 'size'));

/** Column headers. Those that the list can be sorted by are links. */
export const sortableColumns = <Order extends string>(
  path: string,
  query: URLSearchParams,
  columns: ListColumns<Order>,
  { sort }: { readonly sort: Sort | undefined },
): readonly Column[] =>
  columns.map((column) => {
    if (isSearched(column)) return column.label;
    if (!isSorted(column)) return column;
    const isCurrent = sort?.by === column.by;
    const descends = isCurrent ? !sort.descending : (column.descending ?? false);
    return {
      label: column.label,
      href: addressWith(path, query, { sort: `${descends ? '-' : ''}${column.by}` }),
      sorted: isCurrent ? (sort.descending ? 'descending' : 'ascending') : undefined,
    };
  });

/** Links to the page sizes. */
export const sizeLinks = (path: string, query: URLSearchParams, size: number): NonNullable<Pager['sizes']> =>
  SIZES.map((one) => ({ label: String(one), href: addressWith(path, query, { size: String(one) }), current: one === size }));

/** Links to other pages, and the page size. */
export function numberedPager(
  path: string,
  query: URLSearchParams,
  { page, size }: Pick<NumberedWindow, 'page' | 'size'>,
  total: number,
): Pager {
  const pages = Math.max(1, Math.ceil(total / size));
  const to = (number: number) => addressWith(path, query, { page: String(number) });
  return {
    first: page > 2 ? to(1) : undefined,
    previous: page > 1 ? to(Math.min(page - 1, pages)) : undefined,
    words: pages === 1 && page === 1 ? undefined : phrase('Page {page} of {pages}', { page, pages }),
    next: page < pages ? to(page + 1) : undefined,
    sizes: total > SIZES[0] ? sizeLinks(path, query, size) : [],
  };
}

/** “5,002 users”. */
export const countOf = (total: number, singular: string, plural = `${singular.replace(/(?<=[^aeiou])y$/, 'ie')}s`): Phrase =>
  counted(total, `{count} ${singular}`, `{count} ${plural}`);
