/** The further parameters of the authorize endpoint, as OpenID Connect Core section 3.1.2.1 has them, by GET and POST. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { MODELS } from '../../../src/protocol/storage/protocol-state.store.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { setScope } from '../../support/scopes.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'];
const asksToSignIn = (page: Page): boolean => page.text.includes('id="sign-in-form"');
const username = (page: Page): string | undefined => /<input id="username"[^>]*\bvalue="([^"]*)"/.exec(page.text)?.[1];
const claimsOf = (page: Page) => decodeJwt(answerOf(page).id_token ?? '');
const IMPLICIT = { grant_types: ['implicit'], response_types: ['id_token', 'id_token token', 'token'] };

/** An application for the implicit flow, a user who is signed in, and a way to ask as either. */
async function signedIn(service: Service, serverId = 'built-in') {
  const user = await service.createUser({ displayName: 'Ada Lovelace', email: 'ada@example.com' });
  const { clientId } = await createClient(service, IMPLICIT);
  const browser = new UserAgent(service.baseUrl);
  const request = (parameters: Record<string, string | undefined> = {}) =>
    authorizeUrl(service, serverId, { client_id: clientId, response_type: 'id_token', ...parameters });
  const first = claimsOf(await browser.signIn(await browser.visit(request()), user));
  const ask = (parameters: Record<string, string | undefined>) => browser.visit(request(parameters));
  return { user, clientId, browser, request, first, ask };
}

test('login_hint fills in the user name, as it came and escaped, and the user may change it', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  const hints: [hint: string, shown: string][] = [
    ['ada@example.com', 'ada@example.com'],
    ['"><script>alert(1)</script>', '&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
    [`' onfocus='alert(1)`, '&#39; onfocus=&#39;alert(1)'],
    ['&amp;', '&amp;amp;'],
    ['عمر‮', 'عمر‮'],
    ['x'.repeat(320), 'x'.repeat(320)],
  ];
  for (const serverId of SERVERS) {
    for (const [hint, shown] of hints) {
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.visit(authorizeUrl(service, serverId, { client_id: clientId, login_hint: hint }));
      assert.equal(username(page), shown);
      assert.doesNotMatch(page.text, /<input id="username"[^>]*(readonly|disabled)/);
      assert.ok(answerOf(await browser.signIn(page, user)).code, 'somebody else signs in');
    }
  }
  const none = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: clientId }));
  assert.equal(username(none), '');
});

test('display, idp and idp_scope are kept with the interaction, and change nothing else', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  for (const display of ['page', 'popup', 'touch', 'wap', undefined]) {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: clientId, display, idp_scope: 'read:x' }));
    assert(asksToSignIn(page), page.text);
    const kept = await onServer(service.database.url, async (client) => {
      const { rows } = await client.query(`SELECT payload->'params' AS params FROM oidc_payload WHERE model = $1`, [MODELS.Interaction]);
      return rows.map(({ params }) => params);
    });
    assert.ok(
      kept.some((params) => params.display === display && params.idp_scope === 'read:x'),
      `display ${display}`,
    );
    assert.ok(answerOf(await browser.signIn(page, user)).code);
  }
});

test('max_age: an authentication older than it is done again, and its time is in the ID token', async (t) => {
  const service = await startService(t);
  const { ask, first, browser, user } = await signedIn(service, 'default');
  assert.equal(claimsOf(await ask({ max_age: '100' })).auth_time, first.auth_time);
  assert(asksToSignIn(await ask({ max_age: '0' })), 'zero is prompt=login');
  assert.equal(answerOf(await ask({ max_age: '0', prompt: 'none' })).error, 'login_required');
  moveClock(t, 101);
  assert.equal(claimsOf(await ask({})).auth_time, first.auth_time);
  assert.equal(claimsOf(await ask({ max_age: '200' })).auth_time, first.auth_time);
  assert.equal(answerOf(await ask({ max_age: '100', prompt: 'none' })).error, 'login_required');
  const again = claimsOf(await browser.signIn(await ask({ max_age: '100' }), user));
  assert.ok(Number(again.auth_time) >= Number(first.auth_time) + 101);
  for (const max_age of ['-1', '1.5', 'x', '1e400', '9007199254740993']) {
    assert.equal(answerOf(await ask({ max_age })).error, 'invalid_request', max_age);
  }
});

for (const serverId of SERVERS) {
  test(`id_token_hint: its subject must be who is signed in; nonsense and another server's are refused: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const { ask, clientId, browser, user } = await signedIn(service, serverId);
    const other = await service.createUser();
    const otherServer = serverId === 'default' ? 'built-in' : 'default';
    const idToken = async (agent: UserAgent, who: typeof user, at: string) => {
      const page = await agent.visit(authorizeUrl(service, at, { client_id: clientId, response_type: 'id_token' }));
      return answerOf(asksToSignIn(page) ? await agent.signIn(page, who) : page).id_token;
    };
    const own = await idToken(browser, user, serverId);
    const others = await idToken(new UserAgent(service.baseUrl), other, serverId);
    assert.equal(claimsOf(await ask({ id_token_hint: own, prompt: 'none' })).sub, user.id);
    assert.equal(answerOf(await ask({ id_token_hint: others, prompt: 'none' })).error, 'login_required');
    const page = await ask({ id_token_hint: others });
    assert(asksToSignIn(page), 'the other one may sign in');
    assert.equal(claimsOf(await browser.signIn(page, other)).sub, other.id);
    const [header = '', payload = '', signature = ''] = String(own).split('.');
    const wrong = [
      'nonsense',
      'a.b.c',
      `${header}.${payload}.`,
      `${header}.${others?.split('.')[1]}.${signature}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      await idToken(browser, user, otherServer),
    ];
    for (const id_token_hint of wrong) {
      const answer = answerOf(await ask({ id_token_hint, prompt: 'none' }));
      assert.deepEqual([answer.error, answer.state], ['invalid_request', 'some-state'], String(id_token_hint));
    }
    moveClock(t, 4000);
    assert.equal(answerOf(await ask({ id_token_hint: own, prompt: 'none' })).error, 'login_required', 'expired, but still a hint');
    assert.ok(claimsOf(await ask({ id_token_hint: others, prompt: 'none' })).sub, 'of the one who is signed in');
  });
}

test('claims: what is asked for by name, null or an object; another subject cannot be had; what is malformed is refused (OpenID Connect Core section 5.5)', async (t) => {
  const service = await startService(t);
  const { ask, user } = await signedIn(service);
  const asked = (idToken: unknown, more = {}) => ask({ claims: JSON.stringify({ id_token: idToken }), prompt: 'none', ...more });
  for (const email of [null, {}, { essential: true }, { value: 'ada@example.com' }, { value: 'somebody@else.example' }]) {
    assert.equal(claimsOf(await asked({ email }, { scope: 'openid email' })).email, 'ada@example.com');
    assert.equal(claimsOf(await asked({ email })).email, 'ada@example.com', 'also without its scope');
  }
  assert.equal(claimsOf(await asked({ unheard_of: { essential: true } })).sub, user.id, 'an unknown one does no harm');
  assert.equal(claimsOf(await asked({ sub: { value: user.id } })).sub, user.id);
  assert.equal(answerOf(await asked({ sub: { value: 'somebody-else' } })).error, 'login_required');
  for (const acr of [{ values: ['urn:unheard:of'] }, { value: 'urn:unheard:of' }]) {
    for (const prompt of ['none', 'login', undefined]) {
      const answer = answerOf(await asked({ acr: { essential: true, ...acr } }, { prompt }));
      assert.equal(answer.error, 'unmet_authentication_requirements', 'signing in again would not bring it');
      assert.match(answer.error_description ?? '', /./);
    }
  }
  assert.ok(claimsOf(await asked({ acr: { values: ['urn:unheard:of'] } })).sub, 'a voluntary one may go unmet');
  const wrong = [
    '{',
    'null',
    '[]',
    '"x"',
    '{}',
    '{"id_token":null}',
    '{"id_token":[]}',
    '{"id_token":"x"}',
    '{"userinfo":1}',
    '{"id_token":{"sub":"x"}}',
    '{"id_token":{"sub":5}}',
    '{"id_token":{"sub":[]}}',
    '{"id_token":{"acr":"x"}}',
    '{"id_token":{"email":true}}',
    '{"userinfo":{"email":"x"},"id_token":{}}',
  ];
  for (const claims of wrong) {
    const page = await ask({ claims, response_type: 'id_token token' });
    const answer = answerOf(page);
    assert.deepEqual(
      [answer.error, answer.state],
      ['invalid_request', 'some-state'],
      `${claims}: ${page.status} ${JSON.stringify(answer)}`,
    );
  }
});

test('acr_values is a wish: an unknown one is no error (OpenID Connect Core section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const { ask, user } = await signedIn(service);
  assert.equal(claimsOf(await ask({ acr_values: 'urn:unheard:of 0', prompt: 'none' })).sub, user.id);
});

test('ui_locales chooses the language of the page; unknown tags are passed over and nothing of it is markup', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const rows: [locales: string, lang: string][] = [
    ['de', 'de'],
    ['xx es', 'es'],
    ['zh-Hans-CN de', 'zh'],
    ['tlh', 'en'],
    ['"><script>alert(1)</script>', 'en'],
    ['x'.repeat(4000), 'en'],
  ];
  for (const [ui_locales, lang] of rows) {
    const page = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: clientId, ui_locales }));
    assert.match(page.text, new RegExp(`<html lang="${lang}`), ui_locales);
    assert.doesNotMatch(page.text, /<script>/);
  }
});

test('a posted request means what the same one by GET means, whatever it is (OpenID Connect Core section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const { request, browser } = await signedIn(service);
  const rows: Record<string, string | undefined>[] = [
    {},
    { prompt: 'login' },
    { state: undefined },
    { scope: 'openid nonsense' },
    { response_type: 'code' },
    { redirect_uri: 'https://evil.example/' },
    { client_id: 'nobody' },
    { nonce: '' },
    { claims: '{' },
  ];
  const seen = (page: Page) => {
    const stays = page.url.origin === service.baseUrl;
    const { id_token, ...fields } = stays ? {} : answerOf(page);
    const where = stays ? 'a page here' : page.url.origin + page.url.pathname;
    return { where, status: page.status, fields, idToken: id_token !== undefined, form: asksToSignIn(page) };
  };
  for (const parameters of rows) {
    const url = request(parameters);
    const byGet = await browser.visit(url);
    const byPost = await browser.visit(url.origin + url.pathname, { method: 'POST', body: url.searchParams });
    assert.deepEqual({ ...seen(byPost), status: 0 }, { ...seen(byGet), status: 0 }, JSON.stringify(parameters));
    assert.equal(byPost.status >= 400, byGet.status >= 400);
  }
  const { href, origin, pathname, searchParams } = request();
  const json = await browser.visit(origin + pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(searchParams)),
  });
  assert.deepEqual([json.status, json.url.origin], [400, service.baseUrl], 'only a form');
  assert.equal((await browser.send(href, { method: 'PUT', body: searchParams })).status, 405);
});

test('scope: absent, the server’s default ones, else invalid_scope; openid may be missing unless there is an ID token', async (t) => {
  const service = await startService(t);
  const { ask } = await signedIn(service, 'default');
  const scopeOf = async (parameters: Record<string, string | undefined>) => {
    const answer = answerOf(await ask({ response_type: 'token', ...parameters }));
    return answer.error ?? answer.scope;
  };
  assert.equal(await scopeOf({ scope: undefined }), 'invalid_scope');
  assert.equal(await scopeOf({ scope: '' }), 'invalid_scope');
  assert.equal(await scopeOf({ scope: ' ' }), 'invalid_scope');
  for (const name of ['email', 'phone']) await setScope(service, name, { default: true });
  assert.deepEqual((await scopeOf({ scope: undefined }))?.split(' ').sort(), ['email', 'phone']);
  assert.equal(await scopeOf({ scope: 'profile' }), 'profile', 'named ones stand alone');
  assert.equal(await scopeOf({ scope: 'profile profile' }), 'profile', 'and once');
  for (const scope of ['openid Profile', 'openid orders:read', 'openid constructor', 'openid __proto__']) {
    assert.equal(await scopeOf({ scope }), 'invalid_scope', scope);
  }
  assert.equal(answerOf(await ask({ scope: 'profile' })).error, 'invalid_request', 'an ID token without openid');
  assert.equal(answerOf(await ask({ scope: undefined })).error, 'invalid_request', 'nor by default');
});
