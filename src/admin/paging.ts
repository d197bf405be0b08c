/** Lists in pages: which piece an address asks for, and the address of the next one. */
import type { Pager } from './sheet.ts';

/** Rows of a page. */
export const LIMIT = 20;

const PARAMETER = 'after';

/** Where the piece before ended; undefined: from the beginning. */
export function afterIn(query: URLSearchParams): number | undefined {
  const after = query.get(PARAMETER) ?? '';
  return /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

export const nextPage = (path: string, next: number | undefined): string | undefined =>
  next === undefined ? undefined : `${path}?${PARAMETER}=${next}`;

/** The ways on and back, with what narrows the list kept. @param next where the next piece begins; undefined: this is the last */
export function pagerOf(path: string, query: URLSearchParams, next: number | string | undefined): Pager {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== PARAMETER && name !== 'notice'));
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
