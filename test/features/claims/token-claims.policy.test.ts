/** Claims of ID tokens and userinfo: the standard claims and the server's own (features/claims/claims.policy.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGEST_PAYLOAD } from '../../../src/features/authorization-servers/token-size.policy.ts';
import { idTokenContent, userinfoClaims } from '../../../src/features/claims/claims.policy.ts';

const standard = { sub: 'usr_1', name: 'Ada', email: 'ada@example.com' };

test('what the server decides takes the place of a standard claim, also where it has no value; the rest stays', () => {
  const own = { claims: { email: 'own@example.com', plan: 'gold' }, decided: ['email', 'name', 'plan'] };
  const expected = { sub: 'usr_1', email: 'own@example.com', plan: 'gold' };
  assert.deepEqual(userinfoClaims(standard, own), expected);
  assert.deepEqual(idTokenContent(standard, own, {}, 0), { claims: expected, omitted: [] });
});

test('of the server’s own the largest stay out of an ID token, what the token says of itself counted; userinfo tells them', () => {
  const claims = { small: 'x', large: 'y'.repeat(LARGEST_PAYLOAD / 2) };
  const own = { claims, decided: Object.keys(claims) };
  const half = 'z'.repeat(LARGEST_PAYLOAD / 2);
  assert.deepEqual(idTokenContent(standard, own, {}, 0).omitted, []);
  assert.deepEqual(idTokenContent(standard, own, { nonce: half }, 0), { claims: { ...standard, small: 'x' }, omitted: ['large'] });
  assert.deepEqual(idTokenContent(standard, own, {}, half.length).omitted, ['large']);
  assert.deepEqual(idTokenContent({ ...standard, name: half }, own, {}, 0).claims, { ...standard, name: half, small: 'x' });
  assert.deepEqual(userinfoClaims(standard, own), { ...standard, ...claims });
});
