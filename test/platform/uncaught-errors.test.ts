/** Errors that no test catches fail the test that ran, though node:test follows no promises here (support/untracked-promises.ts). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';

const LOADER = new URL('../support/untracked-promises.js', import.meta.url).href;

/** Runs a module of tests in a process of its own. @returns its TAP report */
function report(source: string): Promise<{ code: number | null; tap: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const lines = [`import ${JSON.stringify(LOADER)};`, "const { before, describe, test } = await import('node:test');", source];
  return new Promise((resolve) => {
    const args = ['--test-reporter=tap', '--input-type=module', '--eval', lines.join('\n')];
    const child = execFile(process.execPath, args, { env }, (_error, tap) => resolve({ code: child.exitCode, tap }));
  });
}

test('an error of a timer and a rejection fail the test in which they happen; the others pass', async () => {
  const { code, tap } = await report(`
    const next = (event) => new Promise((resolve) => process.once(event, resolve));
    test('before', () => {});
    test('timer', async () => {
      setTimeout(() => { throw new Error('of a timer'); });
      await next('uncaughtException');
    });
    test('between', () => {});
    test('rejection', async () => {
      Promise.reject(new Error('of a promise'));
      await next('unhandledRejection');
    });
    test('after', async (t) => {
      await new Promise(setImmediate);
      await t.test('inner', () => {});
    });`);
  assert.equal(code, 1, tap);
  const results = [...tap.matchAll(/^ *((?:not )?ok) \d+ - (\S+)/gm)].map(([, result, name]) => `${result} ${name}`);
  assert.deepEqual(results, ['ok before', 'not ok timer', 'ok between', 'not ok rejection', 'ok inner', 'ok after']);
  assert.match(tap, /of a timer[\s\S]*of a promise/);
});

test('an error after the end of its test fails the run', async () => {
  const { code, tap } = await report("test('early', () => { setTimeout(() => { throw new Error('too late'); }, 1); });");
  assert.equal(code, 1, tap);
  assert.match(tap, /generated asynchronous activity after the test ended.*too late/);
});

test('hooks and tests of a suite are those of the suite', async () => {
  const { code, tap } = await report(`
    let isReady = false;
    describe('suite', () => {
      before(() => { isReady = true; });
      test('member', () => { if (!isReady) throw new Error('not ready'); });
    });
    test('outside', () => {});`);
  assert.equal(code, 0, tap);
  assert.match(tap, /^ {4}ok 1 - member$/m);
  assert.match(tap, /^ok 1 - suite$[\s\S]*^ok 2 - outside$/m);
});
