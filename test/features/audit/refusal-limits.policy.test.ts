import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_OF_ALL, MOST_OF_APPLICATION, RefusalLimits } from '../../../src/features/audit/refusal-limits.policy.ts';

const refusal = (applicationId: string, reason = 'invalid_grant', about: readonly string[] = []) => ({
  ...{ applicationId, endpoint: 'token', reason, about },
});

test('each application has its limit, all share one, and beyond them the first of each kind is admitted', () => {
  const limits = new RefusalLimits();
  const admitted = (applicationId: string, count: number, now = 0) =>
    Array.from({ length: count }, () => limits.admits(refusal(applicationId), now)).filter(Boolean).length;
  const applications = Array.from({ length: MOST_OF_ALL / MOST_OF_APPLICATION }, (_, n) => `app_${n}`);
  for (const id of applications) assert.equal(admitted(id, MOST_OF_APPLICATION + 5), MOST_OF_APPLICATION, id);
  assert.equal(admitted('app_late', 3), 1, 'all have used up what they share');
  assert.equal(limits.admits(refusal('app_late', 'invalid_scope'), 0), true);
  assert.equal(limits.admits(refusal('app_late', 'invalid_scope', ['usr_1']), 0), true);
  assert.equal(limits.admits(refusal('app_late', 'invalid_scope', ['usr_1']), 59_999), false);

  const further = limits.takeFurther();
  assert.deepEqual(further[0], { applicationId: 'app_0', requests: 5, reasons: { 'token invalid_grant': 5 } });
  assert.deepEqual(further.at(-1), {
    ...{ applicationId: 'app_late', requests: 3 },
    reasons: { 'token invalid_grant': 2, 'token invalid_scope': 1 },
  });
  assert.deepEqual(limits.takeFurther(), []);
  assert.equal(admitted('app_0', MOST_OF_APPLICATION + 1, 60_000), MOST_OF_APPLICATION, 'a minute later');
});

test('what was not written counts for nothing', () => {
  const limits = new RefusalLimits();
  for (let n = 0; n < MOST_OF_ALL * 2; n += 1) {
    const unknown = refusal(`nobody-${n}`);
    assert.equal(limits.admits(unknown, 0), true);
    limits.withdraw(unknown);
  }
  const known = Array.from({ length: MOST_OF_APPLICATION }, () => limits.admits(refusal('app_1'), 0));
  assert.ok(known.every(Boolean));
  limits.withdraw(refusal('app_1'));
  assert.equal(limits.admits(refusal('app_1'), 0), true);
  assert.equal(limits.admits(refusal('app_1'), 0), false);
});
