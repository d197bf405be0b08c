/** Lists in pages: the page in the URL, and the links to others. */
import { openCursor, sealCursor } from '../../platform/crypto/cursors.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import type { Pager, TablePart } from './detail-page.ts';
import { countOf, type ListColumns, listPageIn, numberedPager, searchOf, sortableColumns, sortIn, wordSearchIn } from './list-state.ts';
import type { ConsoleRequest } from './page.ts';

/** Rows of a page. */
export const LIMIT = 20;

const PARAMETER = 'after';

type Visit = Pick<ConsoleRequest, 'services' | 'request' | 'query'>;

const placeOf = (path: string, { request }: Visit) => ({ list: path, caller: request.actor.id });

/** Start of the page; undefined: the first page, also for a cursor of another list or viewer. @param path of the list */
export const afterIn = (path: string, visit: Visit): number | undefined =>
  openCursor(visit.services.keyring, visit.query.get(PARAMETER) ?? '', placeOf(path, visit));

/**
 * Links to newer and older entries of the log, which grows meanwhile; filters are kept.
 * @param next start of the next piece; undefined: this is the last
 */
export function pagerOf(path: string, visit: Visit, next: number | undefined): Pager {
  const { query, services } = visit;
  const kept = new URLSearchParams([...query].filter(([name]) => name !== PARAMETER));
  const address = (parameters: URLSearchParams) => (parameters.size === 0 ? path : `${path}?${parameters}`);
  const first = query.has(PARAMETER) ? address(kept) : undefined;
  if (next === undefined) return { first };
  const on = new URLSearchParams(kept);
  on.set(PARAMETER, sealCursor(services.keyring, next, placeOf(path, visit)));
  return { first, next: address(on) };
}

/** The page in the URL, in the order in the URL. @param columns sorted by properties of the rows */
export function pageIn(query: URLSearchParams, columns: ListColumns): Window & { readonly page: number } {
  const { page, size } = listPageIn(query);
  return { limit: size, page, sort: sortIn(query, columns), words: wordSearchIn(query, columns) };
}

const NOTHING_MATCHES = { empty: 'Nothing matches. Try fewer or shorter words, or show all.', emptyAction: undefined };

/**
 * Column headers, search, number of rows, and links to other pages.
 * @param columns and page as in `pageIn`
 * @param singular name of a row, e.g. `user`
 */
export function paged(
  path: string,
  query: URLSearchParams,
  columns: ListColumns,
  { total }: Pick<Page<unknown>, 'total'>,
  singular: string,
  plural?: string,
): Pick<TablePart, 'columns' | 'count' | 'pager'> & Partial<Pick<TablePart, 'empty' | 'emptyAction' | 'search'>> {
  if (total === undefined) throw new Error(`${path}: the list was not read by the number of a page`);
  const search = searchOf(query, columns, total);
  return {
    ...(search !== undefined && { search }),
    ...(search?.isNarrowed === true && NOTHING_MATCHES),
    columns: sortableColumns(path, query, columns, { sort: sortIn(query, columns) }),
    count: total === 0 ? undefined : countOf(total, singular, plural),
    pager: numberedPager(path, query, listPageIn(query), total),
  };
}
