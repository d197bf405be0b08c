/** docs/explanation/library.md keeps its promises: each line names a test that exists. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mock, test } from 'node:test';
import { selfTest } from '../../../src/protocol/library/self-test.ts';

test('every deviation from oidc-provider names a test that exists, and the self-test passes', async () => {
  const lines = [
    ...readFileSync('docs/explanation/library.md', 'utf8').matchAll(/^\|(?:[^|\n]|\\\|)+\|.*\| (self-test|`test\/[^`]+`) \|$/gm),
  ];
  assert.ok(lines.length > 40);
  for (const [line, named = ''] of lines) {
    if (named !== 'self-test') assert.ok(existsSync(named.slice(1, -1)), line);
  }
  await selfTest();
});

test('the self-test passes on a machine where each look at the clock takes a second', async () => {
  const begun = Date.now();
  let looks = 0;
  const clock = mock.method(Date, 'now', () => {
    looks += 1;
    return begun + looks * 1000;
  });
  try {
    await selfTest();
  } finally {
    clock.mock.restore();
  }
  assert.ok(looks > 1);
});
