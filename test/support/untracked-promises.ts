/**
 * Loads node:test without its async hook, which follows every promise and timer to learn which test an uncaught error belongs to. With a destroy callback
 * each promise costs a weak reference, which the garbage collector visits: a fifth of the processor time of tests that call the service.
 *
 * The tests of a process run one after the other, so the error belongs to the test (or hook) that began last. Suites and subtests are found by the
 * asynchronous ID of their own resource, which exists without hooks. Loaded before anything that imports node:test.
 */
import asyncHooks, { type AsyncResourceOptions, type HookCallbacks } from 'node:async_hooks';

const { AsyncResource, createHook, executionAsyncId } = asyncHooks;

/** Tells node:test of a new resource; it keeps those that are tests, suites or hooks. */
let onResource: HookCallbacks['init'];
let begunLast = 0;
let isUncaught = false;

class TestResource extends AsyncResource {
  constructor(type: string, options?: number | AsyncResourceOptions) {
    super(type, options);
    onResource?.(this.asyncId(), type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(fn: (this: This, ...args: unknown[]) => Result, thisArg?: This, ...args: unknown[]): Result {
    // The reporter's resource has this very class.
    if (this.constructor !== TestResource) begunLast = this.asyncId();
    return super.runInAsyncScope(fn, thisArg, ...args);
  }
}

// Before the listeners of node:test, which ask for the ID first of all.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, () => {
    isUncaught = true;
  });
}

Object.assign(asyncHooks, {
  AsyncResource: TestResource,
  createHook({ init }: HookCallbacks) {
    onResource = init;
    const hook = { enable: () => hook, disable: () => hook };
    return hook;
  },
  executionAsyncId() {
    if (!isUncaught) return executionAsyncId();
    isUncaught = false;
    return begunLast;
  },
});
await import('node:test');
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });
