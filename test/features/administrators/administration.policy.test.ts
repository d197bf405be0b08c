import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Access,
  isPersonWithin,
  isWithin,
  mayCall,
  type Role,
  reachOf,
  type Verb,
} from '../../../src/features/administrators/administration.policy.ts';

const SUPER: Role = { type: 'SUPER_ADMIN' };
const READER: Role = { type: 'READ_ONLY_ADMIN' };
const OF_ONE: Role = { type: 'ORG_ADMIN', orgId: 'org_1' };
const name = (roles: readonly Role[]) => roles.map(({ type }) => type).join(' and ') || 'no role';

describe('administration (management API, "users", roles)', () => {
  const OPERATIONS: [Access, Verb][] = [
    ['service', 'read'],
    ['service', 'write'],
    ['organizations', 'read'],
    ['organizations', 'write'],
    ['own', 'read'],
    ['own', 'write'],
  ];
  const calls: [roles: Role[], allowed: string][] = [
    [[], '------'],
    [[SUPER], 'yyyyyy'],
    [[READER], 'y-y-yy'],
    [[OF_ONE], '--yyyy'],
    [[READER, SUPER], 'yyyyyy'],
    [[OF_ONE, READER], 'y-yyyy'],
  ];
  for (const [roles, allowed] of calls) {
    it(`${name(roles)} may call ${allowed} (service, organizations, own; read and write each)`, () => {
      assert.equal(OPERATIONS.map((operation) => (mayCall(roles, ...operation) ? 'y' : '-')).join(''), allowed);
    });
  }

  it('reaches everything, one organization, or nothing', () => {
    assert.equal(reachOf([SUPER], 'write'), 'everything');
    assert.equal(reachOf([READER], 'read'), 'everything');
    assert.deepEqual(reachOf([READER], 'write'), new Set());
    assert.deepEqual(reachOf([OF_ONE, READER], 'write'), new Set(['org_1']));
    assert.deepEqual(reachOf([], 'read'), new Set());
    assert.equal(isWithin(reachOf([OF_ONE], 'read'), 'org_1'), true);
    assert.equal(isWithin(reachOf([OF_ONE], 'read'), 'org_2'), false);
  });

  const people: [what: string, person: { orgIds: string[]; roles: Role[]; isJoined?: boolean }, within: boolean][] = [
    ['a member of the organization', { orgIds: ['org_1'], roles: [] }, true],
    ['a fellow administrator of it', { orgIds: ['org_1'], roles: [OF_ONE] }, true],
    ['a member who brought an account along', { orgIds: ['org_1'], roles: [], isJoined: true }, false],
    ['a member of another one too', { orgIds: ['org_1', 'org_2'], roles: [] }, false],
    ['a member who administers another one', { orgIds: ['org_1'], roles: [{ type: 'ORG_ADMIN', orgId: 'org_2' }] }, false],
    ['a member who administers the service', { orgIds: ['org_1'], roles: [SUPER] }, false],
    ['a member who sees the whole service', { orgIds: ['org_1'], roles: [READER] }, false],
    ['somebody of no organization', { orgIds: [], roles: [] }, false],
  ];
  for (const [what, person, within] of people) {
    it(`an organization's administrator ${within ? 'changes' : 'does not change'} ${what}`, () => {
      assert.equal(isPersonWithin(reachOf([OF_ONE], 'write'), { isJoined: false, ...person }), within);
      assert.equal(isPersonWithin('everything', { isJoined: false, ...person }), true);
    });
  }
});
