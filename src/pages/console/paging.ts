/** Lists in pages: which piece an address asks for, and the address of the next one. */
import { phrase } from '../../platform/i18n/phrase.ts';
import type { Pager } from './detail-page.ts';

/** Rows of a page. */
export const LIMIT = 20;

const PARAMETER = 'after';

/** Where the piece before ended; undefined: from the beginning. */
export function afterIn(query: URLSearchParams): number | undefined {
  const after = query.get(PARAMETER) ?? '';
  return /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

/** The ways on and back, with what narrows the list kept. @param next where the next piece begins; undefined: this is the last */
export function pagerOf(path: string, query: URLSearchParams, next: number | string | undefined): Pager {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== PARAMETER));
  const address = (parameters: URLSearchParams) => (parameters.size === 0 ? path : `${path}?${parameters}`);
  const first = query.has(PARAMETER) ? address(kept) : undefined;
  if (next === undefined) return { first };
  const on = new URLSearchParams(kept);
  on.set(PARAMETER, String(next));
  return { first, next: address(on) };
}

/** The number of a page, from 1. */
export function pageIn(query: URLSearchParams): number {
  const page = query.get('page') ?? '';
  return /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}

/** The ways from page to page of a list that is counted. @param pages how many there are */
export function pagesOf(path: string, query: URLSearchParams, page: number, pages: number): Pager {
  if (pages <= 1 && page === 1) return {};
  const address = (number: number) => {
    const kept = new URLSearchParams([...query].filter(([name]) => name !== 'page'));
    kept.set('page', String(number));
    return `${path}?${kept}`;
  };
  return {
    previous: page > 1 ? address(Math.max(1, Math.min(page - 1, pages))) : undefined,
    words: phrase('Page {page} of {pages}', { page, pages: Math.max(1, pages) }),
    next: page < pages ? address(page + 1) : undefined,
  };
}
