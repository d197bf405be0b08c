/** Who must use a second factor, and what a sign-in is worth (OpenID Connect Core 1.0 section 2, `acr`; RFC 8176). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acrOf,
  isSecondFactorRequired,
  ONE_FACTOR,
  type SecondFactorFacts,
  TWO_FACTORS,
  withSecondFactor,
} from '../../../src/features/second-factors/second-factor.policy.ts';

test('a second factor is demanded by the policy, the application or the requested class', () => {
  const nothing: SecondFactorFacts = { policy: 'OPTIONAL', administrator: false, applicationRequires: false, acrValues: [] };
  const cases: [Partial<SecondFactorFacts>, boolean][] = [
    [{}, false],
    [{ administrator: true }, false],
    [{ policy: 'ADMINISTRATORS' }, false],
    [{ policy: 'ADMINISTRATORS', administrator: true }, true],
    [{ policy: 'EVERYONE' }, true],
    [{ applicationRequires: true }, true],
    [{ acrValues: [TWO_FACTORS] }, true],
    [{ acrValues: [ONE_FACTOR, TWO_FACTORS] }, false],
    [{ acrValues: ['unknown', TWO_FACTORS, ONE_FACTOR] }, true],
    [{ acrValues: ['unknown'] }, false],
    [{ policy: 'EVERYONE', acrValues: [ONE_FACTOR] }, true],
  ];
  for (const [facts, demanded] of cases) {
    assert.equal(isSecondFactorRequired({ ...nothing, ...facts }), demanded, JSON.stringify(facts));
  }
});

test('the class told is the one reached, or the lower one where it alone was asked for', () => {
  assert.equal(acrOf([]), ONE_FACTOR);
  assert.equal(acrOf(['pwd']), ONE_FACTOR);
  assert.equal(acrOf(['pwd', 'otp']), ONE_FACTOR);
  assert.equal(acrOf(['pwd'], [TWO_FACTORS]), ONE_FACTOR);
  assert.equal(acrOf(['pwd', 'otp', 'mfa']), TWO_FACTORS);
  assert.equal(acrOf(['pwd', 'otp', 'mfa'], [ONE_FACTOR]), ONE_FACTOR);
  assert.equal(acrOf(['pwd', 'otp', 'mfa'], [ONE_FACTOR, TWO_FACTORS]), TWO_FACTORS);
});

test('the methods of both steps are told once each', () => {
  assert.deepEqual(withSecondFactor(['pwd'], ['otp']), ['pwd', 'otp', 'mfa']);
  assert.deepEqual(withSecondFactor(['pwd', 'otp'], ['otp', 'mfa']), ['pwd', 'otp', 'mfa']);
});
