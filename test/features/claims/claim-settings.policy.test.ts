/** What a claim of a server may be (management API, "claims"), patterns that cannot run for long, and how large a token becomes (RFC 7515 section 7.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  jsonSize,
  LARGEST_FIXED_CLAIMS,
  LARGEST_PAYLOAD,
  limitToTokenSize,
} from '../../../src/features/authorization-servers/token-size.policy.ts';
import { claimProblems, scopeNameProblem } from '../../../src/features/claims/claim-settings.policy.ts';
import type { ServerClaim } from '../../../src/features/claims/custom-claims.policy.ts';
import { groupFilter, patternProblem } from '../../../src/features/groups/group-filter.policy.ts';

const claim = (rest: Partial<ServerClaim> = {}): ServerClaim => ({
  id: 'id',
  name: 'plan',
  claimType: 'IDENTITY',
  valueType: 'STATIC',
  value: 'x',
  scopes: [],
  alwaysIncludeInToken: true,
  valueFormat: 'TEXT',
  groupFilterType: null,
  status: 'ACTIVE',
  ...rest,
});
const CONTEXT = { scopes: ['openid', 'read'], claims: [], attributes: ['login', 'department'] };
const fields = (rest: Partial<ServerClaim>, claims: readonly ServerClaim[] = []) =>
  claimProblems(claim(rest), { ...CONTEXT, claims }).map(({ field }) => field);

test('every contradiction of a claim is told with its field', () => {
  const table: readonly (readonly [Partial<ServerClaim>, readonly string[]])[] = [
    [{}, []],
    ...[
      'iss',
      'aud',
      'exp',
      'iat',
      'nbf',
      'jti',
      'sub',
      'client_id',
      'scope',
      'nonce',
      'auth_time',
      'acr',
      'amr',
      'at_hash',
      'c_hash',
      's_hash',
    ]
      .concat([
        'sid',
        'azp',
        'events',
        'cnf',
        'active',
        'token_type',
        'username',
        'uid',
        'device_id',
        '_claim_names',
        '_claim_sources',
        '__proto__',
      ])
      .map((name) => [{ name }, ['name']] as const),
    [{ name: 'email' }, []],
    [{ name: 'https://example.com/plan' }, []],
    [{ claimType: 'RESOURCE', alwaysIncludeInToken: false }, ['alwaysIncludeInToken']],
    [{ alwaysIncludeInToken: false }, []],
    [{ scopes: ['read'] }, []],
    [{ scopes: ['read', 'write'] }, ['conditions.scopes']],
    [{ value: '' }, ['value']],
    [{ valueType: 'USER_ATTRIBUTE', value: 'department' }, []],
    [{ valueType: 'USER_ATTRIBUTE', value: 'user.profile.department' }, []],
    [{ valueType: 'USER_ATTRIBUTE', value: 'password' }, ['value']],
    [{ valueType: 'USER_ATTRIBUTE', value: '' }, ['value']],
    [{ valueType: 'USER_ATTRIBUTE', value: 'constructor' }, ['value']],
    [{ valueType: 'GROUPS', value: 'a' }, ['group_filter_type']],
    [{ groupFilterType: 'EQUALS' }, ['group_filter_type']],
    [{ valueType: 'GROUPS', groupFilterType: 'STARTS_WITH', value: '' }, []],
    [{ valueType: 'GROUPS', groupFilterType: 'EQUALS', value: '' }, ['value']],
    [{ valueType: 'GROUPS', groupFilterType: 'REGEX', value: '(a+)+' }, ['value']],
    [{ valueType: 'ORGANIZATION', value: 'id' }, []],
    [{ valueType: 'DEPARTMENT', value: '' }, []],
    [{ valueType: 'DEPARTMENT', value: 'parent' }, ['value']],
    [{ name: 'iss', value: '', scopes: ['nowhere'] }, ['name', 'value', 'conditions.scopes']],
  ];
  for (const [rest, expected] of table) assert.deepEqual(fields(rest), expected, JSON.stringify(rest));
});

test('fixed values that make a token larger than 8 KiB are refused, alone and together', () => {
  const largest = 'x'.repeat(LARGEST_FIXED_CLAIMS - jsonSize({ plan: '' }) + 1);
  const half = claim({ id: 'other', name: 'half', value: 'x'.repeat(LARGEST_FIXED_CLAIMS / 2) });
  assert.deepEqual(fields({ value: largest }), []);
  assert.deepEqual(fields({ value: `${largest}x` }), ['value']);
  assert.deepEqual(fields({ value: 'ü'.repeat(LARGEST_FIXED_CLAIMS / 2) }), ['value'], 'bytes count, not characters');
  assert.deepEqual(fields({ value: half.value }), []);
  assert.deepEqual(fields({ value: half.value }, [half]), ['value']);
  assert.deepEqual(fields({ value: half.value }, [{ ...half, claimType: 'RESOURCE' }]), [], 'another token');
  assert.deepEqual(fields({ value: half.value }, [{ ...half, status: 'INACTIVE' }]), []);
  assert.deepEqual(fields({ value: `${largest}x`, status: 'INACTIVE' }), [], 'an inactive one stands in no token');
});

test('a pattern is refused that might run for long, with the reason', () => {
  const good = ['.*', 'app-.*', '^app-\\w+-admin$', 'a|b|c', '[()*+?]{2}', '\\(admin\\)', '\\u{1F600}.*', '[^-]+-.*', 'Ж.*', ''];
  for (const pattern of good) assert.equal(patternProblem(pattern), undefined, pattern);
  const bad = [
    '(a+)+$',
    '(a|a)*',
    '(?=a)',
    'a*a*a*b',
    'a?a?a?aaa',
    '\\1',
    '\\k<x>',
    '[',
    'a{2,1}',
    '*',
    'a|b|c|d|e|f|g|h|i',
    'a+a+b|c+c+d',
    'x'.repeat(129),
    '\\',
  ];
  for (const pattern of bad) assert.notEqual(patternProblem(pattern), undefined, pattern);
});

test('the names of one decision are matched for a bounded number of steps: those beyond do not fit', () => {
  const names = Array.from({ length: 2000 }, () => 'a'.repeat(255));
  const fitting = (pattern: string) => names.filter(groupFilter('REGEX', pattern)).length;
  assert.equal(fitting('a*'), names.length, 'a pattern that repeats once takes as many steps as a name has letters');
  const twice = fitting('.*a.*');
  assert.ok(twice > 100 && twice < 1000, `${twice}: one that repeats twice takes their square`);
  const many = Array.from({ length: 10_000 }, (_, n) => `team-${n}-of-some-department`);
  assert.equal(many.filter(groupFilter('REGEX', 'team-.*-of-.*')).length, many.length);
  assert.equal(many.filter(groupFilter('REGEX', 'app-.*|team-.*|org-.*')).length, many.length);
});

test('a pattern that stands in the database although it is refused means no group', () => {
  assert.equal(groupFilter('REGEX', '(a+)+$')('aaaa'), false);
});

test('the largest claims stay out until the rest fits, standard ones never', () => {
  const claims = { small: 'x', large: 'x'.repeat(3000), larger: 'x'.repeat(4000) };
  assert.deepEqual(limitToTokenSize(claims, 500), { claims: { small: 'x', large: claims.large }, omitted: ['larger'] });
  assert.deepEqual(limitToTokenSize(claims, 4000), { claims: { small: 'x' }, omitted: ['larger', 'large'] });
  assert.deepEqual(limitToTokenSize(claims, LARGEST_PAYLOAD + 1), { claims: {}, omitted: ['larger', 'large', 'small'] });
  assert.deepEqual(limitToTokenSize({ a: 'x' }, 500), { claims: { a: 'x' }, omitted: [] });
});

test('scope names are those of RFC 6749 section 3.3, but for the one that means all', () => {
  for (const name of ['read', 'orders:write', 'https://example.com/a', '!', '~', "it's"])
    assert.equal(scopeNameProblem(name), undefined, name);
  for (const name of ['', ' ', 'a b', 'a"b', 'a\\b', 'ä', '\u0000', '\u202e', '*', 'x'.repeat(101)])
    assert.notEqual(scopeNameProblem(name), undefined, name);
});
