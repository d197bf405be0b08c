/** Waiting for what is good to have and not needed: a database that hangs shall not hold up twice the page that says so. */

import { timings } from './timings.ts';

/** @returns what the work yields, or soon something else @throws what the work throws within that time */
export async function withTimeout<T, Other>(work: Promise<T>, otherwise: () => Other): Promise<T | Other> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Other>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), timings.optional);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
