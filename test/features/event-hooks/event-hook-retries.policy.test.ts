import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GIVEN_UP_AFTER, pauseBeforeNext } from '../../../src/features/event-hooks/event-hook-retries.policy.ts';

describe('an event that did not reach its hook', () => {
  for (const [attempts, seconds] of [
    [1, 5],
    [2, 60],
    [3, 300],
    [4, 1800],
    [5, 7200],
    [6, 14_400],
    [7, 14_400],
    [20, 14_400],
  ] as const) {
    it(`is sent again ${seconds} seconds after attempt ${attempts}, a tenth sooner or later`, () => {
      for (const [chance, factor] of [
        [0, 0.9],
        [0.5, 1],
        [1, 1.1],
      ] as const) {
        assert.ok(Math.abs((pauseBeforeNext(attempts, 0, chance) ?? 0) - seconds * factor) < 0.001);
      }
    });
  }

  it('is given up after three days', () => {
    assert.equal(GIVEN_UP_AFTER, 259_200);
    assert.equal(pauseBeforeNext(20, 259_199, 0.5), 14_400);
    assert.equal(pauseBeforeNext(20, 259_200, 0.5), undefined);
    let [age, attempts] = [0, 0];
    for (let pause: number | undefined = 0; pause !== undefined; pause = pauseBeforeNext(attempts, age, 0.5)) {
      age += pause;
      attempts += 1;
    }
    assert.deepEqual([attempts, Math.floor(age / 86_400)], [24, 3]);
  });

  it('gets three attempts however old it is: what waited behind another is not lost with it', () => {
    assert.deepEqual(
      [1, 2, 3].map((attempts) => pauseBeforeNext(attempts, 1_000_000, 0.5)),
      [5, 60, undefined],
    );
  });
});
