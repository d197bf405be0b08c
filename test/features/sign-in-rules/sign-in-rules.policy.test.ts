/** The rules of the sign-in policy as a pure decision, and the networks of zones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideSignIn, type SignInFacts, type SignInRule } from '../../../src/features/sign-in-rules/sign-in-rules.policy.ts';
import { isInNetworks, isNetwork } from '../../../src/platform/validation/addresses.ts';

const NOW = new Date('2026-11-24T12:00:00Z');
const facts = (more: Partial<SignInFacts> = {}): SignInFacts => ({
  zones: [],
  newBrowser: false,
  country: 'unknown',
  lastSignIn: undefined,
  ...more,
});
const rule = (name: string, action: SignInRule['action'], conditions: SignInRule['conditions'] = {}): SignInRule => ({
  name,
  action,
  conditions,
});
const actionOf = (rules: readonly SignInRule[], more?: Partial<SignInFacts>) => decideSignIn(rules, facts(more), NOW).action;

test('the first rule whose conditions are all met decides; without one the sign-in is allowed', () => {
  const rules = [
    rule('Office', 'ALLOW', { zones: { include: ['Office'] } }),
    rule('New browser', 'SECOND_FACTOR', { newBrowser: true, zones: { exclude: ['Banned'] } }),
    rule('Banned', 'DENY', { zones: { include: ['Banned'] } }),
  ];
  assert.equal(actionOf([]), 'ALLOW');
  assert.equal(actionOf(rules), 'ALLOW');
  assert.equal(actionOf(rules, { newBrowser: true }), 'SECOND_FACTOR');
  assert.equal(actionOf(rules, { newBrowser: true, zones: ['Office'] }), 'ALLOW');
  assert.equal(actionOf(rules, { newBrowser: true, zones: ['Banned'] }), 'DENY');
  assert.equal(actionOf(rules, { zones: ['Office', 'Banned'] }), 'ALLOW', 'in their order');
  const { rule: decided, steps } = decideSignIn(rules, facts({ zones: ['Banned'], newBrowser: true }), NOW);
  assert.equal(decided?.name, 'Banned');
  assert.deepEqual(
    steps.map(({ reason }) => reason),
    ['the address is in none of its zones', 'the address is in an excluded zone', 'the rule fits'],
  );
});

test('a rule without conditions fits every sign-in; an empty list of zones fits none, or excludes none', () => {
  assert.equal(actionOf([rule('All', 'DENY')]), 'DENY');
  assert.equal(actionOf([rule('None', 'DENY', { zones: { include: [] } })], { zones: ['Office'] }), 'ALLOW');
  assert.equal(actionOf([rule('Any', 'DENY', { zones: { exclude: [] } })], { zones: ['Office'] }), 'DENY');
  assert.equal(actionOf([rule('Known', 'DENY', { newBrowser: false })], { newBrowser: true }), 'ALLOW');
});

test('the last sign-in counts in whole spans of 24 hours; who never signed in does not match', () => {
  const rules = [rule('Long ago', 'SECOND_FACTOR', { daysSinceLastSignIn: 30 })];
  const ago = (days: number, ms = 0) => new Date(NOW.getTime() - days * 86_400_000 + ms);
  assert.equal(actionOf(rules, { lastSignIn: ago(30) }), 'SECOND_FACTOR');
  assert.equal(actionOf(rules, { lastSignIn: ago(30, 1) }), 'ALLOW');
  assert.equal(actionOf(rules, { lastSignIn: ago(400) }), 'SECOND_FACTOR');
  assert.equal(actionOf(rules), 'ALLOW');
});

test('a new country is one that is known and not among the former ones; the first, and an address without a country, match neither', () => {
  const isNew = [rule('New country', 'SECOND_FACTOR', { newCountry: true })];
  const isKnown = [rule('Known country', 'SECOND_FACTOR', { newCountry: false })];
  const decided = (rules: readonly SignInRule[]) =>
    (['new', 'known', 'first', 'unknown'] as const).map((country) => actionOf(rules, { country }));
  assert.deepEqual(decided(isNew), ['SECOND_FACTOR', 'ALLOW', 'ALLOW', 'ALLOW']);
  assert.deepEqual(decided(isKnown), ['ALLOW', 'SECOND_FACTOR', 'ALLOW', 'ALLOW']);
  assert.equal(decideSignIn(isNew, facts({ country: 'first' }), NOW).steps[0]?.reason, 'the country is the first');
});

test('an address is within a network of its kind, in whatever form it is written (RFC 4291 section 2.5.5.2)', () => {
  for (const [networks, address, expected] of [
    [['192.0.2.0/24'], '192.0.2.255', true],
    [['192.0.2.0/24'], '192.0.3.0', false],
    [['192.0.2.0/24'], '::ffff:192.0.2.7', true],
    [['192.0.2.0/24'], '2001:db8::1', false],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['2001:db8::/32'], '2001:DB8:0:0::7', true],
    [['2001:db8::/32'], '2001:db8::7%eth0', true],
    [['2001:db8::/32', '198.51.100.7/32'], '198.51.100.7', true],
    [['192.0.2.0/24'], 'nonsense', false],
    [['192.0.2.0/24'], undefined, false],
    [[], '192.0.2.1', false],
  ] as const)
    assert.equal(isInNetworks(networks, address), expected, `${networks} ${address}`);
});

test('a network is CIDR without bits behind its prefix', () => {
  for (const good of ['192.0.2.0/24', '0.0.0.0/0', '192.0.2.7/32', '2001:db8::/32', '::/0', '::1/128']) assert.ok(isNetwork(good), good);
  for (const bad of ['192.0.2.7/24', '192.0.2.0', '192.0.2.0/33', '2001:db8::1/32', '', 'office', '192.0.2.0-192.0.2.9', '/24'])
    assert.ok(!isNetwork(bad), bad);
  for (const misread of ['010.0.0.0/8', '0x0a000000/8', '10.0.0.0/08', '::ffff:192.0.2.0/120', 'fe80::%eth0/64'])
    assert.ok(!isNetwork(misread), `${misread} means another network than it seems, or none`);
});
