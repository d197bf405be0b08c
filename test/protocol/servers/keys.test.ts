/** Signing keys and their rotation: RFC 7517, OpenID Connect Core section 10.1.1; decisions, "signing". */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { createSigningKeys } from '../../../src/features/authorization-servers/signing-keys.service.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { verificationKeys } from '../../../src/protocol/servers/keys.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, SIGNED_OUT, type TestClient, tokensFor } from './relying-party.ts';

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly status: string;
  readonly created: string;
  readonly lastUpdated: string;
}

const DAY = 86_400;
const path = '/authorizationServers/default/credentials';
/** Those that the server signs with by default; it has as many for ES256. */
const rsa = <T extends { readonly alg?: string | undefined }>(keys: readonly T[]): T[] => keys.filter(({ alg }) => alg === 'RS256');
const keysOf = async (service: Service): Promise<Key[]> => rsa((await service.api('GET', `${path}/keys`)).body);
const rotate = async (service: Service): Promise<Key[]> => {
  const { status, body } = await service.api('POST', `${path}/lifecycle/keyRotate`, { use: 'sig' });
  assert.equal(status, 200, JSON.stringify(body));
  return rsa(body);
};
const jwks = async (service: Service, serverId = 'default'): Promise<JSONWebKeySet> =>
  (await fetch(`${service.issuer(serverId)}/keys`)).json() as Promise<JSONWebKeySet>;
const published = async (service: Service): Promise<(string | undefined)[]> => rsa((await jwks(service)).keys).map(({ kid }) => kid);
const states = (keys: readonly Key[]): string[] => keys.map(({ status }) => status);

async function issue(service: Service, client: TestClient): Promise<string> {
  const { status, body } = await post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
  assert.equal(status, 200, JSON.stringify(body));
  return body.access_token;
}

const isActive = async (service: Service, client: TestClient, token: string): Promise<boolean> =>
  (await post(service, 'default', 'introspect', client, { token })).body.active;
const machine = (service: Service): Promise<TestClient> => service.createApp({ application_type: 'service' });

test('a server has one key that signs and the next one, and tells which (decisions, "signing")', async (t) => {
  const service = await startService(t);
  const client = await machine(service);
  const before = await keysOf(service);
  assert.deepEqual(states(before), ['ACTIVE', 'NEXT']);
  assert.deepEqual(
    await published(service),
    before.map(({ kid }) => kid),
  );
  assert.equal(decodeProtectedHeader(await issue(service, client)).kid, before[0]?.kid);
  const { credentials } = (await service.api('GET', '/authorizationServers/default')).body;
  const nextRotation = new Date(Date.parse(before[0]?.created ?? '') + 90 * DAY * 1000).toISOString();
  assert.deepEqual(credentials, { signing: { kid: before[0]?.kid, rotationMode: 'AUTO', lastRotated: before[0]?.created, nextRotation } });

  const after = await rotate(service);
  assert.deepEqual(states(after), ['ACTIVE', 'NEXT', 'RETIRED']);
  assert.deepEqual([after[0]?.kid, after[2]?.kid], [before[1]?.kid, before[0]?.kid], 'the next one signs');
  assert.deepEqual(await keysOf(service), after);
  assert.deepEqual(
    await published(service),
    after.map(({ kid }) => kid),
  );
  assert.equal(decodeProtectedHeader(await issue(service, client)).kid, after[0]?.kid);
  const { signing } = (await service.api('GET', '/authorizationServers/default')).body.credentials;
  assert.deepEqual([signing.kid, signing.lastRotated], [after[0]?.kid, after[0]?.lastUpdated]);
  assert.equal((await service.api('GET', '/authorizationServers/built-in')).body.credentials.signing.kid !== signing.kid, true);

  const [event] = (await service.api('GET', '/logs?filter=eventType%20eq%20%22app.oauth2.as.key.rollover%22')).body;
  assert.deepEqual(event.target[0].id, 'default');
  assert.deepEqual(states(rsa(event.debugContext.after.keys)), ['ACTIVE', 'NEXT', 'RETIRED']);
});

test('keys are told by their public members only, those of both kinds (RFC 7518 section 6)', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', { id: 'curve', name: 'Curve', signingAlg: 'ES256' });
  const common = ['alg', 'created', 'kid', 'kty', 'lastUpdated', 'status', 'use'];
  const members: Readonly<Record<string, readonly string[]>> = { RS256: ['e', 'n'], ES256: ['crv', 'x', 'y'] };
  for (const id of ['default', 'curve']) {
    const { body } = await service.api('GET', `/authorizationServers/${id}/credentials/keys`);
    assert.equal(body.length, 4);
    for (const key of body) assert.deepEqual(Object.keys(key).sort(), [...common, ...(members[key.alg] ?? [])].sort());
  }
  assert.equal((await service.api('GET', '/authorizationServers/nobody/credentials/keys')).status, 404);
  assert.equal((await service.api('POST', '/authorizationServers/nobody/credentials/lifecycle/keyRotate', { use: 'sig' })).status, 404);
  assert.equal((await service.api('POST', `${path}/lifecycle/keyRotate`, { use: 'enc' })).status, 400);
});

test('a server that signs with two algorithms rotates both', async (t) => {
  const service = await startService(t);
  const server = (await service.api('GET', '/authorizationServers/default')).body;
  await service.api('PUT', '/authorizationServers/default', { ...server, signingAlg: 'ES256' });
  const client = await machine(service);
  assert.equal(decodeProtectedHeader(await issue(service, client)).alg, 'ES256');
  const after: Key[] = (await service.api('POST', `${path}/lifecycle/keyRotate`, { use: 'sig' })).body;
  for (const alg of ['RS256', 'ES256']) assert.deepEqual(states(after.filter((key) => key.alg === alg)), ['ACTIVE', 'NEXT', 'RETIRED']);
  const { signing } = (await service.api('GET', '/authorizationServers/default')).body.credentials;
  assert.equal(decodeProtectedHeader(await issue(service, client)).kid, signing.kid);
});

for (const serverId of ['built-in', 'default', 'curve']) {
  test(`an application chooses how its ID tokens are signed, else the server: ${serverId} (OpenID Connect Dynamic Client Registration 1.0 section 2)`, async (t) => {
    const service = await startService(t);
    if (serverId === 'curve') await service.api('POST', '/authorizationServers', { id: 'curve', name: 'Curve', signingAlg: 'ES256' });
    const discovery = await fetch(`${service.issuer(serverId)}/.well-known/openid-configuration`);
    const { id_token_signing_alg_values_supported: algs } = (await discovery.json()) as { id_token_signing_alg_values_supported: string[] };
    assert.deepEqual(algs.toSorted(), ['ES256', 'RS256']);
    const [user, browser] = [await service.createUser(), new UserAgent(service.baseUrl)];
    const own = serverId === 'curve' ? 'ES256' : 'RS256';
    for (const [chosen, expected] of [
      [undefined, own],
      ['RS256', 'RS256'],
      ['ES256', 'ES256'],
    ] as const) {
      const client = await createClient(service, chosen === undefined ? {} : { id_token_signed_response_alg: chosen });
      const { body } = await tokensFor(service, browser, user, client, { serverId });
      const { protectedHeader } = await jwtVerify(body.id_token, createLocalJWKSet(await jwks(service, serverId)));
      assert.equal(protectedHeader.alg, expected);
      if (serverId !== 'built-in') assert.equal(decodeProtectedHeader(body.access_token).alg, own, 'of access tokens the server decides');
    }
  });
}

test('while keys are rotated at two processes, every token verifies, by keys that were cached before the rotation too (OpenID Connect Core section 10.1.1)', async (t) => {
  const services = await startTwo(t);
  const client = await machine(services[0]);
  let rotating = true;
  const kids = new Set<string | undefined>();
  // Relying parties that fetched the keys at some time, as long ago as one rotation.
  let fetched = await jwks(services[1]);
  const issuing = services.map(async (service, turn) => {
    const other = services[1 - turn] ?? service;
    for (let count = 0; rotating || count === 0; count += 1) {
      const cached = fetched;
      const token = await issue(service, client);
      kids.add(decodeProtectedHeader(token).kid);
      await jwtVerify(token, createLocalJWKSet(cached), { issuer: services[0].issuer('default') });
      assert.equal(await isActive(service, client, token), true, 'where it was issued');
      assert.equal(await isActive(other, client, token), true, 'at the other process');
    }
  });
  for (let count = 0; count < 6; count += 1) {
    fetched = await jwks(services[count % 2] ?? services[0]);
    const [signing] = await rotate(services[count % 2] ?? services[0]);
    // A token that does not verify ends the wait.
    while (!kids.has(signing?.kid)) await Promise.race([new Promise((resolve) => setImmediate(resolve)), ...issuing]);
  }
  rotating = false;
  await Promise.all(issuing);
  assert.ok(kids.size >= 6, `${kids.size} keys have signed`);
});

test('twenty rotations at once: each moves on by one key, and one is active', async (t) => {
  const services = await startTwo(t);
  await services[0].api('POST', '/authorizationServers', { id: 'curve', name: 'Curve', signingAlg: 'ES256' });
  const rotations = Array.from({ length: 20 }, (_, turn) =>
    (services[turn % 2] ?? services[0]).api('POST', '/authorizationServers/curve/credentials/lifecycle/keyRotate', { use: 'sig' }),
  );
  const answers = await Promise.all(rotations);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ body }) => body[0].kid)).size, 20);
  const { body } = await services[0].api('GET', '/authorizationServers/curve/credentials/keys?limit=100');
  assert.deepEqual(states(body.filter(({ alg }: Key) => alg === 'ES256')), ['ACTIVE', 'NEXT', ...Array<string>(20).fill('RETIRED')]);
});

test('a server of before, without a next key, rotates to a new one, and has a next one from then on', async (t) => {
  const service = await startService(t);
  const client = await machine(service);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  await issue(service, client);
  await database.knex('signing_keys').where({ server_id: 'default', status: 'NEXT' }).delete();
  const after = await rotate(service);
  assert.deepEqual(states(after), ['ACTIVE', 'NEXT', 'RETIRED']);
  const token = await issue(service, client);
  assert.equal(decodeProtectedHeader(token).kid, after[0]?.kid);
  assert.equal(await isActive(service, client, token), true);
});

test('a key that another process has just made is looked for, and no other (RFC 7515 section 4.1.4)', async () => {
  const [made] = await createSigningKeys(new Keyring([randomBytes(32)]), ['ES256']);
  assert.ok(made !== undefined);
  const keyOf = verificationKeys([], async (kid) => (kid === made.kid ? made : undefined));
  const find = (kid?: string) => keyOf({ alg: 'ES256', ...(kid === undefined ? {} : { kid }) }, { payload: '', signature: '' });
  assert.ok(await find(made.kid));
  await assert.rejects(async () => find('another'));
  await assert.rejects(async () => find());
});

test('no token counts that is signed with a key which left the JWKS', async (t) => {
  const [made] = await createSigningKeys(new Keyring([randomBytes(32)]), ['ES256']);
  assert.ok(made !== undefined);
  const retired = { ...made, status: 'RETIRED' as const, retired: new Date() };
  for (const keyOf of [verificationKeys([retired], async () => undefined), verificationKeys([], async () => retired)]) {
    const find = async () => keyOf({ alg: 'ES256', kid: made.kid }, { payload: '', signature: '' });
    assert.ok(await find());
    moveClock(t, DAY + 61);
    await assert.rejects(find);
    moveClock(t, -DAY - 61);
  }
});

test('a retired key leaves the JWKS after a day, then verifies logout hints alone, and is removed 90 days later (decisions, "signing")', async (t) => {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service)];
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
  const { kid } = decodeProtectedHeader(body.id_token);
  await rotate(service);
  const signOut = async () => {
    const url = new URL(`${service.issuer('default')}/logout`);
    url.search = new URLSearchParams({ id_token_hint: body.id_token, post_logout_redirect_uri: SIGNED_OUT }).toString();
    const { status, headers } = await fetch(url, { redirect: 'manual' });
    return [status, headers.get('location')];
  };
  const keys = createRemoteJWKSet(new URL(`${service.issuer('default')}/keys`));
  await jwtVerify(body.access_token, keys);
  assert.equal(await isActive(service, client, body.id_token), true);

  moveClock(t, DAY);
  assert.ok((await published(service)).includes(kid), 'as long as a token may live');
  moveClock(t, 61);
  assert.equal((await published(service)).includes(kid), false);
  assert.equal(
    (await keysOf(service)).some((key) => key.kid === kid),
    true,
  );
  assert.deepEqual(await signOut(), [302, SIGNED_OUT], 'without a session the hint alone decides');

  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  moveClock(t, 90 * DAY - 60);
  await removeExpired(database, 1000);
  assert.equal(
    (await keysOf(service)).some((key) => key.kid === kid),
    true,
  );
  assert.deepEqual(await signOut(), [302, SIGNED_OUT]);
  moveClock(t, 120);
  await removeExpired(database, 1000);
  assert.equal(
    (await keysOf(service)).some((key) => key.kid === kid),
    false,
  );
  assert.deepEqual(states(await keysOf(service)), ['ACTIVE', 'NEXT']);
  // Another process would notice by its time limit.
  await rotate(service);
  assert.deepEqual(await signOut(), [400, null]);
});
