/** The claims that a server adds to its tokens (management API, "claims"; RFC 7519 section 4.3, OpenID Connect Core section 5.1.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcedClaims,
  type ClaimFacts,
  type ClaimPerson,
  claimNeeds,
  decideClaims,
  type ServerClaim,
} from '../../../src/features/claims/custom-claims.policy.ts';

const ADA: ClaimPerson = {
  login: 'ada',
  email: 'ada@example.com',
  profile: { department: 'Engines', nickName: '', costCenter: null },
  groups: ['app-admin', 'app-user', 'staff'],
  memberships: [
    { orgId: 'org_1', orgName: 'Analytical', department: { depId: 'dep_1', name: 'Mill' } },
    { orgId: 'org_2', orgName: 'Difference' },
  ],
};
const claim = (name: string, rest: Partial<ServerClaim> = {}): ServerClaim => ({
  id: name,
  name,
  claimType: 'RESOURCE',
  valueType: 'STATIC',
  value: 'x',
  scopes: [],
  alwaysIncludeInToken: true,
  valueFormat: 'TEXT',
  groupFilterType: null,
  status: 'ACTIVE',
  ...rest,
});
const RESOURCE: ClaimFacts = { claimType: 'RESOURCE', scopes: ['openid', 'read'], person: ADA };
const IDENTITY: ClaimFacts = { ...RESOURCE, claimType: 'IDENTITY' };

test('the value of each type; what is empty is left out', () => {
  const table: readonly (readonly [Partial<ServerClaim>, unknown])[] = [
    [{ valueType: 'STATIC', value: 'gold' }, 'gold'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'department' }, 'Engines'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'user.profile.department' }, 'Engines'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'user.department' }, 'Engines'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'login' }, 'ada'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'user.profile.email' }, 'ada@example.com'],
    [{ valueType: 'USER_ATTRIBUTE', value: 'nickName' }, undefined],
    [{ valueType: 'USER_ATTRIBUTE', value: 'costCenter' }, undefined],
    [{ valueType: 'USER_ATTRIBUTE', value: 'title' }, undefined],
    [{ valueType: 'GROUPS', groupFilterType: 'STARTS_WITH', value: '' }, ['app-admin', 'app-user', 'staff']],
    [{ valueType: 'GROUPS', groupFilterType: 'STARTS_WITH', value: 'app-' }, ['app-admin', 'app-user']],
    [{ valueType: 'GROUPS', groupFilterType: 'EQUALS', value: 'staff' }, ['staff']],
    [{ valueType: 'GROUPS', groupFilterType: 'EQUALS', value: 'app' }, undefined],
    [{ valueType: 'GROUPS', groupFilterType: 'CONTAINS', value: 'p-a' }, ['app-admin']],
    [{ valueType: 'GROUPS', groupFilterType: 'REGEX', value: '.*-user|staff' }, ['app-user', 'staff']],
    [{ valueType: 'GROUPS', groupFilterType: 'REGEX', value: 'app' }, undefined],
    [
      { valueType: 'ORGANIZATION', value: '' },
      [
        { orgId: 'org_1', name: 'Analytical' },
        { orgId: 'org_2', name: 'Difference' },
      ],
    ],
    [{ valueType: 'ORGANIZATION', value: 'id' }, ['org_1', 'org_2']],
    [{ valueType: 'ORGANIZATION', value: 'name' }, ['Analytical', 'Difference']],
    [{ valueType: 'DEPARTMENT', value: '' }, [{ depId: 'dep_1', name: 'Mill', orgId: 'org_1' }]],
    [{ valueType: 'DEPARTMENT', value: 'id' }, ['dep_1']],
    [{ valueType: 'DEPARTMENT', value: 'name' }, ['Mill']],
  ];
  for (const [settings, expected] of table) {
    const { claims, steps } = decideClaims([claim('c', settings)], RESOURCE);
    assert.deepEqual(claims, expected === undefined ? {} : { c: expected }, JSON.stringify(settings));
    assert.deepEqual(steps, [{ claim: 'c', reason: expected === undefined ? 'the user has no value for it' : 'included' }]);
  }
});

test('an application that asks for itself gets claims with fixed values alone', () => {
  const claims = [claim('plan'), claim('who', { valueType: 'USER_ATTRIBUTE', value: 'login' }), claim('teams', { valueType: 'GROUPS' })];
  const decision = decideClaims(claims, { ...RESOURCE, person: undefined });
  assert.deepEqual(decision.claims, { plan: 'x' });
  assert.deepEqual(
    decision.steps.map(({ reason }) => reason),
    ['included', 'there is no user', 'there is no user'],
  );
});

test('a claim is told in tokens of its type, when it is active, and where one of its scopes is granted', () => {
  const claims = [
    claim('always'),
    claim('other-type', { claimType: 'IDENTITY' }),
    claim('off', { status: 'INACTIVE' }),
    claim('read', { scopes: ['write', 'read'] }),
    claim('write', { scopes: ['write'] }),
  ];
  const { claims: held, steps } = decideClaims(claims, RESOURCE);
  assert.deepEqual(Object.keys(held), ['always', 'read']);
  assert.deepEqual(steps, [
    { claim: 'always', reason: 'included' },
    { claim: 'off', reason: 'the claim is inactive' },
    { claim: 'read', reason: 'included' },
    { claim: 'write', reason: 'the claim is for other scopes' },
  ]);
});

test('what is not always included is told beside an access token at userinfo alone (Okta, alwaysIncludeInToken)', () => {
  const claims = [claim('lazy', { claimType: 'IDENTITY', alwaysIncludeInToken: false })];
  const reasonOf = (facts: ClaimFacts) => decideClaims(claims, facts).steps[0]?.reason;
  assert.equal(reasonOf({ ...IDENTITY, besideAccessToken: true }), 'userinfo returns the claim');
  assert.equal(reasonOf(IDENTITY), 'included');
});

test('the application’s choice narrows the server’s own claims too', () => {
  const claims = [claim('a', { claimType: 'IDENTITY' }), claim('b', { claimType: 'IDENTITY' })];
  assert.deepEqual(decideClaims(claims, { ...IDENTITY, chosen: ['b', 'email'] }).claims, { b: 'x' });
  assert.deepEqual(decideClaims(claims, { ...IDENTITY, chosen: [] }).claims, {});
});

test('a claim in force decides its name, also where it has no value', () => {
  const named = (rest: Partial<ServerClaim>) => [
    claim('email', { claimType: 'IDENTITY', valueType: 'USER_ATTRIBUTE', value: 'secondEmail', ...rest }),
  ];
  assert.deepEqual(decideClaims(named({}), IDENTITY).decided, ['email']);
  assert.deepEqual(decideClaims(named({ scopes: ['write'] }), IDENTITY).decided, []);
  assert.deepEqual(decideClaims(named({ status: 'INACTIVE' }), IDENTITY).decided, []);
});

test('scope groups tells the names of the groups, unless an active claim of that name decides', () => {
  const asked: ClaimFacts = { ...IDENTITY, scopes: ['openid', 'groups'] };
  const own = claim('groups', {
    claimType: 'IDENTITY',
    valueType: 'GROUPS',
    groupFilterType: 'STARTS_WITH',
    value: 'app-',
    scopes: ['read'],
  });
  assert.deepEqual(decideClaims([], asked).claims, { groups: ADA.groups });
  assert.deepEqual(decideClaims([], IDENTITY).claims, {});
  assert.deepEqual(decideClaims([], { ...asked, claimType: 'RESOURCE' }).claims, {});
  assert.deepEqual(decideClaims([own], asked).claims, {});
  assert.deepEqual(decideClaims([own], IDENTITY).claims, { groups: ['app-admin', 'app-user'] });
  assert.deepEqual(decideClaims([{ ...own, status: 'INACTIVE' }], asked).claims, { groups: ADA.groups });
  assert.deepEqual(
    announcedClaims([own, claim('x', { claimType: 'IDENTITY' }), claim('y', { claimType: 'IDENTITY', status: 'INACTIVE' }), claim('z')]),
    ['groups', 'x', 'roles', 'org_id', 'org_name', 'org_roles', 'dep_id'],
  );
});

test('scope roles tells the roles at the application in every token, unless an active claim of that name decides', () => {
  const person = { ...ADA, roles: ['editor'] };
  for (const claimType of ['RESOURCE', 'IDENTITY'] as const) {
    const asked: ClaimFacts = { claimType, scopes: ['roles'], person };
    assert.deepEqual(decideClaims([], asked).claims, { roles: ['editor'] });
    assert.deepEqual(decideClaims([], { ...asked, scopes: [] }).claims, {});
    assert.deepEqual(decideClaims([], { ...asked, person: ADA }).claims, {});
    assert.deepEqual(decideClaims([claim('roles', { claimType, scopes: ['x'] })], asked).claims, {});
    assert.deepEqual(decideClaims([claim('may', { claimType, valueType: 'APP_ROLES' })], asked).claims, {
      may: ['editor'],
      roles: ['editor'],
    });
  }
});

test('groups and memberships are needed only by what is in force', () => {
  const teams = claim('teams', { valueType: 'GROUPS', groupFilterType: 'CONTAINS', value: '' });
  const firm = claim('firm', { valueType: 'ORGANIZATION', value: 'id' });
  const nothing = { groups: false, memberships: false, roles: false };
  assert.deepEqual(claimNeeds([claim('plan')], RESOURCE), nothing);
  assert.deepEqual(claimNeeds([teams, firm], RESOURCE), { ...nothing, groups: true, memberships: true });
  assert.deepEqual(claimNeeds([{ ...firm, valueType: 'DEPARTMENT' }], RESOURCE), { ...nothing, memberships: true });
  assert.deepEqual(
    claimNeeds(
      [
        { ...teams, status: 'INACTIVE' },
        { ...firm, scopes: ['write'] },
      ],
      RESOURCE,
    ),
    nothing,
  );
  assert.deepEqual(claimNeeds([teams], IDENTITY), nothing);
  const identity: ServerClaim = { ...teams, claimType: 'IDENTITY', alwaysIncludeInToken: false };
  assert.deepEqual(claimNeeds([identity], { ...IDENTITY, besideAccessToken: true }), nothing);
  assert.deepEqual(claimNeeds([identity], { ...IDENTITY, chosen: ['email'] }), nothing);
  assert.deepEqual(claimNeeds([], { ...IDENTITY, scopes: ['groups'] }), { ...nothing, groups: true });
  assert.deepEqual(claimNeeds([], { ...IDENTITY, scopes: ['roles'] }), { ...nothing, roles: true });
  assert.deepEqual(claimNeeds([claim('may', { valueType: 'APP_ROLES' })], RESOURCE), { ...nothing, roles: true });
});
