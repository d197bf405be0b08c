/** Access policies and their rules (management API, "policies"): the first matching rule of the first matching policy decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AccessFacts,
  type AccessPolicy,
  type AccessRule,
  decideAccess,
  dependsOnGroups,
  inOrder,
  type RuleActions,
  type RuleConditions,
  withoutName,
} from '../../../src/features/policies/access-policy.policy.ts';

const SERVER = { accessTokenSeconds: 3600, refreshTokenSeconds: 7200, refreshTokenWindowSeconds: 5400 };
const facts: AccessFacts = {
  clientId: 'app',
  user: { id: 'ada', groupIds: ['staff'] },
  grantType: 'authorization_code',
  scopes: ['openid', 'read'],
};
const machine: AccessFacts = { ...facts, user: undefined, grantType: 'client_credentials', scopes: ['read'] };

const rule = (conditions: RuleConditions, actions: RuleActions = {}, name = 'rule'): AccessRule => ({
  id: name,
  name,
  conditions,
  actions,
});
const policy = (rules: readonly AccessRule[], clients: readonly string[] = ['ALL_CLIENTS'], name = 'policy'): AccessPolicy => ({
  id: name,
  name,
  clients,
  rules,
});
const allowed = (conditions: RuleConditions, asked: AccessFacts = facts): boolean =>
  decideAccess([policy([rule(conditions)])], asked, SERVER).allowed;

test('a condition that is absent restricts nothing, one that is empty lets nobody and nothing through; each that is there must hold', () => {
  const table: readonly (readonly [string, RuleConditions, AccessFacts, boolean])[] = [
    ['nothing', {}, facts, true],
    ['nothing, without a user', {}, machine, true],
    ['people without lists', { people: {} }, facts, true],
    ['no users', { people: { users: { include: [] } } }, facts, false],
    ['no groups', { people: { groups: { include: [] } } }, facts, false],
    ['no people', { people: { users: { include: [] }, groups: { include: [] } } }, facts, false],
    ['no people, without a user', { people: { users: { include: [] }, groups: { include: [] } } }, machine, false],
    ['no users, but everyone', { people: { users: { include: [] }, groups: { include: ['EVERYONE'] } } }, facts, true],
    ['no grant types', { grantTypes: { include: [] } }, facts, false],
    ['no scopes', { scopes: { include: [] } }, facts, false],
    ['no scopes, where none is asked for', { scopes: { include: [] } }, { ...machine, scopes: [] }, false],
    ['the grant type', { grantTypes: { include: ['implicit', 'authorization_code'] } }, facts, true],
    ['every grant type', { grantTypes: { include: ['*'] } }, facts, true],
    ['another grant type', { grantTypes: { include: ['password'] } }, facts, false],
    ['the user', { people: { users: { include: ['ada'] } } }, facts, true],
    ['another user', { people: { users: { include: ['bob'] } } }, facts, false],
    ['a group', { people: { groups: { include: ['other', 'staff'] } } }, facts, true],
    ['another group', { people: { groups: { include: ['other'] } } }, facts, false],
    ['the user or a group', { people: { users: { include: ['ada'] }, groups: { include: ['other'] } } }, facts, true],
    ['a group or another user', { people: { users: { include: ['bob'] }, groups: { include: ['staff'] } } }, facts, true],
    ['neither', { people: { users: { include: ['bob'] }, groups: { include: ['other'] } } }, facts, false],
    ['people, without a user', { people: { groups: { include: ['staff'] } } }, machine, false],
    ['everyone, without a user', { people: { groups: { include: ['EVERYONE'] } } }, machine, true],
    ['every scope', { scopes: { include: ['*'] } }, facts, true],
    ['the scopes', { scopes: { include: ['read', 'openid', 'write'] } }, facts, true],
    ['one scope of two', { scopes: { include: ['read'] } }, facts, false],
    ['scopes, where none is asked for', { scopes: { include: ['read'] } }, { ...machine, scopes: [] }, true],
    [
      'all but one',
      { scopes: { include: ['*'] }, grantTypes: { include: ['authorization_code'] }, people: { users: { include: ['bob'] } } },
      facts,
      false,
    ],
  ];
  for (const [title, conditions, asked, expected] of table) assert.equal(allowed(conditions, asked), expected, title);
});

test('the first policy for the client decides, even when none of its rules fits', () => {
  const open = policy([rule({})], ['ALL_CLIENTS'], 'open');
  const narrow = policy([rule({ grantTypes: { include: ['password'] } })], ['app'], 'narrow');
  assert.equal(decideAccess([narrow, open], facts, SERVER).allowed, false);
  assert.equal(decideAccess([narrow, open], facts, SERVER).policy, narrow);
  assert.equal(decideAccess([narrow, open], { ...facts, clientId: 'other' }, SERVER).policy, open);
  assert.equal(decideAccess([open, narrow], facts, SERVER).allowed, true);
});

test('nothing that matches is a denial, and says so', () => {
  for (const policies of [[], [policy([])], [policy([rule({})], ['other'])], [policy([rule({})], [])]]) {
    const decision = decideAccess(policies, facts, SERVER);
    assert.deepEqual([decision.allowed, decision.rule, decision.lifetimes], [false, undefined, SERVER]);
  }
  assert.deepEqual(decideAccess([], facts, SERVER).reasons, [{ reason: 'no policy is for this client' }]);
});

test('the first rule that fits sets the lifetimes, where it names them', () => {
  const rules = [
    rule({ people: { users: { include: ['bob'] } } }, { token: { accessTokenLifetimeMinutes: 1 } }, 'first'),
    rule({}, { token: { accessTokenLifetimeMinutes: 5, refreshTokenWindowMinutes: 10 } }, 'second'),
    rule({}, { token: { refreshTokenLifetimeMinutes: 20 } }, 'third'),
  ];
  const decision = decideAccess([policy(rules)], facts, SERVER);
  assert.equal(decision.rule, rules[1]);
  assert.deepEqual(decision.lifetimes, { accessTokenSeconds: 300, refreshTokenSeconds: 7200, refreshTokenWindowSeconds: 600 });
  const own = decideAccess([policy(rules.slice(2))], facts, SERVER);
  assert.deepEqual(own.lifetimes, { ...SERVER, refreshTokenSeconds: 1200 });
});

test('the decision tells what it looked at, in order', () => {
  const rules = [
    rule({ grantTypes: { include: ['password'] } }, {}, 'a'),
    rule({ people: { users: { include: ['bob'] } } }, {}, 'b'),
    rule({ scopes: { include: ['write'] } }, {}, 'c'),
  ];
  const second = { policyId: 'second', policy: 'second' };
  assert.deepEqual(decideAccess([policy([], ['other'], 'first'), policy(rules, ['app'], 'second')], facts, SERVER).reasons, [
    { policyId: 'first', policy: 'first', reason: 'the policy is for other clients' },
    { ...second, reason: 'the policy is for this client' },
    { ...second, ruleId: 'a', rule: 'a', reason: 'the rule is for another grant type' },
    { ...second, ruleId: 'b', rule: 'b', reason: 'the rule is for other people' },
    { ...second, ruleId: 'c', rule: 'c', reason: 'the rule is for other scopes' },
    { ...second, reason: 'no rule of the policy fits' },
  ]);
});

test('a rule that names actors is for token exchanges by them, and for nothing else', () => {
  const of = (include: readonly string[], actor?: string) =>
    decideAccess([policy([rule({ actors: { include } })])], { ...facts, actor }, SERVER).allowed;
  assert.deepEqual(
    [of(['api'], 'api'), of(['*'], 'api'), of(['api'], 'other'), of([], 'api'), of(['*']), of(['api'])],
    [true, true, false, false, false, false],
  );
});

test('a rule that names types of authorization details is for requests with those, and with none', () => {
  const of = (include: readonly string[], ...detailTypes: string[]) =>
    decideAccess([policy([rule({ authorizationDetails: { include } })])], { ...facts, detailTypes }, SERVER).allowed;
  assert.deepEqual(
    [
      of(['payment'], 'payment'),
      of(['payment']),
      of(['*'], 'payment', 'accounts'),
      of([]),
      of(['payment'], 'payment', 'accounts'),
      of([], 'payment'),
    ],
    [true, true, true, true, false, false],
  );
  const { reasons } = decideAccess(
    [policy([rule({ authorizationDetails: { include: [] } })])],
    { ...facts, detailTypes: ['payment'] },
    SERVER,
  );
  assert.equal(reasons.at(-2)?.reason, 'the rule is for other authorization details');
});

test('groups are asked for only where a rule names one', () => {
  assert.equal(dependsOnGroups([policy([rule({})])]), false);
  assert.equal(dependsOnGroups([policy([rule({ people: { groups: { include: ['EVERYONE'] } } })])]), false);
  assert.equal(dependsOnGroups([policy([rule({ people: { users: { include: ['ada'] }, groups: { include: [] } } })])]), false);
  assert.equal(dependsOnGroups([policy([rule({}), rule({ people: { groups: { include: ['staff'] } } })])]), true);
});

test('a refresh token without an end of its own lives for ten years', () => {
  const { lifetimes } = decideAccess([policy([rule({}, { token: { refreshTokenLifetimeMinutes: 0 } })])], facts, SERVER);
  assert.deepEqual(lifetimes, { ...SERVER, refreshTokenSeconds: 10 * 365 * 86_400 });
});

test('a name is taken out of the list that it stands in, and the list stays', () => {
  const conditions = { people: { users: { include: ['ada', 'bob'] }, groups: { include: ['ada'] } }, scopes: { include: ['ada'] } };
  const { people, scopes } = conditions;
  assert.deepEqual(withoutName(conditions, 'user', 'ada'), { scopes, people: { ...people, users: { include: ['bob'] } } });
  assert.deepEqual(withoutName(conditions, 'group', 'ada'), { scopes, people: { ...people, groups: { include: [] } } });
  assert.deepEqual(withoutName({ actors: { include: ['ada', 'api'] } }, 'application', 'api'), { actors: { include: ['ada'] } });
  assert.deepEqual(withoutName(conditions, 'application', 'ada'), conditions);
  for (const untouched of [{}, { people: {} }, { people: { groups: { include: ['ada'] } } }]) {
    assert.deepEqual(withoutName(untouched, 'user', 'ada'), untouched);
  }
  assert.equal(allowed(withoutName({ people: { users: { include: ['bob'] } } }, 'user', 'bob')), false);
});

test('one is put in its place among the others, wherever it stood before', () => {
  const ids = ['a', 'b', 'c'];
  assert.deepEqual(
    [inOrder(ids, 'new', undefined), inOrder(ids, 'new', 1), inOrder(ids, 'new', 3), inOrder(ids, 'new', 99)].map((order) =>
      order.join(''),
    ),
    ['abcnew', 'newabc', 'abnewc', 'abcnew'],
  );
  assert.deepEqual(
    [inOrder(ids, 'a', 3), inOrder(ids, 'c', 1), inOrder(ids, 'b', 2), inOrder(ids, 'a', undefined)].map((order) => order.join('')),
    ['bca', 'cab', 'abc', 'bca'],
  );
});
