/** Lists in pages: which piece an address asks for, and the address of the next one. */

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

/** The number of a page, from 1. */
export function pageIn(query: URLSearchParams): number {
  const page = query.get('page') ?? '';
  return /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}
