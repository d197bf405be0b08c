/** Counts the password hashes that are computed: a comparison costs as much as another one where as many were, whatever the machine takes for them. */
import { createHook } from 'node:async_hooks';

/** What JavaScript itself does, and no thread beside it. */
const OF_JAVASCRIPT = new Set(['PROMISE', 'TickObject', 'Immediate', 'Timeout', 'Microtask']);

/** @returns how many works the thread pool was given meanwhile; nothing else may go on in this process */
export async function hashOperations(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (!OF_JAVASCRIPT.has(type)) count += 1;
    },
  });
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return count;
}
