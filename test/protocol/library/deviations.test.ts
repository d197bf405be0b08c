/** The list of deviations keeps its promises: each names a test that is there. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { DEVIATIONS } from '../../../src/protocol/library/deviations.ts';
import { selfTest } from '../../../src/protocol/library/self-test.ts';

test('every deviation from oidc-provider names a test that exists, and the self-test passes', async () => {
  for (const { setting, test: named } of DEVIATIONS) {
    if (named === 'self-test') continue;
    assert(existsSync(new URL(`../../${named.replace(/\.ts$/, '.js')}`, import.meta.url)), `${setting}: no ${named}`);
  }
  await selfTest();
});
