/**
 * What Okta's SDKs for Python, Go, Java and the browser send and expect, as it is on the wire; foreign-python, foreign-go, foreign-java and foreign-node of
 * test/long run the SDKs themselves. The one for Node.js is tested in test/clients/okta-sdk.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, tokensFor, userinfo } from '../protocol/servers/relying-party.ts';
import { API_TOKEN, type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const CALLBACK = 'https://app.example/callback';
const ALL_TYPES = ['code', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'code id_token token'];

const appOf = (oauthClient: object = {}, credentials: object = {}, more: object = {}) => ({
  ...{ name: 'oidc_client', label: 'Shop', signOnMode: 'OPENID_CONNECT', ...more },
  credentials: { oauthClient: credentials },
  settings: { oauthClient: { redirect_uris: [CALLBACK], ...oauthClient } },
});

const call = async (service: Service, path: string, headers: Record<string, string>) => {
  const response = await fetch(`${service.baseUrl}/api/v1${path}`, { headers: { authorization: `SSWS ${API_TOKEN}`, ...headers } });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

test('Okta’s SDKs for the management API (decisions, "Changes of 2026-11-23")', async (t) => {
  const service = await startService(t);

  await t.test('the scheme SSWS without a space', async () => {
    assert.equal((await call(service, '/users', { authorization: `SSWS${API_TOKEN}` })).status, 200);
    assert.equal((await call(service, '/users', { authorization: `SSWS${API_TOKEN}x` })).status, 401);
  });

  await t.test('a user’s provider is of a type that they know', async () => {
    const { body } = await service.api('POST', '/users', { profile: { login: 'ada' } });
    assert.equal(body.credentials.provider.type, 'OKTA');
  });

  await t.test('settings of an application that only state Okta’s default', async () => {
    const more = {
      accessibility: { selfService: false, errorRedirectUrl: null, loginRedirectUrl: null },
      visibility: { autoLaunch: false, autoSubmitToolbar: false, hide: { iOS: false, web: false } },
    };
    const created = await service.api('POST', '/apps', appOf({ dpop_bound_access_tokens: false }, { autoKeyRotation: true }, more));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    for (const body of [
      appOf({}, { autoKeyRotation: false }),
      appOf({}, {}, { accessibility: { selfService: true } }),
      appOf({}, {}, { accessibility: { errorRedirectUrl: 'https://app.example/error' } }),
      appOf({}, {}, { visibility: { hide: { web: true } } }),
    ]) {
      assert.equal((await service.api('POST', '/apps', body)).status, 400, JSON.stringify(body));
    }
    const empty = appOf({}, {}, { visibility: { hide: {} }, accessibility: {} });
    assert.equal((await service.api('PUT', `/apps/${created.body.id}`, empty)).status, 200);
  });

  await t.test('response types as single words, for those that know no others', async () => {
    const { body: made } = await service.api('POST', '/apps', appOf({ response_types: ALL_TYPES }));
    const shown = async (agent: string, authorization = `SSWS ${API_TOKEN}`): Promise<string[]> => {
      const path = `/apps/${made.id}`;
      const { body: one } = await call(service, path, { 'user-agent': agent, authorization });
      const { body: list } = await call(service, '/apps?limit=200', { 'user-agent': agent, authorization });
      assert.deepEqual(
        list.find(({ id }: { id: string }) => id === made.id),
        one,
      );
      return one.settings.oauthClient.response_types;
    };
    for (const sdk of ['python/2.9.13 python/3.11', 'java/24.0.0 java/17', 'golang/5.0.2 golang/go1.26']) {
      assert.deepEqual((await shown(`okta-sdk-${sdk}`)).sort(), ['code', 'id_token', 'token'], sdk);
    }
    const generated = 'OpenAPI-Generator/1.0.0/python';
    assert.equal((await shown(generated, `SSWS${API_TOKEN}`)).length, 3, 'Okta’s for Python 3.4.6');
    assert.equal((await shown(generated)).length, ALL_TYPES.length, 'made from our own description');
    assert.deepEqual((await shown('okta-sdk-nodejs/8.1.0')).length, ALL_TYPES.length);
    assert.deepEqual((await shown('curl/8')).length, ALL_TYPES.length);
  });

  await t.test('no description is empty', async () => {
    const scope = { name: 'orders' };
    const clients = { include: ['ALL_CLIENTS'] };
    const server = '/authorizationServers/default';
    const made = [
      await service.api('POST', '/authorizationServers', { name: 'Bare' }),
      await service.api('POST', `${server}/scopes`, scope),
      await service.api('POST', `${server}/policies`, { name: 'Bare', conditions: { clients } }),
      (await service.api('POST', '/groups', { profile: { name: 'Bare' } })).body.profile,
    ];
    for (const { body = made[3] } of made) assert.ok(!('description' in body), JSON.stringify(body));
    for (const path of [`${server}/policies`, `${server}/scopes`, '/authorizationServers', '/groups', '/eventHooks']) {
      assert.ok(!JSON.stringify((await service.api('GET', path)).body).includes('"description":""'), path);
    }
  });

  await t.test('the user agent of an event is an object', async () => {
    const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0';
    const { body: user } = await fetchJson(service, '/groups', { profile: { name: 'Seen' } }, agent);
    const { body } = await service.api('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${user.id}"` })}`);
    assert.deepEqual(body[0].client.userAgent, { rawUserAgent: agent, browser: 'Firefox', os: 'Windows' });
  });
});

async function fetchJson(service: Service, path: string, body: unknown, userAgent: string) {
  const headers = { authorization: `SSWS ${API_TOKEN}`, 'content-type': 'application/json', 'user-agent': userAgent };
  const response = await fetch(`${service.baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test('Okta’s paths below an issuer lead to the same endpoints', async (t) => {
  const service = await startService(t);
  for (const serverId of ['built-in', 'default']) {
    const issuer = service.issuer(serverId);
    const statusOf = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${issuer}${path}`, { redirect: 'manual', ...init });
      return [response.status, await response.text()] as const;
    };
    const post = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'token=x' };
    for (const alias of ['/v1', '/oauth2/v1']) {
      assert.deepEqual(await statusOf(`${alias}/keys`), await statusOf('/keys'));
      for (const path of ['/token', '/introspect', '/revoke']) {
        assert.deepEqual(await statusOf(alias + path, post), await statusOf(path, post), alias + path);
      }
      assert.equal((await statusOf(`${alias}/userinfo`))[0], 401);
      assert.equal((await statusOf(`${alias}/authorize`))[0], 400);
      assert.equal((await statusOf(`${alias}/logout`))[0], (await statusOf('/logout'))[0]);
      for (const path of ['/nothing', '/keys/', '/KEYS', '/v1/keys', '/.well-known/openid-configuration']) {
        assert.equal((await statusOf(alias + path))[0], 404, alias + path);
      }
    }
    const { issuer: named, token_endpoint } = JSON.parse((await statusOf('/.well-known/openid-configuration'))[1]);
    assert.deepEqual([named, token_endpoint], [issuer, `${issuer}/token`], 'discovery names the endpoints themselves');
  }
  assert.equal((await service.api('POST', '/authorizationServers', { id: 'v1', name: 'v1' })).status, 400);
  assert.equal((await service.api('POST', '/authorizationServers', { id: 'oauth2', name: 'oauth2' })).status, 400);
});

test('okta-auth-js signs out: it revokes by its client_id alone, in a header without a colon', async (t) => {
  const service = await startService(t);
  const [user, spa, confidential] = [
    await service.createUser(),
    await createClient(service, {}, { token_endpoint_auth_method: 'none' }),
    await createClient(service),
  ];
  const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, spa, { serverId: 'default' });
  const revoke = async (header: string, form: Record<string, string> = {}) => {
    const headers = { authorization: `Basic ${header}` };
    const body = new URLSearchParams({ token: tokens.access_token, ...form });
    return (await fetch(`${service.issuer('default')}/v1/revoke`, { method: 'POST', headers, body })).status;
  };
  const named = (id: string) => Buffer.from(id).toString('base64');
  const isActive = async () => (await userinfo(service, 'default', tokens.access_token)).status === 200;
  assert.deepEqual(await revoke(named(confidential.clientId)), 401, 'no secret is proved');
  assert.deepEqual(await revoke(named('nobody')), 401);
  assert.deepEqual(await revoke(named(spa.clientId), { client_id: spa.clientId }), 400, 'in two places');
  assert.deepEqual(await revoke('%%%'), 400);
  assert.equal(await isActive(), true);
  assert.deepEqual(await revoke(named(spa.clientId)), 200);
  assert.equal(await isActive(), false);
});
