/** What of an audit event is whose, and that one event has one form, whatever the order of its members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AuditRecord,
  isBackdated,
  isNotMuchLater,
  namesIn,
  personalParts,
  publicForm,
  withoutParts,
} from '../../../src/features/audit/audit-chain.policy.ts';
import { canonicalJson } from '../../../src/platform/validation/canonical-json.policy.ts';

const user = (id: string) => ({ id, type: 'User', displayName: `name of ${id}` });
const app = { id: 'app_1', type: 'AppInstance', displayName: 'App' };
const nobody = { id: 'unknown', type: 'User', displayName: 'unknown' };
const system = { id: 'system', type: 'SystemPrincipal', displayName: 'Gatehouse' };

const event = (actor: AuditRecord['actor'], ...target: AuditRecord['target']): AuditRecord => ({
  seq: 1,
  uuid: 'u',
  published: new Date(0),
  eventType: 'x',
  severity: 'INFO',
  displayMessage: 'x',
  actor,
  client: { ipAddress: '203.0.113.1' },
  outcome: { result: 'SUCCESS' },
  target,
  transactionId: null,
  debugContext: { after: { name: 'x' } },
});

const owners: [what: string, event: AuditRecord, parts: Record<string, readonly string[]>][] = [
  ['an administrator changes a user', event(user('a'), user('b')), { actor: ['a'], client: ['a'], change: ['b'], 'target.0': ['b'] }],
  ['somebody fails to sign in', event(nobody, user('b')), { client: ['b'], change: ['b'], 'target.0': ['b'] }],
  ['an unknown name is tried', event(nobody), {}],
  ['a user consents', event(user('a'), app), { actor: ['a'], client: ['a'] }],
  ['the service changes an application', event(system, app), {}],
  ['a user is put into a group', event(system, app, user('b')), { change: ['b'], 'target.1': ['b'] }],
  ['a user changes himself', event(user('a'), user('a')), { actor: ['a'], client: ['a'], change: ['a'], 'target.0': ['a'] }],
];
for (const [what, given, parts] of owners) {
  test(`whose data: ${what}`, () => {
    assert.deepEqual(Object.fromEntries(personalParts(given).map(({ name, of }) => [name, of])), parts);
    const names = new Set(Object.keys(parts));
    const without = withoutParts(given, names);
    assert.deepEqual(
      personalParts(without).map(({ name }) => name),
      [...names],
      'the same parts, whatever is in them',
    );
    assert.deepEqual(publicForm(without), publicForm(given));
    assert.deepEqual(new Set(namesIn([given]).map(({ userId }) => userId)), new Set(Object.values(parts).flat()));
  });
}

test('the form of a value does not depend on the order of its members', () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}');
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }));
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
  assert.equal(canonicalJson({ ü: new Date(0), '1': undefined }), '{"ü":"1970-01-01T00:00:00.000Z"}');
});

test('a quarter of an hour is left to clocks and commits', () => {
  const at = (minutes: number): Date => new Date(minutes * 60_000);
  assert.deepEqual([isBackdated(at(44), at(60)), isBackdated(at(46), at(60)), isBackdated(at(0), undefined)], [true, false, false]);
  assert.deepEqual(
    [isNotMuchLater(at(74), at(60)), isNotMuchLater(at(76), at(60)), isNotMuchLater(at(0), undefined)],
    [true, false, false],
  );
});
