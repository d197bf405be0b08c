/** The token response field by field, scopes and time on refresh, and failures inside (RFC 6749 sections 5.1, 5.2 and 6). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  post,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;
const SCOPE = 'openid profile email offline_access';

async function signedIn(t: TestContext, serverId: string, settings: Record<string, unknown> = {}) {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service, settings)];
  const browser = new UserAgent(service.baseUrl);
  const tokens = async (scope = SCOPE, by: TestClient = client) => (await tokensFor(service, browser, user, by, { serverId, scope })).body;
  const token = (form: Record<string, string>, by: TestClient = client, at: string = serverId) => post(service, at, 'token', by, form);
  const refresh = (value: string, more: Record<string, string> = {}, by: TestClient = client, at: string = serverId) =>
    token({ grant_type: 'refresh_token', refresh_token: value, ...more }, by, at);
  return { service, user, client, browser, tokens, token, refresh };
}

function assertRefused({ status, headers, body }: JsonAnswer, error: string, what: string): void {
  assert.deepEqual([status, body.error], [400, error], `${what}: ${JSON.stringify(body)}`);
  assert.ok(body.error_description.length > 0, what);
  assert.deepEqual([headers.get('content-type'), headers.get('cache-control')], ['application/json;charset=UTF-8', 'no-store'], what);
}

const ALWAYS = ['access_token', 'expires_in', 'scope', 'token_type'];
const words = (text: string): string[] => text.split(' ').sort();

for (const serverId of SERVERS) {
  test(`the token response holds exactly the fields of its scopes, with the lifetime of the server: ${serverId} server (RFC 6749 section 5.1)`, async (t) => {
    const { service, client, tokens, refresh } = await signedIn(t, serverId);
    const path = `/authorizationServers/${serverId}`;
    const { name, description, audiences, accessTokenFormat } = (await service.api('GET', path)).body;
    const settings = { name, description, accessTokenFormat, ...(serverId === 'built-in' ? {} : { audiences }) };
    const changed = await service.api('PUT', path, { ...settings, accessTokenLifetimeMinutes: 7 });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { headers } = await post(service, serverId, 'token', client, { grant_type: 'client_credentials' });
    assert.equal(headers.get('pragma'), 'no-cache');
    for (const [scope, more] of [
      ['profile', []],
      ['openid profile', ['id_token']],
      ['profile offline_access', ['refresh_token']],
      ['openid profile offline_access', ['id_token', 'refresh_token']],
    ] as const) {
      const answer = await tokens(scope);
      const fields = [...ALWAYS, ...more].sort();
      assert.deepEqual(Object.keys(answer).sort(), fields, scope);
      assert.deepEqual([answer.token_type, answer.expires_in, words(answer.scope)], ['Bearer', 420, words(scope)], scope);
      const { body: told } = await post(service, serverId, 'introspect', client, { token: answer.access_token });
      assert.deepEqual([told.exp - told.iat, told.scope], [answer.expires_in, answer.scope], scope);
      if (answer.refresh_token === undefined) continue;
      assert.match(answer.refresh_token, /^[A-Za-z0-9_-]{32,}$/, 'opaque');
      const refreshed = await refresh(answer.refresh_token);
      assert.deepEqual(Object.keys(refreshed.body).sort(), fields, `${scope}, refreshed`);
      assert.deepEqual([refreshed.body.token_type, refreshed.body.expires_in, refreshed.body.scope], ['Bearer', 420, answer.scope], scope);
    }
  });

  test(`a refresh narrows the scope and never widens it: ${serverId} server (RFC 6749 section 6)`, async (t) => {
    const { service, tokens, refresh } = await signedIn(t, serverId, { refresh_token: { rotation_type: 'STATIC' } });
    const { refresh_token: token } = await tokens('openid profile offline_access');
    for (const scope of ['openid profile email', 'email', 'openid nonsense', 'profile openid offline_access phone']) {
      assertRefused(await refresh(token, { scope }), 'invalid_scope', scope);
    }
    for (const scope of ['profile', 'openid', 'offline_access profile', 'openid profile offline_access']) {
      const { status, body } = await refresh(token, { scope });
      assert.equal(status, 200, `${scope}: ${JSON.stringify(body)}`);
      assert.deepEqual(words(body.scope), words(scope));
      assert.equal('id_token' in body, scope.includes('openid'), `${scope}: an ID token only with openid`);
      assert.equal((await userinfo(service, serverId, body.access_token)).status, scope.includes('profile') ? 200 : 403, scope);
    }
    const whole = await refresh(token);
    assert.deepEqual(words(whole.body.scope), words('openid profile offline_access'), 'without a scope that of the original grant');
  });
}

test('a refresh token slides by 30 days and ends 90 days after the sign-in (decisions, "lifetimes")', async (t) => {
  const { tokens, refresh } = await signedIn(t, 'default');
  let { refresh_token: token } = await tokens();
  for (const day of [29, 58, 87]) {
    moveClock(t, 29 * 86_400);
    const { status, body } = await refresh(token);
    assert.equal(status, 200, `day ${day}: ${JSON.stringify(body)}`);
    token = body.refresh_token;
  }
  moveClock(t, 3 * 86_400 + 60);
  assertRefused(await refresh(token), 'invalid_grant', 'on day 90');
});

test('an application is told why its code or refresh token is not accepted (RFC 6749 section 5.2)', async (t) => {
  const { service, client, browser, tokens, token, refresh } = await signedIn(t, 'default');
  const [other, stranger] = [await createClient(service), await createClient(service, {}, { token_endpoint_auth_method: 'none' })];
  await tokens();
  const verified = verifier();
  const code = async (pkce = true): Promise<string> => {
    const challenge = { code_challenge: challengeOf(verified), code_challenge_method: 'S256' };
    const url = authorizeUrl(service, 'default', { client_id: client.clientId, ...(pkce && challenge) });
    return answerOf(await browser.visit(url)).code ?? '';
  };
  const exchange = (value: string, more: Record<string, string> = {}, by: TestClient = client) =>
    token({ grant_type: 'authorization_code', code: value, redirect_uri: CALLBACK, ...more }, by);
  const right = { code_verifier: verified };
  const told: [expected: RegExp, answer: JsonAnswer][] = [
    [/code does not exist/, await exchange('nonsense', right)],
    [/issued to another application/, await exchange(await code(), right, other)],
    [/redirect_uri must be the same/, await exchange(await code(), { ...right, redirect_uri: `${CALLBACK}/` })],
    [/code_verifier is missing/, await exchange(await code())],
    [/code_verifier is wrong/, await exchange(await code(), { code_verifier: verifier() })],
    [/had no code_challenge/, await exchange(await code(false), right)],
    [/refresh token does not exist/, await refresh('nonsense')],
    [/issued to another application/, await refresh((await tokens()).refresh_token, {}, other)],
    // One that has not proved itself is not told what belongs to others.
    [/^grant request is invalid$/, await exchange(await code(), right, stranger)],
  ];
  const used = await code();
  assert.equal((await exchange(used, right)).status, 200);
  told.push([/code was already used/, await exchange(used, right)]);
  const old = await code();
  const { refresh_token: rotated } = await tokens();
  assert.equal((await refresh(rotated)).status, 200);
  moveClock(t, 310);
  told.push([/code has expired/, await exchange(old, right)], [/refresh token was already used/, await refresh(rotated)]);
  for (const [expected, answer] of told) {
    assertRefused(answer, 'invalid_grant', String(expected));
    assert.match(answer.body.error_description, expected);
  }
});

test('a failure inside is server_error in the promised form, and tells nothing of what failed', async (t) => {
  const { service, client, tokens } = await signedIn(t, 'default');
  const all = await tokens();
  const machine = await service.createApp({ application_type: 'service' });
  const rename = (from: string, to: string) => onServer(service.database.url, (sql) => sql.query(`ALTER TABLE ${from} RENAME TO ${to}`));
  await rename('oidc_payload', 'oidc_payload_away');
  for (const [endpoint, by, form] of [
    ['token', client, { grant_type: 'refresh_token', refresh_token: all.refresh_token }],
    // Here nothing is read: it is the writing that fails.
    ['token', machine, { grant_type: 'client_credentials' }],
    ['introspect', client, { token: all.refresh_token }],
    ['revoke', client, { token: all.refresh_token }],
  ] as const) {
    const { status, headers, body } = await post(service, 'default', endpoint, by, form);
    assert.deepEqual([status, body.error, Object.keys(body).sort()], [500, 'server_error', ['error', 'error_description']], endpoint);
    assert.deepEqual([headers.get('content-type'), headers.get('cache-control')], ['application/json;charset=UTF-8', 'no-store'], endpoint);
    assert.doesNotMatch(body.error_description, /relation|oidc_payload|select|insert|\bat \//i, endpoint);
  }
  const opened = await userinfo(service, 'default', all.access_token);
  assert.deepEqual([opened.status, opened.body.error], [500, 'server_error']);
  await rename('oidc_payload_away', 'oidc_payload');
  const after = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: all.refresh_token });
  assert.equal(after.status, 200, 'what failed was not half done');
});
