import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideAttempt, type FailedAttempts, NO_FAILURES } from '../../../src/features/sign-in/lockout.policy.ts';
import { statusAt, type UserStatus } from '../../../src/features/users/user-lifecycle.policy.ts';

const NOW = new Date('2026-11-21T08:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const facts = (failures: number, locks: number, lockedUntil: number | null = null): FailedAttempts => ({
  failures,
  locks,
  lockedUntil: lockedUntil === null ? null : at(lockedUntil),
});

describe('lockout (decisions, "Users sign in")', () => {
  const table: [what: string, before: FailedAttempts, right: boolean, reason: string, after: FailedAttempts][] = [
    ['the first wrong password', NO_FAILURES, false, 'wrong password', facts(1, 0)],
    ['the ninth', facts(8, 0), false, 'wrong password', facts(9, 0)],
    ['the tenth locks for a minute', facts(9, 0), false, 'wrong password, which locks', facts(0, 1, 60)],
    ['the next tenth for two', facts(9, 1, -1), false, 'wrong password, which locks', facts(0, 2, 120)],
    ['the sixth lock for 32 minutes', facts(9, 5, -1), false, 'wrong password, which locks', facts(0, 6, 1920)],
    ['the seventh for an hour', facts(9, 6, -1), false, 'wrong password, which locks', facts(0, 7, 3600)],
    ['never longer', facts(9, 2000, -1), false, 'wrong password, which locks', facts(0, 2001, 3600)],
    ['a wrong password while locked does not lengthen the lock', facts(0, 1, 1), false, 'locked', facts(0, 1, 1)],
    ['a right password while locked', facts(0, 1, 1), true, 'locked', facts(0, 1, 1)],
    ['a right password when the lock ends', facts(0, 1, 0), true, 'right password', NO_FAILURES],
    ['a wrong password when the lock ends', facts(0, 1, 0), false, 'wrong password', facts(1, 1, 0)],
    ['a right password begins the count anew', facts(9, 3, -1), true, 'right password', NO_FAILURES],
  ];
  for (const [what, before, right, reason, remembered] of table) {
    it(what, () => {
      assert.deepEqual(decideAttempt(before, right, NOW), { admitted: reason === 'right password', reason, remembered });
    });
  }

  it('shows who is locked out as LOCKED_OUT, and only who could sign in otherwise', () => {
    const shown = (status: UserStatus, lockedUntil: Date | null) => statusAt({ status, lockedUntil }, NOW);
    assert.equal(shown('ACTIVE', at(1)), 'LOCKED_OUT');
    assert.equal(shown('ACTIVE', at(0)), 'ACTIVE');
    assert.equal(shown('ACTIVE', null), 'ACTIVE');
    assert.equal(shown('SUSPENDED', at(1)), 'SUSPENDED');
  });
});
