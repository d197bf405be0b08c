/** Signing keys are rotated by themselves (decisions, "signing": by API, console and automatically, every 90 days; OpenID Connect Core section 10.1.1). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { pino } from 'pino';
import { maintainAllSigningKeys } from '../../../src/features/authorization-servers/signing-keys.service.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { openNotifications } from '../../../src/platform/database/notifications.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer, type TestDatabase, testDatabase } from '../../support/database.ts';
import { eventually, runService } from '../../support/process.ts';
import { newSecretKey, type Service, type ServiceCalls, startService } from '../../support/service.ts';
import { post, type TestClient } from './relying-party.ts';

const DAY = 86_400;

const statesOf = async (service: ServiceCalls, serverId = 'default'): Promise<string[]> => {
  const { body } = await service.api('GET', `/authorizationServers/${serverId}/credentials/keys`);
  const { signingAlg } = (await service.api('GET', `/authorizationServers/${serverId}`)).body;
  return body.filter(({ alg }: { alg: string }) => alg === signingAlg).map(({ status }: { status: string }) => status);
};
const signingOf = async (service: ServiceCalls, serverId = 'default') =>
  (await service.api('GET', `/authorizationServers/${serverId}`)).body.credentials.signing;

/** What a process has that looks after keys. */
async function process(t: TestContext, database: TestDatabase, secretKey: string) {
  const log = pino({ level: 'silent' });
  const opened = await openDatabase({ connection: database.connection, onError: () => {} });
  const notifications = await openNotifications(database.connection, log);
  afterwards(t, async () => {
    await notifications.close();
    await opened.close();
  });
  return { log, database: opened, notifications, keyring: new Keyring([Buffer.from(secretKey, 'base64url')]) };
}

/** Two services on one database, and as many processes that look after its keys. */
async function world(t: TestContext) {
  const beside = { database: await testDatabase(), secretKey: newSecretKey() };
  afterwards(t, () => beside.database.drop());
  const first = await startService(t, { beside });
  const second = await startService(t, { beside, env: { BASE_URL: first.baseUrl } });
  const other: Service = { ...second, issuer: (id) => first.issuer(id).replace(first.baseUrl, second.listensAt) };
  const processes = [await process(t, beside.database, beside.secretKey), await process(t, beside.database, beside.secretKey)];
  const tend = () => Promise.all([...processes, ...processes, ...processes].map(maintainAllSigningKeys));
  return { services: [first, other] as const, database: beside.database, tend };
}

const issue = async (service: Service, app: TestClient): Promise<string> =>
  (await post(service, 'default', 'token', app, { grant_type: 'client_credentials' })).body.access_token;

test('after 90 days keys are rotated, once, however many processes look at once; and the answer says when next', async (t) => {
  const { services, tend } = await world(t);
  const [service] = services;
  await service.api('POST', '/authorizationServers', { id: 'curve', name: 'Curve', signingAlg: 'ES256' });
  const before = await signingOf(service);
  assert.equal(before.rotationMode, 'AUTO');
  assert.equal(Date.parse(before.nextRotation) - Date.parse(before.lastRotated), 90 * DAY * 1000);

  moveClock(t, 90 * DAY - 60);
  await tend();
  assert.deepEqual(await signingOf(service), before, 'not before its time');
  moveClock(t, 61);
  await tend();
  for (const id of ['default', 'built-in', 'curve']) assert.deepEqual(await statesOf(service, id), ['ACTIVE', 'NEXT', 'RETIRED'], id);
  const after = await signingOf(service);
  assert.notEqual(after.kid, before.kid);
  assert.ok(Date.parse(after.nextRotation) - Date.now() > 89 * DAY * 1000);
  await tend();
  assert.deepEqual(await signingOf(service), after);

  const filter = encodeURIComponent('eventType eq "app.oauth2.as.key.rollover"');
  const { body: events } = await service.api('GET', `/logs?filter=${filter}`);
  assert.deepEqual(events.map((event: { target: { id: string }[] }) => event.target[0]?.id).sort(), ['built-in', 'curve', 'default']);
  assert.equal(events[0].actor.type, 'SystemPrincipal');
});

test('a key does not sign by itself before it was announced for a day: relying parties keep what they fetched', async (t) => {
  const { services, tend, database } = await world(t);
  const [service] = services;
  moveClock(t, 91 * DAY);
  await onServer(database.url, (sql) =>
    sql.query("UPDATE signing_keys SET created = $1 WHERE status = 'NEXT'", [new Date(Date.now() - (DAY - 60) * 1000)]),
  );
  const before = await signingOf(service);
  assert.ok(Date.parse(before.nextRotation) > Date.now(), 'the answer says so');
  await tend();
  assert.equal((await signingOf(service)).kid, before.kid);
  moveClock(t, 120);
  await tend();
  assert.notEqual((await signingOf(service)).kid, before.kid);
});

test('a server of an earlier version gets a next key, which signs a day later at the earliest', async (t) => {
  const { services, tend, database } = await world(t);
  const [service] = services;
  moveClock(t, 100 * DAY);
  await onServer(database.url, (sql) => sql.query("DELETE FROM signing_keys WHERE status = 'NEXT'"));
  const { kid } = await signingOf(service);
  await tend();
  assert.deepEqual(await statesOf(service), ['ACTIVE', 'NEXT']);
  await tend();
  assert.equal((await signingOf(service)).kid, kid);
  moveClock(t, DAY + 1);
  await tend();
  assert.deepEqual(await statesOf(service), ['ACTIVE', 'NEXT', 'RETIRED']);
});

test('a server of an earlier version gets keys for the algorithm that it has none for, whoever rotates its keys', async (t) => {
  const { services, tend, database } = await world(t);
  const [service] = services;
  await service.api('POST', '/authorizationServers', { id: 'curve', name: 'Curve', signingAlg: 'ES256' });
  const { body: server } = await service.api('GET', '/authorizationServers/default');
  const manual = { credentials: { signing: { rotationMode: 'MANUAL' } } };
  assert.equal((await service.api('PUT', '/authorizationServers/default', { name: server.name, ...manual })).status, 200);
  await onServer(database.url, (sql) => sql.query("DELETE FROM signing_keys WHERE (alg = 'RS256') = (server_id = 'curve')"));
  const before = [await signingOf(service), await signingOf(service, 'curve')];
  await tend();
  for (const id of ['default', 'built-in', 'curve']) {
    const { body: keys } = await service.api('GET', `/authorizationServers/${id}/credentials/keys`);
    const made = keys.map(({ alg, status }: { alg: string; status: string }) => `${alg} ${status}`);
    assert.deepEqual(made.toSorted(), ['ES256 ACTIVE', 'ES256 NEXT', 'RS256 ACTIVE', 'RS256 NEXT'], id);
  }
  assert.deepEqual(
    [(await signingOf(service)).kid, (await signingOf(service, 'curve')).kid],
    before.map(({ kid }) => kid),
    'it signs as before',
  );
});

test('rotationMode MANUAL: keys are rotated by call alone; said and kept as Okta’s API has it', async (t) => {
  const { services, tend } = await world(t);
  const [service] = services;
  const path = '/authorizationServers/default';
  const { body: server } = await service.api('GET', path);
  const put = (signing: unknown) => service.api('PUT', path, { ...server, credentials: { signing } });
  const changed = await put({ ...server.credentials.signing, rotationMode: 'MANUAL' });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.deepEqual(changed.body.credentials.signing, { ...server.credentials.signing, rotationMode: 'MANUAL', nextRotation: null });
  const [event] = (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "oauth2.as.updated"')}`)).body;
  assert.deepEqual([event.debugContext.before.rotationMode, event.debugContext.after.rotationMode], ['AUTO', 'MANUAL']);
  const { credentials: _, ...rest } = server;
  assert.equal((await service.api('PUT', path, rest)).body.credentials.signing.rotationMode, 'MANUAL', 'what is not said stays');

  moveClock(t, 200 * DAY);
  await tend();
  assert.equal((await signingOf(service)).kid, server.credentials.signing.kid);
  assert.deepEqual(await statesOf(service, 'built-in'), ['ACTIVE', 'NEXT', 'RETIRED']);
  const rotated = await service.api('POST', `${path}/credentials/lifecycle/keyRotate`, { use: 'sig' });
  assert.equal(rotated.status, 200);

  for (const [signing, field] of [
    [{ rotationMode: 'SOMETIMES' }, 'credentials.signing.rotationMode'],
    [{ rotationMode: 'AUTO', every: 5 }, 'credentials.signing.every'],
  ] as const) {
    const { status, body } = await put(signing);
    assert.equal(status, 400);
    assert.match(JSON.stringify(body.errorCauses), new RegExp(field.replace(/\./g, '\\.')));
  }
  const created = await service.api('POST', '/authorizationServers', {
    name: 'By hand',
    credentials: { signing: { rotationMode: 'MANUAL' } },
  });
  assert.deepEqual([created.status, created.body.credentials.signing.nextRotation], [201, null]);
  const builtIn = (await service.api('GET', '/authorizationServers/built-in')).body;
  const given = { ...builtIn, credentials: { signing: { rotationMode: 'MANUAL' } } };
  assert.equal((await service.api('PUT', '/authorizationServers/built-in', given)).body.credentials.signing.rotationMode, 'MANUAL');
});

test('keys rotate by themselves at two processes under load: every token verifies, at relying parties that keep the keys, too', async (t) => {
  const { services, tend, database } = await world(t);
  const [service, other] = services;
  const app = await service.createApp({ application_type: 'service' });
  const config = await client.discovery(new URL(service.issuer('default')), app.clientId, {}, client.ClientSecretBasic(app.clientSecret), {
    execute: [client.allowInsecureRequests],
  });
  // Fetches the keys once, and again only as jose does: for a key that it has not seen, and not twice within half a minute.
  const keys = createRemoteJWKSet(new URL(String(config.serverMetadata().jwks_uri)));
  const kids = new Set<string | undefined>();
  let rotating = true;
  let issued = 0;
  const issuing = services.map(async (at, turn) => {
    while (rotating) {
      const token = await issue(at, app);
      kids.add(decodeProtectedHeader(token).kid);
      await jwtVerify(token, keys, { issuer: service.issuer('default') });
      const introspected = await post(turn === 0 ? other : service, 'default', 'introspect', app, { token });
      assert.equal(introspected.body.active, true, 'at the other process');
      issued += 1;
    }
  });
  await jwtVerify((await client.clientCredentialsGrant(config)).access_token, keys);
  for (let round = 0; round < 3; round += 1) {
    const { kid } = await signingOf(service);
    // 91 days pass for the keys, in which everybody has fetched the one that follows.
    const aging = "UPDATE signing_keys SET created = created - interval '91 days', activated = activated - interval '91 days'";
    await onServer(database.url, (sql) => sql.query(`${aging} WHERE status <> 'RETIRED'`));
    await keys.reload();
    await tend();
    const signing = (await signingOf(service)).kid;
    assert.notEqual(signing, kid);
    while (!kids.has(signing)) await Promise.race([new Promise((resolve) => setImmediate(resolve)), ...issuing]);
  }
  rotating = false;
  await Promise.all(issuing);
  t.diagnostic(`${issued} tokens, ${kids.size} keys`);
  assert.equal(kids.size, 4);
});

test('real processes look after the keys when they start: of two that start together one rotates', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const env = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
  const first = await runService(t, env);
  await eventually(async () => (await statesOf(first)).length === 2, 'the server has its keys');
  assert.equal(await first.stop(), 0);
  await onServer(database.url, async (sql) => {
    await sql.query(
      "UPDATE signing_keys SET created = created - interval '95 days', activated = activated - interval '95 days' WHERE server_id = 'default'",
    );
    await sql.query("DELETE FROM signing_keys WHERE server_id = 'built-in' AND status = 'NEXT'");
  });
  const [one, two] = await Promise.all([runService(t, env), runService(t, env)]);
  await eventually(
    async () => (await statesOf(one, 'built-in')).length === 2 && (await statesOf(two)).length === 3,
    'the keys were looked after',
  );
  assert.deepEqual(await statesOf(one), ['ACTIVE', 'NEXT', 'RETIRED']);
  assert.deepEqual(await statesOf(two, 'built-in'), ['ACTIVE', 'NEXT']);
  for (const service of [one, two]) assert.equal(await service.stop(), 0);
});
