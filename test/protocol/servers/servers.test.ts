/** Authorization servers come and go while the service runs; what is changed here is effective at the next request, elsewhere when it is told. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, type Service, STARTED, startService } from '../../support/service.ts';
import { withProductionTimings } from '../../support/short-waits.ts';
import { createClient, post } from './relying-party.ts';

/** The clock of the caches, which stands still. @returns what moves it on, by milliseconds */
function cacheClock(t: TestContext): (milliseconds: number) => void {
  withProductionTimings(t, 'cache');
  // Whole numbers: a sum of fractions may fall short of the limit.
  let now = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => now);
  return (milliseconds) => {
    now += milliseconds;
  };
}

const discoveryOf = (service: Service, id: string): Promise<Response> => fetch(`${service.issuer(id)}/.well-known/openid-configuration`);

test('a server that is created, changed, deactivated and activated is live without a restart', async (t) => {
  const service = await startService(t);
  const machine = await service.createApp({ application_type: 'service' });
  const issue = () => post(service, 'orders', 'token', machine, { grant_type: 'client_credentials' });
  assert.equal((await discoveryOf(service, 'orders')).status, 404);

  const created = await service.api('POST', '/authorizationServers', { id: 'orders', name: 'Orders', audiences: ['api://orders'] });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.equal((await issue()).body.expires_in, 3600);

  const changed = await service.api('PUT', '/authorizationServers/orders', {
    name: 'Orders',
    audiences: ['api://orders'],
    accessTokenLifetimeMinutes: 10,
    accessTokenFormat: 'opaque',
    signingAlg: 'ES256',
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const { body } = await issue();
  assert.equal(body.expires_in, 600);
  assert.doesNotMatch(body.access_token, /\./);
  const document = (await (await discoveryOf(service, 'orders')).json()) as Record<string, string[]>;
  assert.deepEqual(document.id_token_signing_alg_values_supported?.toSorted(), ['ES256', 'RS256']);

  await service.api('POST', '/authorizationServers/orders/lifecycle/deactivate');
  assert.equal((await issue().catch(() => ({ status: 404 }))).status, 404);
  assert.equal((await discoveryOf(service, 'orders')).status, 404);
  await service.api('POST', '/authorizationServers/orders/lifecycle/activate');
  assert.equal((await issue()).status, 200);
});

test('another process on the same database follows as soon as it is told (LISTEN/NOTIFY)', async (t) => {
  const secretKey = newSecretKey();
  const first = await startService(t, { env: { SECRET_KEY: secretKey } });
  const second = await startService(t, { beside: { database: first.database, secretKey } });
  const machine = await first.createApp({ application_type: 'service' });
  await first.api('POST', '/authorizationServers', { id: 'orders', name: 'Orders', audiences: ['api://orders'] });
  assert.equal((await post(second, 'orders', 'token', machine, { grant_type: 'client_credentials' })).body.expires_in, 3600);

  await first.api('PUT', '/authorizationServers/orders', { name: 'Orders', audiences: ['api://orders'], accessTokenLifetimeMinutes: 5 });
  // By itself it would look again in ten minutes (support/short-waits.ts).
  await eventually(
    async () => (await post(second, 'orders', 'token', machine, { grant_type: 'client_credentials' })).body.expires_in === 300,
    'the other one follows',
  );
});

test('an endpoint of the built-in server is no id, and the built-in server changes its lifetimes and algorithm only', async (t) => {
  const service = await startService(t);
  for (const id of [
    'authorize',
    'token',
    'keys',
    'logout',
    'userinfo',
    'introspect',
    'revoke',
    'built-in',
    '.well-known',
    'UPPER',
    '-a',
    'a/b',
  ]) {
    assert.equal((await service.api('POST', '/authorizationServers', { id, name: id, audiences: ['api://x'] })).status, 400, id);
  }
  const { body } = await service.api('GET', '/authorizationServers/built-in');
  const { status } = await service.api('PUT', '/authorizationServers/built-in', { ...body, name: 'Mine' });
  assert.equal(status, 403);
  assert.equal((await service.api('PUT', '/authorizationServers/built-in', { ...body, accessTokenLifetimeMinutes: 5 })).status, 200);
  assert.equal((await service.api('POST', '/authorizationServers/built-in/lifecycle/deactivate')).status, 403);
});

test('a client that is created elsewhere is known at once (RFC 6749 section 2)', async (t) => {
  const secretKey = newSecretKey();
  const first = await startService(t, { env: { SECRET_KEY: secretKey } });
  const second = await startService(t, { beside: { database: first.database, secretKey } });
  const machine = await createClient(first, { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] });
  assert.equal((await post(second, 'default', 'token', machine, { grant_type: 'client_credentials' })).status, 200);
});

test('servers in use are asked about together, however many they are, and a change that nobody told is found', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const machine = await service.createApp({ application_type: 'service' });
  const ids = Array.from({ length: 6 }, (_, number) => `orders${number}`);
  for (const id of ids)
    await service.api('POST', '/authorizationServers', { id, name: id, audiences: [`api://${id}`], signingAlg: 'ES256' });
  const lifetimes = () =>
    Promise.all(ids.map(async (id) => (await post(service, id, 'token', machine, { grant_type: 'client_credentials' })).body.expires_in));
  const looks = (statements: readonly string[]) => statements.filter((text) => text.includes('AS revision')).length;
  const loads = (statements: readonly string[]) => statements.filter((text) => text.includes('from "scopes"')).length;
  await lifetimes();
  // News comes in order. When the last is here, none of the servers' creation is under way.
  await onServer(own.url, async (client) => {
    await client.query("UPDATE authorization_servers SET access_token_seconds = 1800 WHERE id = 'orders0'");
    await client.query(`SELECT pg_notify('gatehouse', '{"kind":"server","id":"orders0"}')`);
  });
  await eventually(async () => (await lifetimes())[0] === 1800, 'the last change is known');
  const move = cacheClock(t);
  move(3000);
  await lifetimes();

  const taken = () => {
    const statements = database.taken();
    return [looks(statements), loads(statements)];
  };
  taken();
  const unchanged = [1800, 3600, 3600, 3600, 3600, 3600];
  for (let times = 0; times < 3; times += 1) {
    move(2000);
    assert.deepEqual(await lifetimes(), unchanged);
    assert.deepEqual(taken(), [0, 0]);
    move(1000);
    assert.deepEqual(await lifetimes(), unchanged);
    assert.deepEqual(taken(), [1, 0]);
  }
  await onServer(own.url, (client) => client.query("UPDATE authorization_servers SET access_token_seconds = 300 WHERE id = 'orders3'"));
  move(2000);
  assert.deepEqual(await lifetimes(), unchanged);
  move(1000);
  assert.deepEqual(await lifetimes(), [1800, 3600, 3600, 300, 3600, 3600]);
  assert.deepEqual(taken(), [1, 1]);
});

test('who asks for a server that there is not costs one look-up of that id, not one of all that are in use', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  for (const id of ['built-in', 'default']) assert.equal((await discoveryOf(service, id)).status, 200);
  const looks = () => database.takenWithValues().flatMap(({ text, values }) => (text.includes('AS revision') ? [values] : []));
  assert.ok(
    looks().some((values) => values.includes('"default"')),
    'a look names what it is at',
  );
  const ids = ['nowhere0', 'nowhere1', 'nowhere2'];
  for (const { status } of await Promise.all(ids.map((id) => discoveryOf(service, id)))) assert.equal(status, 404);
  const found = looks();
  assert.equal(found.length, ids.length);
  for (const id of ids) assert.equal(found.filter((values) => values.includes(`{"${id}"}`)).length, 1, id);
});

test('servers in use are looked at together when their time has come, and none again for the sake of another', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const move = cacheClock(t);
  const looked = async (id: string): Promise<string[]> => {
    database.takenWithValues();
    assert.equal((await discoveryOf(service, id)).status, 200);
    const looks = database.takenWithValues().filter(({ text }) => text.includes('AS revision'));
    return looks.map(({ values }) =>
      [...values.matchAll(/"([\w-]+)"/g)]
        .map(([, name]) => name)
        .sort()
        .join(),
    );
  };
  for (const id of ['built-in', 'default']) await discoveryOf(service, id);
  move(3100);
  assert.deepEqual(await looked('built-in'), ['built-in'], 'the other one was not in use');
  move(100);
  assert.deepEqual(await looked('default'), ['default'], 'the other one was looked at just now');
  move(1800);
  for (const id of ['built-in', 'default']) assert.deepEqual(await looked(id), []);
  move(1400);
  assert.deepEqual(await looked('built-in'), ['built-in,default']);
  assert.deepEqual(await looked('default'), []);
});

test('the requests of all servers are of one kind to V8, and of another where all addresses are https', async (t) => {
  const seen: object[][] = [];
  const { createContext } = Koa.prototype;
  t.mock.method(Koa.prototype, 'createContext', function seeing(this: Koa, ...parts: Parameters<typeof createContext>) {
    const ctx = createContext.apply(this, parts);
    seen.push([ctx, ctx.request, ctx.response].map((one) => Object.getPrototypeOf(one)));
    return ctx;
  });
  const kindsOf = async (service: Service) => {
    seen.length = 0;
    for (const id of ['built-in', 'default', 'another']) {
      const document = await fetch(`${service.listensAt}${new URL(service.issuer(id)).pathname}/keys`);
      assert.equal(document.status, 200, await document.text());
    }
    assert.equal(seen.length, 3);
    return seen.slice();
  };
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', { id: 'another', name: 'Another', audiences: ['api://another'] });
  const [first = [], ...others] = await kindsOf(service);
  for (const other of others) for (const [index, prototype] of other.entries()) assert.equal(prototype, first[index]);

  const secure = await startService(t, {
    beside: { database: service.database, secretKey: STARTED.SECRET_KEY },
    env: { BASE_URL: 'https://id.example' },
  });
  const [one = [], ...more] = await kindsOf(secure);
  for (const other of more) for (const [index, prototype] of other.entries()) assert.equal(prototype, one[index]);
  assert.notEqual(one[1], first[1]);
});
