/** The consent table, row by row (docs/explanation/consent.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConsentMethod, decideConsent, dependsOnRemembered } from '../../../src/features/consents/consent.policy.ts';

type Row = [prompted: boolean, method: ConsentMethod, consent: 'IMPLICIT' | 'REQUIRED' | 'FLEXIBLE', given: boolean, ask: boolean];

const TABLE: readonly Row[] = [
  [true, 'TRUSTED', 'REQUIRED', false, true],
  [true, 'TRUSTED', 'REQUIRED', true, true],
  [true, 'REQUIRED', 'REQUIRED', true, true],
  [true, 'TRUSTED', 'FLEXIBLE', true, true],
  [true, 'REQUIRED', 'FLEXIBLE', false, true],
  [true, 'TRUSTED', 'IMPLICIT', false, false],
  [true, 'REQUIRED', 'IMPLICIT', false, false],
  [false, 'TRUSTED', 'REQUIRED', false, false],
  [false, 'TRUSTED', 'FLEXIBLE', false, false],
  [false, 'TRUSTED', 'IMPLICIT', false, false],
  [false, 'REQUIRED', 'REQUIRED', false, true],
  [false, 'REQUIRED', 'REQUIRED', true, false],
  [false, 'REQUIRED', 'FLEXIBLE', false, true],
  [false, 'REQUIRED', 'FLEXIBLE', true, false],
  [false, 'REQUIRED', 'IMPLICIT', false, false],
];

test('the consent table', () => {
  for (const [prompted, method, consent, given, ask] of TABLE) {
    const scopes = [{ name: 'orders', consent }];
    const [decision] = decideConsent({ prompted, method, scopes, remembered: new Set(given ? ['orders'] : []) });
    assert.equal(decision?.ask, ask, `${prompted ? 'prompted' : 'not prompted'}, ${method}, ${consent}, ${given ? 'given' : 'not given'}`);
  }
});

test('what was given before is read only where it can change the decision', () => {
  for (const [prompted, method, consent] of TABLE) {
    const facts = { prompted, method, scopes: [{ name: 'orders', consent }] };
    const [without, with_] = [new Set<string>(), new Set(['orders'])].map((remembered) => decideConsent({ ...facts, remembered })[0]?.ask);
    assert.equal(dependsOnRemembered(facts), without !== with_);
  }
});
