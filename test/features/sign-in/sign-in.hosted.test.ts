import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Received } from '../../support/requests.ts';
import { ALICE, cookieOf, type House, LOGIN, openHouse } from './deps.ts';

const PATH = '/interaction/default/uid-1';
const COOKIE = cookieOf('uid-1');
const MARKUP = `"><script>alert(1)</script>'&`;

let deps: House;
describe('the sign-in page of a request', () => {
  before(async () => {
    deps = await openHouse();
    deps.interactions.set('uid-1', LOGIN);
  });
  after(() => deps.close());

  const form = (over: Record<string, string> = {}) => ({ username: ALICE.login, password: ALICE.password, ...over });
  const policyOf = (answer: Received): string => answer.headers.get('content-security-policy') ?? '';

  test('the page has the published hooks and what password managers look for (management-api, HTML hooks)', async () => {
    const answer = await deps.get(PATH, COOKIE);
    const html = await answer.text();
    assert.equal(answer.status, 200);
    assert.match(html, /<html lang="en" dir="ltr">/);
    assert.match(html, /<title>Sign in – Gatehouse<\/title>/);
    assert.match(html, /<form id="sign-in-form" method="post" action="\/interaction\/default\/uid-1\/login">/);
    assert.match(html, /<input id="username" name="username" type="text" value="" autocomplete="username webauthn"[^>]* autofocus>/);
    assert.match(html, /<input id="password" name="password" type="password" autocomplete="current-password" required>/);
    assert.match(html, /<button class="main" id="sign-in" type="submit">Sign in<\/button>/);
    assert.match(html, /to continue to Fern &amp; Sons/);
    assert.match(html, /<button class="link" id="cancel" type="submit">Return to Fern &amp; Sons<\/button>/);
    assert.doesNotMatch(html, /role="alert"/);
    assert.match(policyOf(answer), /form-action 'self' https:\/\/fern\.example;/);
  });

  test('login_hint fills in the user name, which can be changed (OpenID Connect Core 3.1.2.1)', async () => {
    deps.interactions.set('hint', { ...LOGIN, uid: 'hint', loginHint: MARKUP });
    const html = await (await deps.get('/interaction/default/hint', cookieOf('hint'))).text();
    assert.match(html, /value="&#34;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&#39;&amp;"/);
    assert.match(html, /<input id="password"[^>]* autofocus>/);
  });

  test('nothing that an application or a visitor says becomes markup', async () => {
    const application = { id: 'a', label: MARKUP, logoUri: 'https://cdn.example/"><script>', clientUri: 'javascript:alert(1)' };
    deps.interactions.set('markup', { ...LOGIN, uid: 'markup', application, loginHint: MARKUP });
    const shown = await (await deps.get('/interaction/default/markup', cookieOf('markup'))).text();
    const again = await (
      await deps.post('/interaction/default/markup/login', { username: MARKUP, password: '' }, cookieOf('markup'))
    ).text();
    for (const html of [shown, again]) assert.doesNotMatch(html, /<script(?! defer src="\/assets\/)|javascript:/);
  });

  test('a logo is shown from https only, and its origin is named in the policy', async () => {
    for (const [logoUri, shown] of [
      ['https://cdn.example/logo.png', true],
      ['http://cdn.example/logo.png', false],
      ['javascript:alert(1)', false],
    ] as const) {
      deps.interactions.set('logo', { ...LOGIN, uid: 'logo', application: { ...LOGIN.application, logoUri } });
      const answer = await deps.get('/interaction/default/logo', cookieOf('logo'));
      assert.equal((await answer.text()).includes('class="logo"'), shown, logoUri);
      assert.equal(policyOf(answer).includes("img-src 'self' data: https://cdn.example;"), shown, logoUri);
    }
  });

  test('right credentials end the step with the account and amr pwd (RFC 8176), and the browser goes on by 303', async () => {
    const answer = await deps.post(`${PATH}/login`, form(), COOKIE);
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), '/oauth/v1/default/authorize/uid-1');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.deepEqual(deps.results.at(-1), { uid: 'uid-1', result: { login: { accountId: deps.aliceId, amr: ['pwd'] } } });
  });

  for (const [what, over] of [
    ['a wrong password', { password: 'not-the-right-one' }],
    ['an unknown user', { username: 'nobody' }],
  ] as const) {
    test(`${what} is answered alike: the form again, the user name kept, the password not`, async () => {
      const before = deps.results.length;
      const sent = form(over);
      const answer = await deps.post(`${PATH}/login`, sent, COOKIE);
      const html = await answer.text();
      assert.equal(answer.status, 400);
      assert.match(html, /<title>Error: Sign in/);
      assert.match(html, /<div class="problems" id="error-summary" role="alert" tabindex="-1" autofocus/);
      assert.match(html, /<a href="#password">Incorrect user name or password/);
      assert.match(html, /<input id="password"[^>]* aria-invalid="true" aria-describedby="error-summary">/);
      assert.equal(html.match(/ autofocus/g)?.length, 1);
      assert.ok(html.includes(`value="${sent.username}"`));
      assert.ok(!html.includes(sent.password));
      assert.match(policyOf(answer), /form-action 'self' https:\/\/fern\.example;/);
      assert.equal(deps.results.length, before);
    });
  }

  test('what is missing is told once, above the form', async () => {
    const html = await (await deps.post(`${PATH}/login`, { username: '  ' }, COOKIE)).text();
    for (const field of ['username', 'password']) {
      assert.ok(html.includes(`<a href="#${field}">Enter your`));
      assert.match(html, new RegExp(`<input id="${field}"[^>]* aria-describedby="error-summary">`));
    }
  });

  test('"Return to" the application ends the step with access_denied (OpenID Connect Core 3.1.2.6)', async () => {
    const answer = await deps.post(`${PATH}/cancel`, {}, COOKIE);
    assert.equal(answer.status, 303);
    assert.deepEqual(deps.results.at(-1)?.result, { error: 'access_denied', error_description: 'The user did not sign in' });
  });

  test('a form of another site is refused before any password is checked', async () => {
    const answer = await deps.post(`${PATH}/login`, form(), { ...COOKIE, origin: 'https://evil.example' });
    const html = await answer.text();
    assert.equal(answer.status, 403);
    assert.match(html, /id="error-code">form_refused</);
    assert.match(html, /A page of another site sent it/);
  });

  test('the address of a form, asked for without one, leads back to the page', async () => {
    const answer = await deps.get(`${PATH}/login`, COOKIE);
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), PATH);
  });
});
