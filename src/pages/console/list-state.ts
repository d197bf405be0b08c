/** List state in an address: page, page size and sort order. Column headers and pager link to variations of it. */

import type { NumberedPage, NumberedWindow, RowWords, Sort } from '../../platform/database/paging.ts';
import { counted, type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { Column, Pager, TablePart } from './detail-page.ts';

/** Rows of a page that one can choose from; the first is the default. */
const SIZES = [20, 50, 100] as const;
type Size = (typeof SIZES)[number];

/** A column that the list can be sorted by. */
export interface SortedBy<Order extends string> {
  readonly label: Text;
  readonly by: Order;
  /** Is the first click from the last to the first? Set for all that is no text: times, numbers, yes and no. */
  readonly descending?: boolean;
  /** Does the search above a long list find its words? */
  readonly searched?: boolean;
}

/** Heads of the columns of a list; those of objects sort it. */
export type ListColumns<Order extends string = string> = readonly (Text | SortedBy<Order>)[];

/** The search `q` of an address in the columns that are searched; unprintable characters match nothing. */
export function wordsIn(query: URLSearchParams, columns: ListColumns): RowWords | undefined {
  const by = columns.flatMap((column) => (isSorted(column) && column.searched === true ? [column.by] : []));
  const typed = (query.get('q') ?? '').trim();
  return by.length === 0 || typed === '' ? undefined : { by, typed: isPrintable(typed) ? typed : '' };
}

/** The form of that search: above a list of more than one page, and above what was found. */
export function searchOf(query: URLSearchParams, columns: ListColumns, total: number): TablePart['search'] {
  const isNarrowed = wordsIn(query, columns) !== undefined;
  const isSearched = columns.some((column) => isSorted(column) && column.searched === true);
  if (!isSearched || !(isNarrowed || total > SIZES[0])) return undefined;
  return { label: 'Search', q: (query.get('q') ?? '').trim(), isNarrowed, kept: keptOrder(query) };
}

export interface ListState<Order extends string> extends NumberedWindow {
  readonly sort: Sort & { readonly by: Order };
}

const isSorted = <Order extends string>(column: Text | SortedBy<Order>): column is SortedBy<Order> =>
  typeof column === 'object' && 'by' in column;

/** The sortable column that an address names, and the direction. */
export function sortIn<Order extends string>(query: URLSearchParams, columns: ListColumns<Order>) {
  const typed = query.get('sort') ?? '';
  const column = columns.filter(isSorted).find(({ by }) => by === typed.replace(/^-/, ''));
  return column && { by: column.by, descending: typed.startsWith('-'), isText: column.descending !== true };
}

/**
 * @param first what the list is sorted by where the address does not say it
 * @param size rows of a page where it does not say that
 */
export function listState<Order extends string>(
  query: URLSearchParams,
  columns: ListColumns<Order>,
  first: Sort & { readonly by: Order },
  size: Size = SIZES[0],
): ListState<Order> {
  return { ...listPageIn(query, size), sort: sortIn(query, columns) ?? first };
}

/** Number and size of the page that an address asks for. @param size the default */
export function listPageIn(query: URLSearchParams, size: Size = SIZES[0]): Pick<NumberedWindow, 'page' | 'size'> {
  const page = query.get('page') ?? '';
  return { page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1, size: sizeIn(query, size) };
}

/** @param size the default */
export const sizeIn = (query: URLSearchParams, size: Size): Size => SIZES.find((one) => String(one) === query.get('size')) ?? size;

/** Runs the search `q` of an address; unprintable characters match nothing. @param search without text: reads the whole list */
export async function searched<T>(query: URLSearchParams, search: (text: string | undefined) => Promise<NumberedPage<T>>) {
  const q = (query.get('q') ?? '').trim();
  const found = isPrintable(q) ? await search(q === '' ? undefined : q) : { items: [], total: 0 };
  return { q, ...found };
}

/** An address of the same list, with one thing changed; sorting and sizing begin at the first page again. */
function addressWith(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== 'page' && name !== 'after'));
  for (const [name, value] of Object.entries(changes)) kept.set(name, value);
  return kept.size === 0 ? path : `${path}?${kept}`;
}

/** Parameters that a search keeps: order and page size. */
export const keptOrder = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => name === 'sort' || name === 'size'));

/** The heads of the columns: links where the list can be sorted by them. */
export const sortableColumns = <Order extends string>(
  path: string,
  query: URLSearchParams,
  columns: ListColumns<Order>,
  { sort }: { readonly sort: Sort | undefined },
): readonly Column[] =>
  columns.map((column) => {
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

/** The way from page to page, and how many rows a page has. */
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
export const countOf = (total: number, singular: string, plural = `${singular}s`): Phrase =>
  counted(total, `{count} ${singular}`, `{count} ${plural}`);
