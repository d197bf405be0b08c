/** Lists in pages: which piece an address asks for, and the address of the next one. */
import type { Pager } from './detail-page.ts';

/** Rows of a page. */
export const LIMIT = 20;

const PARAMETER = 'after';

/** Cursor of the page; undefined: first page. */
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
