/** Logout in its order of checks (OpenID Connect RP-Initiated Logout 1.0 section 2). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startService } from '../support/service.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, SIGNED_OUT, tokensFor } from './relying-party.ts';

async function signedIn(t: TestContext) {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client);
  const logout = (parameters: Record<string, string>, agent = browser, serverId = 'built-in'): Promise<Page> =>
    agent.visit(`${service.issuer(serverId)}/logout?${new URLSearchParams(parameters)}`);
  const hasSession = async (): Promise<boolean> =>
    'code' in answerOf(await browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'none' })));
  return { service, user, client, browser, idToken: String(body.id_token), logout, hasSession };
}

test('1. an invalid hint, or another server’s, is an error page, and nothing ends', async (t) => {
  const { idToken, logout, hasSession } = await signedIn(t);
  for (const [hint, serverId] of [
    ['nonsense', 'built-in'],
    [`${idToken.slice(0, -4)}AAAA`, 'built-in'],
    [idToken, 'default'],
  ] as const) {
    const page = await logout({ id_token_hint: hint, post_logout_redirect_uri: SIGNED_OUT }, undefined, serverId);
    assert.equal(page.status, 400);
    assert.match(page.text, /id="error-code"[^>]*>\s*invalid_request/);
  }
  assert(await hasSession());
});

test('2. an address that is not registered is an error page, whoever asks', async (t) => {
  const { client, idToken, logout, hasSession, service } = await signedIn(t);
  const elsewhere = 'https://evil.example/';
  for (const parameters of [{ id_token_hint: idToken }, { client_id: client.clientId }, {}]) {
    const page = await logout({ ...parameters, post_logout_redirect_uri: elsewhere });
    assert.equal(page.url.origin, service.baseUrl);
    assert.equal(page.status, 400);
  }
  for (const name of ['post_logout_redirect_uri', 'client_id', 'id_token_hint', 'state', 'ui_locales']) {
    assert.equal((await logout({ [name]: 'a\u0000b' })).status, 400, `control characters in ${name}`);
  }
  assert(await hasSession());
});

test('3. without a session: on at once', async (t) => {
  const { service, logout } = await signedIn(t);
  const stranger = new UserAgent(service.baseUrl);
  assert.equal((await logout({ post_logout_redirect_uri: SIGNED_OUT, state: 'x' }, stranger)).url.href, `${SIGNED_OUT}?state=x`);
  assert.equal((await logout({}, stranger)).url.pathname, '/signin');
});

test('4. a hint of the session’s user ends it, without an address at the sign-in page', async (t) => {
  const { idToken, logout, hasSession } = await signedIn(t);
  const page = await logout({ id_token_hint: idToken });
  assert.equal(page.url.pathname, '/signin');
  assert.match(page.text, /signed out/i);
  assert(!(await hasSession()));
});

test('5. anything else asks first; after it the address counts only when its application is named', async (t) => {
  const { client, browser, logout, hasSession } = await signedIn(t);
  const asked = await logout({ post_logout_redirect_uri: SIGNED_OUT });
  assert.match(asked.text, /id="logout-form"/);
  assert(await hasSession(), 'nothing ended by asking');
  const forged = await browser.visit(asked.url, { method: 'POST', body: new URLSearchParams({ confirm: 'x'.repeat(43) }) });
  assert.match(forged.text, /id="logout-form"/, 'a foreign form asks again');
  assert.equal((await browser.submit(asked, 'logout-form')).url.pathname, '/signin');
  assert(!(await hasSession()));

  const again = await signedIn(t);
  const named = await again.logout({ client_id: again.client.clientId, post_logout_redirect_uri: SIGNED_OUT, state: 'bye' });
  assert.equal((await again.browser.submit(named, 'logout-form')).url.href, `${SIGNED_OUT}?state=bye`);
  assert.notEqual(client.clientId, again.client.clientId);
});

test('5. another user’s hint asks first', async (t) => {
  const { service, client, logout, hasSession } = await signedIn(t);
  const other = await service.createUser();
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), other, client);
  assert.match((await logout({ id_token_hint: body.id_token, post_logout_redirect_uri: SIGNED_OUT })).text, /id="logout-form"/);
  assert(await hasSession());
});
