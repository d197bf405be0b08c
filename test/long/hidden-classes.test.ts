/** What each request passes has the same hidden class each time: on Node 20 a spread before further members makes one anew, which stays until the next full collection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { decideAccess } from '../../src/features/policies/access-policy.policy.ts';
import { introspectionResponse } from '../../src/protocol/introspection/introspection.ts';
import { CLIENT_SETTINGS } from '../../src/protocol/servers/client-settings.ts';
import { valueList } from '../../src/protocol/storage/shared-writes.store.ts';

setFlagsFromString('--allow-natives-syntax');
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (one: unknown, other: unknown) => boolean;

/** Makes one after the other. The first few may differ, while V8 learns what their members hold. */
async function assertOneKind(make: (number: number) => unknown): Promise<void> {
  const made: unknown[] = [];
  for (let number = 0; number < 100; number += 1) made.push(await make(number));
  for (const one of made.slice(50, -1)) assert.ok(haveSameMap(one, made.at(-1)), JSON.stringify(one));
}

test('a spread before further members is noticed where V8 minds it, and members before a spread are not minded', async () => {
  const base = () => JSON.parse('{"a":1,"b":2}');
  await assertOneKind((number) => ({ number, ...base() }));
  await assertOneKind((number) => Object.assign({}, base(), { number }));
  if (process.versions.node.startsWith('20.')) await assert.rejects(assertOneKind((number) => ({ ...base(), number })));
});

test('rows to be written', () =>
  assertOneKind((number) => {
    const whose = { accountId: 'a', clientId: 'c', grantId: 'g', uid: undefined };
    return valueList({ model: 'AccessToken', id: `id${number}`, serverKey: 1, payload: { number }, expiresAt: number, ...whose });
  }));

test('what introspection tells (RFC 7662 section 2.2)', () =>
  assertOneKind((number) => {
    const account = { id: 'u', login: 'ada', email: null, emailVerified: false, status: 'ACTIVE', profile: {}, lastUpdated: new Date(0) };
    const payload = JSON.parse(`{"kind":"AccessToken","clientId":"c","accountId":"u","scope":"openid","iat":${number}}`);
    const found = {
      model: 'AccessToken' as const,
      payload,
      consumedAt: undefined,
      expiresAt: 1_000 + number,
      account,
      organizationPolicy: null,
    };
    const owner = { clientId: 'c', [CLIENT_SETTINGS]: { sector: undefined } } as never;
    const subjects = { of: async () => 'u', userOf: async () => 'u' };
    const token = { handle: `handle${number}`, presented: undefined, owner };
    return introspectionResponse(found, token, 'https://id.example', { claimsOf: async () => ({ tier: 'gold' }), subjects });
  }));

test('why an access policy decided so', () =>
  assertOneKind((number) => {
    const facts = { clientId: `client${number}`, user: undefined, grantType: 'client_credentials' as const, scopes: [] };
    const lifetimes = { accessTokenSeconds: 1, refreshTokenSeconds: 1, refreshTokenWindowSeconds: 1 };
    const policy = { id: `policy${number}`, name: 'All', clients: ['ALL_CLIENTS'], rules: [] };
    return decideAccess([policy], facts, lifetimes).reasons[0];
  }));
