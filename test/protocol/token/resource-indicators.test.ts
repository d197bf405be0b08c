/** Resource indicators (RFC 8707): which audience access tokens get, and what a code and a refresh token remember of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  type TestClient,
  userinfo,
  verifier,
} from '../servers/relying-party.ts';

const [FIRST, ORDERS, STOCK] = ['api://first', 'https://orders.example', 'https://stock.example/v1'] as const;
const AUDIENCES = [FIRST, ORDERS, STOCK];
const FOREIGN = 'https://foreign.example';

/** Parameters that may be there several times. */
type Form = Record<string, string | readonly string[]>;

const pairsOf = (form: Form): [string, string][] =>
  Object.entries(form).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]));

async function postForm(service: Service, endpoint: string, client: TestClient, form: Form): Promise<JsonAnswer> {
  const authorization = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`${service.issuer('shop')}/${endpoint}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(pairsOf(form)).toString(),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function shop(t: Parameters<typeof startService>[0], settings: Record<string, unknown> = {}) {
  const service = await startService(t);
  const { status, body } = await service.api('POST', '/authorizationServers', {
    id: 'shop',
    name: 'Shop',
    audiences: AUDIENCES,
    ...settings,
  });
  assert.equal(status, 201);
  assert.deepEqual(body.audiences, AUDIENCES);
  const user = await service.createUser();
  const client = await createClient(service, {
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'implicit'],
    response_types: ['code', 'token', 'code token'],
  });
  const browser = new UserAgent(service.baseUrl);
  const aud = async (token: string): Promise<unknown> => {
    const { body: told } = await postForm(service, 'introspect', client, { token });
    assert.equal(told.active, true);
    if (token.startsWith('eyJ')) assert.deepEqual(decodeJwt(token).aud, told.aud, 'the JWT says what introspection tells');
    return told.aud;
  };
  const authorize = async (asked: Form, responseType = 'code') => {
    const proof = verifier();
    const url = authorizeUrl(service, 'shop', {
      client_id: client.clientId,
      scope: 'openid email offline_access',
      response_type: responseType,
      code_challenge: challengeOf(proof),
    });
    for (const [name, value] of pairsOf(asked)) url.searchParams.append(name, value);
    const page = await browser.visit(url);
    const arrived = page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, user);
    const exchange = (form: Form = {}) =>
      postForm(service, 'token', client, {
        grant_type: 'authorization_code',
        code: answerOf(arrived).code ?? '',
        redirect_uri: CALLBACK,
        code_verifier: proof,
        ...form,
      });
    return { answer: answerOf(arrived), exchange };
  };
  const refresh = (token: string, form: Form = {}) =>
    postForm(service, 'token', client, { grant_type: 'refresh_token', refresh_token: token, ...form });
  return { service, user, client, aud, authorize, refresh };
}

for (const format of ['jwt', 'opaque'] as const) {
  test(`${format}: aud is what was asked and granted; code and refresh token remember it, and a token request narrows it`, async (t) => {
    const { service, aud, authorize, refresh } = await shop(t, { accessTokenFormat: format });

    const plain = (await (await authorize({})).exchange()).body;
    const unasked = format === 'jwt' ? FIRST : service.issuer('shop');
    assert.equal(await aud(plain.access_token), unasked, 'nothing asked: the first audience; of an opaque token the server itself');
    const later = await refresh(plain.refresh_token);
    assert.equal(await aud(later.body.access_token), unasked);
    const widened = await refresh(later.body.refresh_token, { resource: ORDERS });
    assert.deepEqual([widened.status, widened.body.error], [400, 'invalid_target'], 'what was not granted cannot be asked for later');
    assert.equal((await refresh(later.body.refresh_token, { resource: FIRST })).status, 200, 'a refused request has used nothing up');

    const both = (await (await authorize({ resource: [ORDERS, STOCK] })).exchange()).body;
    assert.deepEqual(await aud(both.access_token), [ORDERS, STOCK]);
    assert.equal(typeof both.id_token, 'string');
    assert.notDeepEqual(decodeJwt(both.id_token).aud, [ORDERS, STOCK], 'an ID token is for the application');
    const narrowed = await refresh(both.refresh_token, { resource: STOCK });
    assert.equal(await aud(narrowed.body.access_token), STOCK);
    const again = await refresh(narrowed.body.refresh_token);
    assert.deepEqual(await aud(again.body.access_token), [ORDERS, STOCK], 'the refresh token keeps all that was granted');
    assert.equal((await refresh(again.body.refresh_token, { resource: FIRST })).body.error, 'invalid_target');

    const narrow = await authorize({ resource: [ORDERS, STOCK] });
    const foreign = await narrow.exchange({ resource: FOREIGN });
    assert.deepEqual([foreign.status, foreign.body.error], [400, 'invalid_target']);
    const one = await narrow.exchange({ audience: ORDERS });
    assert.equal(await aud(one.body.access_token), ORDERS, 'audience means the same as resource');
    const told = await userinfo(service, 'shop', one.body.access_token);
    assert.deepEqual(
      [told.status, told.body.error],
      [401, 'invalid_token'],
      'an API that gets it must not read userinfo by it (RFC 9068 section 4)',
    );
    assert.match(told.body.error_description, /for another API/);
    const ours = await authorize({ resource: [ORDERS, FIRST] });
    const wide = await ours.exchange({});
    assert.deepEqual(await aud(wide.body.access_token), [ORDERS, FIRST]);
    assert.equal((await userinfo(service, 'shop', wide.body.access_token)).status, 200, 'the default audience is among them');
  });
}

test('grants without a code ask at the token endpoint; tokens of the authorize endpoint get what it was asked for', async (t) => {
  const { user, client, service, aud, authorize, refresh } = await shop(t);
  const grant = (form: Form) => postForm(service, 'token', client, form);
  const machine = await grant({ grant_type: 'client_credentials', resource: [ORDERS, STOCK] });
  assert.deepEqual(await aud(machine.body.access_token), [ORDERS, STOCK]);
  assert.equal(await aud((await grant({ grant_type: 'client_credentials' })).body.access_token), FIRST);
  assert.equal((await grant({ grant_type: 'client_credentials', resource: FOREIGN })).body.error, 'invalid_target');

  const password = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid offline_access' };
  const signedIn = await grant({ ...password, resource: STOCK });
  assert.equal(await aud(signedIn.body.access_token), STOCK);
  assert.equal(await aud((await refresh(signedIn.body.refresh_token)).body.access_token), STOCK);
  assert.equal((await grant({ ...password, resource: FOREIGN })).body.error, 'invalid_target');

  const implicit = await authorize({ resource: ORDERS }, 'token');
  assert.equal(await aud(implicit.answer.access_token ?? ''), ORDERS);
  const hybrid = await authorize({ resource: ORDERS }, 'code token');
  assert.equal(await aud(hybrid.answer.access_token ?? ''), ORDERS);
  assert.equal(await aud((await hybrid.exchange()).body.access_token), ORDERS);
});

test('an audience that the server does not have is invalid_target, told by redirect and in the audit log', async (t) => {
  const { authorize, service } = await shop(t);
  for (const asked of [FOREIGN, `${ORDERS}/v2`, `${STOCK}/`, `${ORDERS}#part`, 'orders', `${ORDERS} ${FOREIGN}`]) {
    const { answer } = await authorize({ resource: asked });
    assert.deepEqual([answer.error, answer.state, answer.code], ['invalid_target', 'some-state', undefined], asked);
  }
  const { answer } = await authorize({ resource: ORDERS, audience: FOREIGN });
  assert.equal(answer.error, 'invalid_target');
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "app.oauth2.as.authorize"');
  assert.match(events[0].outcome.reason, /^invalid_target: /);
});

test('an origin is the same with a slash behind it, and the token says it as the server does', async (t) => {
  const { aud, authorize } = await shop(t);
  const { exchange } = await authorize({ resource: `${ORDERS}/` });
  assert.equal(await aud((await exchange({ resource: `${ORDERS}/` })).body.access_token), ORDERS);
});

test('an audience that was removed from the server is granted no more', async (t) => {
  const { service, aud, authorize, refresh } = await shop(t);
  const both = (await (await authorize({ resource: [ORDERS, STOCK] })).exchange()).body;
  const one = (await (await authorize({ resource: ORDERS })).exchange()).body;
  const without = { name: 'Shop', audiences: [FIRST, STOCK] };
  assert.equal((await service.api('PUT', '/authorizationServers/shop', without)).status, 200);
  assert.equal(await aud((await refresh(both.refresh_token)).body.access_token), STOCK);
  assert.equal((await refresh(one.refresh_token)).body.error, 'invalid_target');
  const kept = await service.api('PUT', '/authorizationServers/shop', { name: 'Shop' });
  assert.deepEqual(kept.body.audiences, [FIRST, STOCK], 'a PUT that names no audiences keeps them');
});

test('discovery names the audiences that are web addresses (RFC 9728 section 4)', async (t) => {
  const { service } = await shop(t);
  const read = async (id: string) =>
    (await (await fetch(`${service.issuer(id)}/.well-known/oauth-authorization-server`)).json()) as Record<string, unknown>;
  assert.deepEqual((await read('shop')).protected_resources, [ORDERS, STOCK]);
  for (const id of ['default', 'built-in']) assert.equal((await read(id)).protected_resources, undefined, id);
});

test('the API takes up to a hundred different audiences', async (t) => {
  const service = await startService(t);
  const make = (audiences: readonly string[]) =>
    service.api('POST', '/authorizationServers', { name: `of ${audiences.length}`, audiences });
  const many = Array.from({ length: 101 }, (_, index) => `api://${index}`);
  for (const wrong of [[], many, ['api://1', 'api://1'], ['api://1', 'api://with space'], ['']]) {
    const { status, body } = await make(wrong);
    assert.deepEqual([status, body.errorCode], [400, 'E0000001'], JSON.stringify(wrong).slice(0, 60));
    assert.match(body.errorCauses[0].errorSummary, /audiences/);
  }
  assert.equal((await make(many.slice(0, 100))).status, 201);
  const { body: found } = await service.api('GET', '/authorizationServers?q=//99');
  assert.equal(found.length, 1, 'q looks in all audiences');
  const { status } = await service.api('PUT', '/authorizationServers/built-in', {
    name: 'Built-in',
    audiences: [service.issuer('built-in'), 'api://more'],
  });
  assert.equal(status, 403, 'the built-in server keeps its audience');
});
