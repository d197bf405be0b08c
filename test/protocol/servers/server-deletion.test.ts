/** A server that is deleted is gone everywhere at once, with all that belonged to it; a later one of its id has nothing of it (decisions, "Authorization servers"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, tokensFor, userinfo } from './relying-party.ts';

const SCOPE = 'openid profile offline_access';
const server = { id: 'orders', name: 'Orders', audiences: ['api://orders'] };

const statusesOf = (service: Service): Promise<number[]> =>
  Promise.all(
    [
      '.well-known/openid-configuration',
      '.well-known/oauth-authorization-server',
      'keys',
      'userinfo',
      'authorize',
      'logout',
      'token',
      'introspect',
      'revoke',
    ].map(async (endpoint, turn) => (await fetch(`${service.issuer('orders')}/${endpoint}`, { method: turn > 5 ? 'POST' : 'GET' })).status),
  );

/** Of each table, how many rows are of which server's number. */
const rowsOf = (service: Service, serverKey: number): Promise<number[]> =>
  onServer(service.database.url, async (client) => {
    const counts: number[] = [];
    for (const table of ['oidc_payload', 'browser_session_clients']) {
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM ${table} WHERE server_key = $1`, [serverKey]);
      counts.push(rows[0].n);
    }
    return counts;
  });

const keyOf = (service: Service): Promise<number> =>
  onServer(service.database.url, async (client) => {
    const { rows } = await client.query(`SELECT key FROM authorization_servers WHERE id = 'orders'`);
    return rows[0].key;
  });

test('an active server is deleted with all that belongs to it; its id may be had again, and nothing of before works there', async (t) => {
  const service = await startService(t);
  assert.equal((await service.api('POST', '/authorizationServers', server)).status, 201);
  const key = await keyOf(service);
  const [user, client] = [await service.createUser(), await createClient(service, { consent_method: 'REQUIRED' })];
  const scope = (await service.api('POST', '/authorizationServers/orders/scopes', { name: 'read', consent: 'REQUIRED' })).body;
  assert.equal(scope.name, 'read');
  const browser = new UserAgent(service.baseUrl);
  const dialog = await browser.signIn(
    await browser.visit(authorizeUrl(service, 'orders', { client_id: client.clientId, scope: `${SCOPE} read` })),
    user,
  );
  const { code = '' } = answerOf(await browser.submit(dialog, 'consent', { decision: 'allow' }));
  const exchange = (value: string) =>
    post(service, 'orders', 'token', client, { grant_type: 'authorization_code', code: value, redirect_uri: CALLBACK });
  const { body: tokens } = await exchange(code);
  const unused = answerOf(await browser.visit(authorizeUrl(service, 'orders', { client_id: client.clientId, prompt: 'none' }))).code ?? '';
  const { body: elsewhere } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  assert.equal((await service.api('GET', `/users/${user.id}/grants`)).body.length, 1);
  const [payloads = 0, clients = 0] = await rowsOf(service, key);
  assert.ok(payloads >= 4 && clients === 1, `${payloads} and ${clients} rows`);

  const answer = await service.api('DELETE', '/authorizationServers/orders');
  assert.deepEqual([answer.status, answer.body], [204, undefined]);
  assert.deepEqual(await statusesOf(service), Array(9).fill(404));
  assert.equal((await service.api('GET', '/authorizationServers/orders')).status, 404);
  assert.deepEqual(await rowsOf(service, key), [0, 0]);
  assert.deepEqual((await service.api('GET', `/users/${user.id}/grants`)).body, []);
  const [event] = (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "oauth2.as.deleted"')}`)).body;
  assert.deepEqual(
    [event.target[0].id, event.debugContext.before.audience, event.debugContext.after],
    ['orders', 'api://orders', undefined],
  );
  assert.equal((await userinfo(service, 'default', elsewhere.access_token)).status, 200, 'other servers go on');
  assert.ok(
    answerOf(await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none' }))).code,
    'and sessions',
  );

  assert.equal((await service.api('POST', '/authorizationServers', server)).status, 201);
  assert.notEqual(await keyOf(service), key);
  assert.equal((await userinfo(service, 'orders', tokens.access_token)).status, 401);
  for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
    assert.deepEqual((await post(service, 'orders', 'introspect', client, { token })).body, { active: false });
  }
  const refreshed = await post(service, 'orders', 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  assert.equal(refreshed.body.error, 'invalid_grant');
  assert.equal((await exchange(unused)).body.error, 'invalid_grant');
  assert.deepEqual((await service.api('GET', '/authorizationServers/orders/scopes?q=read')).body, []);
});

test('what a deleted server had given is removed in pieces, and nothing else is', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', server);
  const key = await keyOf(service);
  await onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO oidc_payload (id, model, server_key, payload, expires_at, exp_hour)
        SELECT 'row ' || n, model, server_key, '{}', now() + interval '1 day', 900000
        FROM generate_series(1, 7000) n, (VALUES (3, $1::integer), (4, $1), (3, 0)) AS v (model, server_key)`,
      [key],
    ),
  );
  await service.api('DELETE', '/authorizationServers/orders');
  assert.deepEqual([await rowsOf(service, key), (await rowsOf(service, 0))[0]], [[0, 0], 7000]);
});

test('another process answers 404 as soon as it is told (LISTEN/NOTIFY)', async (t) => {
  const [first, second] = await startTwo(t);
  await first.api('POST', '/authorizationServers', server);
  assert.equal((await statusesOf(second))[0], 200);
  await first.api('DELETE', '/authorizationServers/orders');
  // By itself it would look again in ten minutes (support/short-waits.ts).
  await eventually(async () => (await statusesOf(second)).every((status) => status === 404), 'all of its endpoints are gone');
});

test('the servers that the service began with stay: 403 E0000038', async (t) => {
  const service = await startService(t);
  for (const id of ['built-in', 'default']) {
    const { status, body } = await service.api('DELETE', `/authorizationServers/${id}`);
    assert.deepEqual([status, body.errorCode], [403, 'E0000038']);
    assert.equal((await fetch(`${service.issuer(id)}/.well-known/openid-configuration`)).status, 200);
  }
});
