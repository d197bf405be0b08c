import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayRead, mayWrite, type Role } from '../../src/policy/administration.ts';

describe('administration (management API, "users", roles)', () => {
  const cases: [roles: Role[], read: boolean, write: boolean][] = [
    [[], false, false],
    [[{ type: 'SUPER_ADMIN' }], true, true],
    [[{ type: 'READ_ONLY_ADMIN' }], true, false],
    [[{ type: 'ORG_ADMIN', orgId: 'org_1' }], false, false],
    [[{ type: 'READ_ONLY_ADMIN' }, { type: 'SUPER_ADMIN' }], true, true],
    [[{ type: 'ORG_ADMIN', orgId: 'org_1' }, { type: 'READ_ONLY_ADMIN' }], true, false],
  ];
  for (const [roles, read, write] of cases) {
    it(`${roles.map(({ type }) => type).join(' and ') || 'no role'}: ${read ? 'reads' : 'reads nothing'}, ${write ? 'writes' : 'writes nothing'}`, () => {
      assert.deepEqual([mayRead(roles), mayWrite(roles)], [read, write]);
    });
  }
});
