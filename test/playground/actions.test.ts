/** What can be done with tokens at the playground, in a browser without scripts: RFC 6749 section 6, RFC 7662, RFC 7009, RP-Initiated Logout 1.0. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Service, startService } from '../support/service.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';
import { ADA, press, textOf } from './story.ts';

async function signedIn(t: TestContext, server: string): Promise<{ service: Service; agent: UserAgent; page: Page; login: string }> {
  const service = await startService(t);
  const user = await service.createUser(ADA);
  const agent = new UserAgent(service.baseUrl);
  const page = await agent.signIn(await agent.submit(await agent.visit('/playground'), 'playground-start', { server }), user);
  assert.equal(page.status, 200);
  return { service, agent, page, login: user.login };
}

const answered = (page: Page) => JSON.parse(textOf(page, 'happened-answer').split('\n\n')[1] ?? '');

for (const server of ['built-in', 'default']) {
  test(`refresh, introspect, revoke, introspect: ${server} server (RFC 6749 section 6, RFC 7662 section 2.2, RFC 7009 section 2)`, async (t) => {
    const { service, agent, page: first, login } = await signedIn(t, server);
    let page = await press(agent, first, 'refresh refresh-token');
    assert.match(page.text, /<title>The refresh token, exchanged for new tokens/);
    assert.match(textOf(page, 'happened-request'), /^POST \/oauth\/v1\S*\/token HTTP\/1\.1\n[\s\S]*grant_type=refresh_token/);
    assert.match(textOf(page, 'happened-answer'), /^HTTP\/1\.1 200 OK\n/);
    assert.equal(textOf(page, 'access-token'), answered(page).access_token, 'it takes the place of the old one');
    assert.notEqual(textOf(page, 'access-token'), textOf(first, 'access-token'));
    assert.notEqual(textOf(page, 'refresh-token'), textOf(first, 'refresh-token'));
    assert.doesNotMatch(page.text, /✗ Not verified/);

    page = await press(agent, page, 'introspect access-token');
    const { active, username, iss, uid } = answered(page);
    assert.deepEqual([active, username, iss, typeof uid], [true, login, service.issuer(server), 'string']);
    assert.match(textOf(page, 'happened-request'), /token_type_hint=access_token/);
    page = await press(agent, page, 'introspect id-token');
    assert.equal(answered(page).active, true);
    page = await press(agent, page, 'introspect refresh-token');
    assert.deepEqual([answered(page).active, answered(page).client_id], [true, 'playground']);

    page = await press(agent, page, 'revoke access-token');
    assert.match(textOf(page, 'happened-answer'), /^HTTP\/1\.1 200 OK/);
    assert.match(page.text, /Access token <span class="badge">revoked</);
    page = await press(agent, page, 'introspect access-token');
    assert.deepEqual(answered(page), { active: false });
    assert.match(textOf(page, 'summary'), /not active/);
    page = await press(agent, page, 'userinfo access-token');
    assert.match(textOf(page, 'happened-answer'), /^HTTP\/1\.1 401 Unauthorized\n[\s\S]*Www-Authenticate: Bearer error="invalid_token"/i);
    assert.match(textOf(page, 'summary'), /expired, revoked or unknown/);

    page = await press(agent, page, 'refresh refresh-token');
    assert.doesNotMatch(page.text, /class="badge"/, 'the new access token is not revoked');
    page = await press(agent, page, 'userinfo access-token');
    assert.equal(answered(page).email, ADA.email);
    page = await press(agent, page, 'revoke refresh-token');
    page = await press(agent, page, 'refresh refresh-token');
    assert.match(textOf(page, 'happened-answer'), /^HTTP\/1\.1 400 Bad Request\n[\s\S]*invalid_grant/);
    assert.equal(page.status, 200, 'the page stays usable');
  });
}

test('the client secret is shown nowhere, and the raw request says that it was there (RFC 6749 section 2.3.1)', async (t) => {
  const { agent, page } = await signedIn(t, 'built-in');
  const next = await press(agent, page, 'introspect access-token');
  for (const shown of [page.text, next.text]) assert.doesNotMatch(shown, /Basic [A-Za-z0-9+/]/);
  assert.match(textOf(next, 'happened-request'), /^Authorization: Basic •+$/m);
  assert.match(textOf(page, 'exchange-request'), /^Authorization: Basic •+$/m);
  assert.match(textOf(page, 'exchange-request'), /^&code_verifier=/m);
});

test('logging out ends the session and leads back with its state (RP-Initiated Logout section 2)', async (t) => {
  const { agent, page } = await signedIn(t, 'built-in');
  const [, action = ''] = /<form method="get" action="([^"]+logout)">/.exec(page.text) ?? [];
  const fields = [...page.text.slice(page.text.indexOf(action)).matchAll(/type="hidden" name="([^"]+)" value="([^"]+)"/g)].slice(0, 4);
  const parameters = new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, value]));
  assert.equal(parameters.get('id_token_hint'), textOf(page, 'id-token'));
  const back = await agent.visit(`${action}?${parameters}`);
  assert.equal(back.url.pathname + back.url.search, '/playground?state=signed-out');
  assert.match(textOf(back, 'signed-out'), /You are signed out/);
  const again = await agent.submit(back, 'playground-start', {
    server: 'built-in',
    response_type: 'code',
    scope: 'openid',
    prompt: 'none',
  });
  assert.equal(textOf(again, 'error-code'), 'login_required');
});

test('what the page carries is refused when it was altered, invented, or sealed as something else (RFC 7516 section 5.2)', async (t) => {
  const { agent, page } = await signedIn(t, 'built-in');
  const [, sealed = ''] = /name="session" value="([^"]+)"/.exec(page.text) ?? [];
  const [header, key, iv, ciphertext = '', tag] = sealed.split('.');
  const altered = [header, key, iv, (ciphertext.startsWith('A') ? 'B' : 'A') + ciphertext.slice(1), tag].join('.');
  for (const session of [altered, '', 'nonsense', textOf(page, 'id-token')]) {
    const refused = await agent.submit(page, 'actions', { action: 'introspect access-token', session });
    assert.equal(refused.status, 400);
    assert.equal(textOf(refused, 'error-code'), 'sign_in_not_at_hand');
    assert.match(refused.text, /id="playground-start"/, 'and there is a way on');
  }
  const unknown = await press(agent, page, 'introspect front-id-token');
  assert.equal(unknown.status, 200, 'a button that is not on the page does nothing');
  assert.doesNotMatch(unknown.text, /id="happened"/);
});

test('a custom server can be chosen while it is active, and its name is shown (decisions, Authorization servers)', async (t) => {
  const service = await startService(t);
  const created = await service.api('POST', '/authorizationServers', { id: 'orders', name: 'Orders', audiences: ['api://orders'] });
  assert.ok(created.status < 300, JSON.stringify(created.body));
  const user = await service.createUser(ADA);
  const agent = new UserAgent(service.baseUrl);
  const start = await agent.visit('/playground');
  assert.match(start.text, /<label for="server-orders">Orders<\/label>/);
  const page = await agent.signIn(await agent.submit(start, 'playground-start', { server: 'orders' }), user);
  assert.equal(JSON.parse(textOf(page, 'access-token-claims')).aud, 'api://orders');

  await service.api('POST', '/authorizationServers/orders/lifecycle/deactivate');
  assert.doesNotMatch((await agent.visit('/playground')).text, /server-orders/);
  const gone = await press(agent, page, 'introspect access-token');
  assert.equal(textOf(gone, 'error-code'), 'unknown_server');
});
