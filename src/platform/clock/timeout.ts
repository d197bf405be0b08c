/** Limits to waiting. */

import { timings } from './timings.ts';

/**
 * For what is good to have and not needed: a database that hangs shall not hold up twice the page that says so.
 * @returns what the work yields, or soon something else @throws what the work throws within that time
 */
export async function withTimeout<T, Other>(work: Promise<T>, otherwise: () => Other): Promise<T | Other> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Other>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), timings.optional);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * A signal that aborts when the time is over, or with another signal. Not `AbortSignal.any`: in Node.js 20 the next garbage collection takes a
 * timeout with it that nothing else holds, and it never ends.
 */
export function signalWithin(milliseconds: number, other?: AbortSignal | null): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), milliseconds).unref();
  if (other?.aborted) controller.abort(other.reason);
  other?.addEventListener('abort', () => controller.abort(other.reason), { once: true, signal });
  return signal;
}
