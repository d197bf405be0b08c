import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decideStep,
  type LifecycleStep,
  locksOut,
  possibleSteps,
  USER_STATUSES,
  type UserStatus,
} from '../../../src/features/users/user-lifecycle.policy.ts';

const SOMEBODY = { hasPassword: true, awaitsApproval: true, hasWayToSignIn: true, isSelf: false, isLastSuperAdmin: false };

describe('the life cycle of a user (management API, "users")', () => {
  const table: [step: LifecycleStep, to: UserStatus, from: string][] = [
    ['activate', 'ACTIVE', 'y-----y'],
    ['refuse', 'DEPROVISIONED', 'y------'],
    ['reactivate', 'PROVISIONED', '-y-----'],
    ['deactivate', 'DEPROVISIONED', 'yyyyyy-'],
    ['suspend', 'SUSPENDED', '--y----'],
    ['unsuspend', 'ACTIVE', '-----y-'],
    ['unlock', 'ACTIVE', '----y--'],
    ['expire_password', 'PASSWORD_EXPIRED', '--y----'],
    ['reset_password', 'PASSWORD_EXPIRED', '--yyy--'],
  ];
  for (const [step, to, from] of table) {
    it(`${step} leads to ${to} from ${from} (${USER_STATUSES.join(', ')})`, () => {
      const decisions = USER_STATUSES.map((status) => decideStep(step, { ...SOMEBODY, status }));
      assert.equal(decisions.map((decision) => ('to' in decision ? 'y' : '-')).join(''), from);
      for (const decision of decisions) if ('to' in decision) assert.equal(decision.to, to);
      // Who knows an expired password can sign in, and chooses another one.
      assert.equal(locksOut(step), to !== 'ACTIVE' && step !== 'expire_password' && step !== 'reactivate');
    });
  }

  it('tells plainly why a step is not possible', () => {
    const decision = decideStep('activate', { ...SOMEBODY, status: 'SUSPENDED' });
    assert.deepEqual(decision, { refused: 'the user is SUSPENDED, but activate requires STAGED or DEPROVISIONED' });
  });

  it('invites a user who has no way to sign in yet', () => {
    const nobody = { ...SOMEBODY, hasPassword: false, hasWayToSignIn: false };
    assert.deepEqual(decideStep('activate', { ...nobody, status: 'STAGED' }), { to: 'PROVISIONED' });
    assert.deepEqual(decideStep('activate', { ...nobody, hasWayToSignIn: true, status: 'STAGED' }), { to: 'ACTIVE' });
  });

  it('refuses only who has signed up and waits', () => {
    assert.deepEqual(decideStep('refuse', { ...SOMEBODY, status: 'STAGED', awaitsApproval: false }), {
      refused: 'the user is not waiting for approval',
    });
  });

  it('expires only a password that there is', () => {
    assert.deepEqual(decideStep('expire_password', { ...SOMEBODY, status: 'ACTIVE', hasPassword: false }), {
      refused: 'the user has no password. Use reset_password instead',
    });
  });

  it('lets nobody deactivate or suspend himself', () => {
    for (const step of ['deactivate', 'suspend'] as const) {
      assert.deepEqual(decideStep(step, { ...SOMEBODY, status: 'ACTIVE', isSelf: true }), {
        refused: `you cannot ${step} yourself. Ask another administrator`,
      });
    }
    assert.deepEqual(decideStep('expire_password', { ...SOMEBODY, status: 'ACTIVE', isSelf: true }), { to: 'PASSWORD_EXPIRED' });
  });

  it('locks the last active SUPER_ADMIN out by no step', () => {
    assert.deepEqual(decideStep('expire_password', { ...SOMEBODY, status: 'ACTIVE', isLastSuperAdmin: true }), { to: 'PASSWORD_EXPIRED' });
    for (const step of ['deactivate', 'suspend', 'reset_password'] as const) {
      const decision = decideStep(step, { ...SOMEBODY, status: 'ACTIVE', isLastSuperAdmin: true });
      assert.deepEqual(decision, { refused: 'this is the last active SUPER_ADMIN. Give another user this role first' });
    }
  });

  it('offers what the status allows', () => {
    assert.deepEqual(possibleSteps({ status: 'ACTIVE', hasPassword: true, awaitsApproval: false }), [
      'deactivate',
      'suspend',
      'expire_password',
      'reset_password',
    ]);
    assert.deepEqual(possibleSteps({ status: 'ACTIVE', hasPassword: false, awaitsApproval: false }), [
      'deactivate',
      'suspend',
      'reset_password',
    ]);
    assert.deepEqual(possibleSteps({ status: 'DEPROVISIONED', hasPassword: true, awaitsApproval: false }), ['activate']);
  });
});
