/** What tokens say of themselves, and what a grant gives where little is asked for: details of the token endpoint and of introspection. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { moveClock } from '../../support/clock.ts';
import type { Received } from '../../support/requests.ts';
import { setScope } from '../../support/scopes.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  type TestClient,
  tokensFor,
  verifier,
} from '../servers/relying-party.ts';

const DEVICE = 'gatehouse-device';
const SCOPE = 'openid profile offline_access';
const hashOf = (token: string): string => createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url');

const refresh = (service: Service, serverId: string, client: TestClient, token: string) =>
  post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: token });

for (const serverId of ['built-in', 'default']) {
  test(`the ID token of the token endpoint is bound to its access token, its nonce and the sign-in: ${serverId} (OpenID Connect Core sections 3.1.3.6 and 12.2)`, async (t) => {
    const service = await startService(t);
    const [user, client, browser] = [await service.createUser(), await createClient(service), new UserAgent(service.baseUrl)];
    const begun = Math.floor(Date.now() / 1000);
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope: SCOPE });
    const claims = decodeJwt(body.id_token);
    assert.equal(claims.at_hash, hashOf(body.access_token));
    assert.equal(claims.nonce, 'some-nonce');
    assert.ok(Number(claims.auth_time) >= begun && Number(claims.auth_time) <= Date.now() / 1000);

    moveClock(t, 100);
    const refreshed = (await refresh(service, serverId, client, body.refresh_token)).body;
    const later = decodeJwt(refreshed.id_token);
    assert.equal(later.at_hash, hashOf(refreshed.access_token));
    assert.notEqual(later.at_hash, claims.at_hash);
    assert.deepEqual([later.auth_time, later.sub, later.aud, later.iss], [claims.auth_time, claims.sub, claims.aud, claims.iss]);
    const { body: again } = await tokensFor(service, browser, user, client, { serverId });
    assert.equal(decodeJwt(again.id_token).auth_time, claims.auth_time, 'of the sign-in, not of the request');
    assert.notEqual(later.iat, claims.iat);
  });
}

test('the ID token of a hybrid answer carries the hash of that answer’s access token, the one of its code that of the other (OpenID Connect Core section 3.3.3.6)', async (t) => {
  const service = await startService(t);
  const client = await createClient(service, {
    grant_types: ['authorization_code', 'implicit'],
    response_types: ['code', 'code id_token token'],
  });
  const browser = new UserAgent(service.baseUrl);
  await tokensFor(service, browser, await service.createUser(), client);
  const proof = verifier();
  const parameters = { client_id: client.clientId, response_type: 'code id_token token', code_challenge: challengeOf(proof) };
  const front = answerOf(await browser.visit(authorizeUrl(service, 'default', parameters)));
  assert.equal(decodeJwt(front.id_token ?? '').at_hash, hashOf(front.access_token ?? ''));
  const form = { grant_type: 'authorization_code', code: front.code ?? '', redirect_uri: CALLBACK, code_verifier: proof };
  const { body } = await post(service, 'default', 'token', client, form);
  assert.equal(decodeJwt(body.id_token).at_hash, hashOf(body.access_token));
  assert.notEqual(body.access_token, front.access_token);
});

const deviceId = async (service: Service, client: TestClient, token: string): Promise<unknown> => {
  const { body } = await post(service, 'default', 'introspect', client, { token });
  assert.equal(body.active, true);
  return body.device_id;
};

test('device_id tells the browser of a refresh token, the same for all its grants and successors, and never the cookie (RFC 7662; decisions, "device_id")', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const [client, other] = [await createClient(service), await createClient(service, { refresh_token: { rotation_type: 'STATIC' } })];
  const [browser, elsewhere] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  const id = await deviceId(service, client, body.refresh_token);
  assert.match(String(id), /^[A-Za-z0-9_-]{22}$/);
  const cookie = browser.cookie(DEVICE) ?? '';
  assert.ok(cookie.length > 20);
  assert.ok(!cookie.includes(String(id)));
  assert.equal(await deviceId(service, client, body.access_token), undefined, 'of refresh tokens only');
  assert.equal(await deviceId(service, client, body.id_token), undefined);

  const successor = (await refresh(service, 'default', client, body.refresh_token)).body;
  const third = (await refresh(service, 'default', client, successor.refresh_token)).body;
  assert.equal(await deviceId(service, client, third.refresh_token), id);
  const ofOther = (await tokensFor(service, browser, user, other, { serverId: 'default', scope: SCOPE })).body;
  await refresh(service, 'default', other, ofOther.refresh_token);
  assert.equal(await deviceId(service, other, ofOther.refresh_token), id, 'another application in the same browser');
  const ofElsewhere = (await tokensFor(service, elsewhere, user, client, { serverId: 'default', scope: SCOPE })).body;
  assert.notEqual(await deviceId(service, client, ofElsewhere.refresh_token), id, 'another browser');
});

test('a browser that signs in without the page is given the cookie with its first code, and keeps it for a year', async (t) => {
  const service = await startService(t);
  const [user, client, browser] = [await service.createUser(), await createClient(service), new UserAgent(service.baseUrl)];
  const signIn = async (changes: Record<string, string> = {}) => {
    const authn = await fetch(`${service.baseUrl}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user.login, password: user.password }),
    });
    const { sessionToken } = (await authn.json()) as { sessionToken: string };
    return browser.send(authorizeUrl(service, 'default', { client_id: client.clientId, scope: SCOPE, sessionToken, ...changes }));
  };
  const cookies = (answer: Received): string[] => answer.headers.getSetCookie().filter((line) => line.startsWith(`${DEVICE}=`));
  assert.deepEqual(cookies(await signIn({ scope: 'unknown' })), [], 'nothing was granted');
  const [given = ''] = cookies(await signIn());
  const [, expires = ''] = /expires=([^;]+)/i.exec(given) ?? [];
  const days = (new Date(expires).getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 364.9 && days < 365.1, given);
  assert.match(given, /; ?httponly/i);
  assert.match(given, /; ?samesite=lax/i);
  assert.deepEqual(cookies(await signIn()), [], 'it has one');
});

test('a request that another site posts comes without the cookie, and does not replace it (RFC 6265bis section 5.2)', async (t) => {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  await tokensFor(service, browser, user, client);
  const session = browser.cookie('gatehouse-session');
  const signature = browser.cookie('gatehouse-session.sig');
  const url = authorizeUrl(service, 'built-in', { client_id: client.clientId });
  const send = (init: RequestInit, target: URL | string) =>
    fetch(target, { ...init, redirect: 'manual', headers: { cookie: `gatehouse-session=${session}; gatehouse-session.sig=${signature}` } });
  const isGiven = (answer: Received) => {
    assert.match(answer.headers.get('location') ?? '', /[?&]code=/);
    return answer.headers.getSetCookie().some((line) => line.startsWith(`${DEVICE}=`));
  };
  assert.equal(isGiven(await send({ method: 'POST', body: url.searchParams }, `${url.origin}${url.pathname}`)), false);
  assert.equal(isGiven(await send({}, url)), true);
});

test('client_credentials without a scope gets the default ones that an application may have, and never an error (RFC 6749 section 3.3)', async (t) => {
  const service = await startService(t);
  const machine = await service.createApp({ application_type: 'service' });
  const issue = (form: Record<string, string> = {}) =>
    post(service, 'default', 'token', machine, { grant_type: 'client_credentials', ...form });
  const none = await issue();
  assert.deepEqual([none.status, none.body.scope], [200, '']);

  for (const name of ['openid', 'offline_access', 'groups', 'email']) await setScope(service, name, { default: true });
  for (const form of [{}, { scope: '' }] as Record<string, string>[]) {
    const { status, body } = await issue(form);
    assert.deepEqual([status, body.scope.split(' ').sort()], [200, ['email', 'groups']], JSON.stringify(form));
    assert.equal(decodeJwt(body.access_token).scope, body.scope);
    const { body: introspected } = await post(service, 'default', 'introspect', machine, { token: body.access_token });
    assert.equal(introspected.scope, body.scope);
  }
  assert.equal((await issue({ scope: 'profile' })).body.scope, 'profile', 'what is asked for is what is given');
  assert.equal((await issue({ scope: 'profile profile' })).body.scope, 'profile');
  for (const scope of ['openid', 'offline_access', 'profile unknown'])
    assert.equal((await issue({ scope })).body.error, 'invalid_scope', scope);
});

async function grants(t: TestContext) {
  const service = await startService(t);
  const user = await service.createUser();
  const forms: Record<string, Record<string, string>> = {
    authorization_code: { code: 'some-code', redirect_uri: CALLBACK },
    refresh_token: { refresh_token: 'some-token' },
    client_credentials: {},
    password: { username: user.login, password: user.password },
  };
  return { service, forms };
}

test('a grant type that the application has not enabled is unauthorized_client, one that the service does not know is unsupported_grant_type (RFC 6749 section 5.2)', async (t) => {
  const { service, forms } = await grants(t);
  const [machine, web] = [await service.createApp({ application_type: 'service' }), await createClient(service)];
  const spa = await createClient(service, { grant_types: ['authorization_code'] }, { token_endpoint_auth_method: 'none' });
  for (const serverId of ['built-in', 'default']) {
    for (const [client, enabled] of [
      [machine, ['client_credentials']],
      [web, ['authorization_code', 'refresh_token']],
      [spa, ['authorization_code']],
    ] as const) {
      for (const [grantType, form] of Object.entries(forms)) {
        const { status, body, headers } = await post(service, serverId, 'token', client, { grant_type: grantType, ...form });
        if ((enabled as readonly string[]).includes(grantType)) assert.notEqual(body.error, 'unauthorized_client', grantType);
        else assert.deepEqual([status, body.error], [400, 'unauthorized_client'], `${grantType} ${JSON.stringify(enabled)}`);
        assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
      }
      for (const grantType of ['implicit', 'urn:ietf:params:oauth:grant-type:saml2-bearer', 'nonsense']) {
        const { status, body } = await post(service, serverId, 'token', client, { grant_type: grantType });
        assert.deepEqual([status, body.error], [400, 'unsupported_grant_type'], grantType);
      }
      const { status, body } = await post(service, serverId, 'token', client, {});
      assert.deepEqual([status, body.error], [400, 'invalid_request'], 'none at all');
    }
  }
});

test('each password grant is a device of its own (decisions, "device_id")', async (t) => {
  const { service, forms } = await grants(t);
  const client = await createClient(service, { grant_types: ['password', 'refresh_token'], redirect_uris: [], response_types: [] });
  const sign = async () => {
    const { status, body } = await post(service, 'default', 'token', client, { grant_type: 'password', ...forms.password, scope: SCOPE });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(decodeJwt(body.id_token).at_hash, hashOf(body.access_token));
    return body;
  };
  const [first, second] = [await sign(), await sign()];
  const id = await deviceId(service, client, first.refresh_token);
  assert.match(String(id), /^[A-Za-z0-9_-]{22}$/);
  assert.notEqual(await deviceId(service, client, second.refresh_token), id);
  const successor = (await refresh(service, 'default', client, first.refresh_token)).body;
  assert.equal(await deviceId(service, client, successor.refresh_token), id);
});
