/**
 * What a test puts away when it ends, the last thing first: what was made later needs what was made before. (`t.after` itself runs
 * in the order of registration.)
 */
import type { TestContext } from 'node:test';

const actions = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs the action when the test has ended, however it ended; earlier actions are run after it. */
export function afterwards(t: TestContext, action: () => unknown): void {
  const known = actions.get(t);
  if (known !== undefined) {
    known.push(action);
    return;
  }
  const list = [action];
  actions.set(t, list);
  t.after(async () => {
    for (const act of list.reverse()) await act();
  });
}
