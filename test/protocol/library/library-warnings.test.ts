/** What oidc-provider prints by itself, on the way by which it prints: two lines are left out, and nothing else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const url = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);

/** @returns what a program writes to its standard error */
async function errorsOf(program: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return text(child.stderr);
}

test('of what oidc-provider prints two lines are left out, on a terminal too, and its other warnings are not', async () => {
  const load = `await import('oidc-provider');`;
  const attention = `(await import('oidc-provider/lib/helpers/attention.js')).warn`;
  const parsed = `${attention}('already parsed request body detected, having upstream middleware parser is not recommended');`;
  const coloured = `console.warn('\\x1b[31;1moidc-provider WARNING: Unsupported runtime. Use Node.js\\x1b[0m');`;
  const other = `${attention}('something else'); console.warn('%s', 'ours');`;
  assert.equal(
    await errorsOf(`await import(${url('src/protocol/library/library-warnings.js')}); ${load} ${parsed} ${coloured} ${other}`),
    'oidc-provider WARNING: something else\nours\n',
  );
  assert.match(await errorsOf(`${load} ${parsed}`), /oidc-provider WARNING: already parsed/, 'as it prints it');
});
