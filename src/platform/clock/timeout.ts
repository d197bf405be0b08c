/** Timeouts. */

import { timings } from './timings.ts';

/**
 * Waits for optional data: a database that hangs must not delay the error page twice.
 * @returns the result of the work, or a substitute after a short time
 * @throws the work's error within that time
 */
export async function withTimeout<T, Other>(work: Promise<T>, otherwise: () => Other): Promise<T | Other> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Other>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), timings.optional);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * A signal that aborts after the time, or with another signal. Not `AbortSignal.any`: in Node.js 20 the garbage collector removes a timeout
 * that nothing else references, so it never fires.
 */
export function timeoutSignal(milliseconds: number, other?: AbortSignal | null): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), milliseconds).unref();
  if (other?.aborted) controller.abort(other.reason);
  other?.addEventListener('abort', () => controller.abort(other.reason), { once: true, signal });
  return signal;
}
