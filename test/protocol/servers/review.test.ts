/** Mistakes that were found once and must not come back: each title says what went wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, SIGNED_OUT, tokensFor } from './relying-party.ts';

test('a control character in a parameter was an internal error: now a refusal (RFC 6749 appendix A)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const answer = async (parameters: Record<string, string>) => {
    const page = await fetch(authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters }), { redirect: 'manual' });
    const location = page.headers.get('location');
    return [page.status, location && new URL(location).searchParams.get('error')];
  };
  for (const name of ['login_hint', 'nonce', 'ui_locales', 'acr_values', 'idp', 'display']) {
    assert.deepEqual(await answer({ [name]: '\0' }), [303, 'invalid_request'], name);
  }
  assert.deepEqual(await answer({ claims: '{"id_token":{"a\\u0000":null}}' }), [303, 'invalid_request']);
  assert.deepEqual(await answer({ client_id: '\0' }), [400, null]);
  const status = async (address: string) => (await fetch(address, { redirect: 'manual' })).status;
  assert.equal(await status(`${service.issuer('built-in')}/logout?client_id=%00`), 400);
  assert.equal(await status(`${service.baseUrl}/interaction/%00/x`), 410);
});

test('revoking a refresh token while it is rotated killed the access tokens too (RFC 7009 section 2.1)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  for (let round = 0; round < 6; round += 1) {
    const { body } = await tokensFor(service, browser, user, client);
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
    await Promise.all([
      ...[1, 2, 3].map(() => post(service, 'built-in', 'token', client, refresh)),
      post(service, 'built-in', 'revoke', client, { token: body.refresh_token }),
    ]);
    assert.equal((await post(service, 'built-in', 'introspect', client, { token: body.access_token })).body.active, true);
  }
});

test('a token of a suspended user, and of a deactivated application, is inactive for everyone (RFC 7662 section 2.2)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const resourceServer = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const newTokens = async () => {
    const { body } = await tokensFor(service, browser, user, client);
    return [body.access_token, body.refresh_token, body.id_token];
  };
  const activity = async (tokens: readonly string[]) => {
    const answers = await Promise.all(tokens.map((token) => post(service, 'built-in', 'introspect', resourceServer, { token })));
    return answers.map((answer) => answer.body.active ?? answer.body.error);
  };
  const first = await newTokens();
  assert.deepEqual(await activity(first), [true, true, true]);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  assert.deepEqual(await activity(first), [false, false, false]);
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  const second = await newTokens();
  assert.deepEqual(await activity(second), [true, true, true]);
  await service.api('POST', `/apps/${client.clientId}/lifecycle/deactivate`);
  assert.deepEqual(await activity(second), [false, false, false]);
});

test('a token of five parts, and a body of several MB, are answered like any other (RFC 7009 section 2.2, RFC 7662 section 2.2)', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const token = 'eyJhbGciOiJub25lIn0.a.b.c.d';
  assert.deepEqual((await post(service, 'default', 'introspect', client, { token })).body, { active: false });
  assert.equal((await post(service, 'default', 'revoke', client, { token })).status, 200);
  assert.equal((await post(service, 'default', 'introspect', client, { token: 'x'.repeat(200_000) })).status, 400);
});

test('introspection told the audience of today’s settings, not the token’s own', async (t) => {
  const service = await startService(t);
  const machine = await service.createApp({ application_type: 'service' });
  const settings = { id: 'orders', name: 'Orders', audiences: ['api://first'] };
  await service.api('POST', '/authorizationServers', settings);
  const { body } = await post(service, 'orders', 'token', machine, { grant_type: 'client_credentials' });
  await service.api('PUT', '/authorizationServers/orders', { ...settings, audiences: ['api://second'], accessTokenFormat: 'opaque' });
  const { body: told } = await post(service, 'orders', 'introspect', machine, { token: body.access_token });
  assert.equal(told.aud, 'api://first');
  assert.equal(decodeJwt(body.access_token).aud, 'api://first');
});

test('with openid alone an ID token held the whole profile (OpenID Connect Core section 5.4)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ displayName: 'Ada', email: 'ada@example.com' });
  const client = await createClient(service);
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { scope: 'openid' });
  const claims = decodeJwt(body.id_token);
  assert.deepEqual([claims.sub, claims.name, claims.email], [user.id, undefined, undefined]);
});

test('empty parameters count as left out (RFC 6749 section 3.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const page = await new UserAgent(service.baseUrl).visit(
    authorizeUrl(service, 'built-in', { client_id: clientId, response_mode: '', prompt: '' }),
  );
  assert.match(page.text, /id="sign-in-form"/);
  const wrong = await createClient(service, { grant_types: ['implicit'], response_types: ['id_token'] });
  const refused = await new UserAgent(service.baseUrl).visit(
    authorizeUrl(service, 'built-in', { client_id: wrong.clientId, response_type: 'id_token', scope: 'email' }),
  );
  assert.match(answerOf(refused).error_description ?? '', /openid/, 'the message names the mistake');
  assert.equal(refused.url.origin, new URL(CALLBACK).origin);
});

test('logout believed a client_id beside another application’s hint, an unknown one, and a token of another kind', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const [client, other] = [await createClient(service), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default' });
  const hint = { id_token_hint: body.id_token, post_logout_redirect_uri: SIGNED_OUT };
  for (const parameters of [
    { ...hint, client_id: other.clientId },
    { client_id: 'nobody', post_logout_redirect_uri: SIGNED_OUT },
    { id_token_hint: body.access_token },
  ]) {
    const page = await browser.visit(`${service.issuer('default')}/logout?${new URLSearchParams(parameters)}`);
    assert.equal(page.status, 400, JSON.stringify(Object.keys(parameters)));
  }
});

test('programs got a page from a server that is not there, and for a slash at the end', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  for (const [serverId, endpoint] of [
    ['nowhere', 'token'],
    ['default', 'token/'],
    ['built-in', 'introspect/'],
  ] as const) {
    const answer = await post(service, serverId, endpoint, client, { grant_type: 'client_credentials' });
    assert.deepEqual([answer.status, answer.body.error], [404, 'invalid_request'], `${serverId} ${endpoint}`);
  }
});
