/** What all of the user's own pages share: who may see them, the menu, the ways out, and that no form of another site does anything (RFC 9700 section 4.7). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { arriveAt, createLabelled, PAGES, postForm, wordsOf } from './arrival.ts';

/** Every form of the pages. */
const FORMS = [
  '/account/profile',
  '/account/email',
  '/account/language',
  '/account/password',
  '/account/sessions/end',
  '/account/sessions/end-others',
  '/account/permissions/end',
  '/account/data',
  ...['app', 'enroll', 'passkey', 'enroll-passkey', 'passkey/fac_1', 'recovery-codes', 'remove', 'connect', 'disconnect'].map(
    (step) => `/account/security/${step}`,
  ),
];

test('the frame of the account', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });

  await t.test('each page asks who is not signed in to sign in, leads back, and leads to all others', async () => {
    for (const path of PAGES) {
      const { page } = await arriveAt(service, path, user);
      for (const other of PAGES)
        assert.match(page.text, new RegExp(`href="${other}"${other === path ? ' aria-current="page"' : ''}>`), path);
      assert.equal(page.text.match(/aria-current="page"/g)?.length, 1);
      assert.match(page.text, /href="\/oauth\/v1\/logout"/);
      assert.doesNotMatch(page.text, /href="\/admin"/);
      assert.equal(page.headers.get('cache-control'), 'no-store');
    }
  });

  await t.test('an administrator finds the way to the console', async () => {
    const page = await new UserAgent(service.baseUrl).visit('/account');
    const browser = new UserAgent(service.baseUrl);
    const own = await browser.signIn(await browser.visit(page.url), { login: ADMIN.username, password: ADMIN.password });
    assert.equal(own.url.pathname, '/account');
    assert.match(own.text, /id="console" href="\/admin"/);
  });

  await t.test('the way back to the application one came from is its registered address, on every page of the visit', async () => {
    const clientId = await createLabelled(service, 'Fern & Sons', {
      redirect_uris: ['https://app.example/cb'],
      client_uri: 'https://app.example/home',
    });
    const browser = new UserAgent(service.baseUrl);
    const first = await browser.signIn(await browser.visit(`/account?application=${clientId}`), user);
    for (const page of [first, await browser.visit('/account/profile')])
      assert.match(page.text, /id="return" href="https:\/\/app.example\/home">Return to Fern &amp; Sons</);
    const other = await arriveAt(service, '/account', user);
    for (const foreign of ['https://evil.example', 'no-such-application']) {
      assert.doesNotMatch((await other.browser.visit(`/account?application=${foreign}`)).text, /id="return"|href="https:\/\/evil/);
      await browser.visit(`/account?application=${foreign}`);
      assert.match((await browser.visit('/account')).text, /id="return"/, 'a foreign link does not take it away');
    }
  });

  await t.test('the sign-in leads to pages of the account only, whatever its address names (RFC 9700 section 4.11)', async () => {
    for (const name of ['https://evil.example', '//evil.example', '../admin', 'nothing']) {
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.signIn(await browser.visit(`/signin?account=${encodeURIComponent(name)}`), user);
      assert.equal(page.url.href, `${service.baseUrl}/account`, name);
    }
  });

  await t.test('a form without the browser’s token, or of another site, is refused', async () => {
    const { browser } = await arriveAt(service, '/account', user);
    for (const path of FORMS) {
      assert.equal((await postForm(browser, path, {})).status, 403, `${path} without a token`);
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      assert.equal((await postForm(browser, path, {}, foreign)).status, 403, `${path} of another site`);
    }
  });

  await t.test(
    'the pages speak the language of the profile in a browser that has chosen none (OpenID Connect Core section 5.1, locale)',
    async () => {
      const german = await service.createUser({ preferredLanguage: 'de_AT' });
      const { page } = await arriveAt(service, '/account/profile', german);
      assert.match(page.text, /<html lang="de"/);
      assert.match(wordsOf(page), /Profil speichern/);
    },
  );

  await t.test('a language chosen there is kept in the profile and in the browser', async () => {
    const one = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/profile', one);
    const saved = await browser.submit(page, 'language-form', { language: 'es' });
    assert.match(saved.text, /<html lang="es"/);
    assert.equal((await service.api('GET', `/users/${one.id}`)).body.profile.preferredLanguage, 'es');
    const unset = await browser.submit(saved, 'language-form', { language: '' });
    assert.match(unset.text, /<html lang="en"/);
    assert.equal((await service.api('GET', `/users/${one.id}`)).body.profile.preferredLanguage ?? null, null);
  });

  await t.test(
    'tiles lead to initiate_login_uri with the issuer, else to client_uri; what is not assigned has none (OpenID Connect Core section 4)',
    async () => {
      const one = await service.createUser();
      const redirect_uris = ['https://tiles.example/cb'];
      await createLabelled(service, 'Begins', { redirect_uris, initiate_login_uri: 'https://tiles.example/begin?a=b' });
      await createLabelled(service, 'Home only <b>', { redirect_uris, client_uri: 'https://tiles.example/home' });
      await createLabelled(service, 'For others', { redirect_uris, client_uri: 'https://tiles.example/others', assignment: 'ASSIGNED' });
      const { page } = await arriveAt(service, '/account', one);
      const iss = encodeURIComponent(service.issuer('default'));
      assert.ok(page.text.includes(`href="https://tiles.example/begin?a=b&amp;iss=${iss}"`), page.text);
      assert.match(page.text, /href="https:\/\/tiles.example\/home"/);
      assert.match(page.text, /Home only &lt;b&gt;/);
      assert.doesNotMatch(page.text, /For others/);
    },
  );

  await t.test('applications that no user signs in to have no tile; the others are in the order of their names', async () => {
    const one = await service.createUser();
    const redirect_uris = ['https://tiles.example/cb'];
    const client_uri = 'https://tiles.example/';
    for (const label of ['zeta', 'Äther', '👩‍💻 Code', 'alpha']) await createLabelled(service, label, { redirect_uris, client_uri });
    const machine = { application_type: 'service', grant_types: ['client_credentials'], response_types: [], client_uri };
    await createLabelled(service, 'Nightly job', machine);
    const { page } = await arriveAt(service, '/account', one);
    assert.doesNotMatch(page.text, /Nightly job/);
    const words = wordsOf(page);
    const places = ['alpha', 'Äther', 'zeta'].map((label) => words.indexOf(label));
    assert.ok(
      places.every((place, at) => place > (places[at - 1] ?? 0)),
      words,
    );
    assert.match(page.text, /<span class="initial" aria-hidden="true">👩‍💻<\/span>/, 'one sign, not its half');
  });

  await t.test('a form of one user does nothing to another who has signed in since, in the same browser', async () => {
    const [first, second] = [await service.createUser(), await service.createUser()];
    const { browser, page } = await arriveAt(service, '/account/profile', first);
    await browser.visit('/oauth/v1/logout');
    const logout = await browser.visit('/oauth/v1/logout');
    await browser.submit(logout, 'logout-form');
    await arriveAt(service, '/account/profile', second, browser);
    const refused = await browser.submit(page, 'profile-form', { firstName: 'of the first' });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /id="error-code">form_refused</);
    assert.match(refused.text, /<a class="button main" href="\/">/, 'and leads on');
    assert.equal((await service.api('GET', `/users/${second.id}`)).body.profile.firstName ?? null, null);
    assert.equal((await browser.submit(await browser.visit('/account/profile'), 'profile-form', { firstName: 'own' })).status, 200);
  });

  await t.test('the logo is the brand’s', async () => {
    const logoUrl = 'https://cdn.example/brand.svg';
    assert.equal((await service.api('PUT', '/settings/branding', { logoUrl })).status, 200);
    const { page } = await arriveAt(service, '/account', user);
    assert.match(page.text, /<a class="product"[^>]*><img class="brand-logo" src="https:\/\/cdn.example\/brand.svg"/);
  });
});
