/** Pages that come too late, on the whole service: in plain words, in the visitor's language, with the way back (management-api.md, HTML hooks: error page). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { setScope } from '../../support/scopes.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const HOME = 'https://app.example/home';
const RETURN = `<a class="button main" href="${HOME}">Return to Test application</a>`;

async function atSignIn(service: Service, settings: Record<string, unknown> = {}, parameters: Record<string, string> = {}) {
  const user = await service.createUser();
  const client = await createClient(service, settings);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters }));
  return { user, ...client, browser, page };
}

function assertEnded(page: Page, status: number, code: string, way: string | undefined): void {
  assert.equal(page.status, status, page.text);
  assert.ok(page.text.includes(`id="error-code">${code}<`), page.text);
  assert.match(page.text, /id="request-id">[\w-]{8,}</);
  assert.match(page.text, /<title>Error: /);
  if (way === undefined) assert.doesNotMatch(page.text, /class="button main"/);
  else assert.ok(page.text.includes(way), page.text);
}

test('the address of a sign-in names the application, its cookie the path alone (RFC 6265 section 5.1.4)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const answer = await fetch(authorizeUrl(service, 'default', { client_id: clientId }), { redirect: 'manual' });
  const address = new URL(answer.headers.get('location') ?? '', service.baseUrl);
  assert.match(address.pathname, /^\/interaction\/default\/[\w-]+$/);
  assert.deepEqual([...address.searchParams], [['application', clientId]]);
  const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('gatehouse-interaction=')) ?? '';
  assert.ok(cookie.includes(`path=${address.pathname};`), cookie);
});

test('finished, too old, in another browser, sent twice: each page leads back to the application', async (t) => {
  const service = await startService(t);
  const { user, browser, page } = await atSignIn(service, { client_uri: HOME });
  assertEnded(await new UserAgent(service.baseUrl).visit(page.url), 403, 'interaction_elsewhere', RETURN);
  const resume = await browser.send(page.url.pathname.concat('/login', page.url.search), {
    method: 'POST',
    body: new URLSearchParams({ username: user.login, password: user.password }),
    headers: { origin: service.baseUrl },
  });
  const next = resume.headers.get('location') ?? '';
  assert.equal((await browser.visit(next)).url.origin, 'https://app.example');
  assertEnded(await browser.visit(next), 410, 'interaction_expired', RETURN);
  assertEnded(await browser.visit(page.url), 410, 'interaction_expired', RETURN);
  assertEnded(await browser.signIn(page, user), 410, 'interaction_expired', RETURN);
  const neverThere = new URL(page.url.href.replace(/\/[\w-]+\?/, '/never-there?'));
  assertEnded(await browser.visit(neverThere), 410, 'interaction_expired', RETURN);
});

test('the way back leads to what is registered, and nowhere else', async (t) => {
  const service = await startService(t);
  const gone = (application: string, server = 'default') =>
    new UserAgent(service.baseUrl).visit(`/interaction/${server}/gone?${new URLSearchParams({ application })}`);
  const { clientId: homeless } = await createClient(service);
  const { clientId: inactive } = await createClient(service, { client_uri: HOME });
  const { clientId } = await createClient(service, { client_uri: HOME });
  const { clientId: beginning } = await createClient(service, { initiate_login_uri: 'https://app.example/begin?tenant=1' });

  assertEnded(await gone(clientId), 410, 'interaction_expired', RETURN);
  const begin = new URL('https://app.example/begin?tenant=1');
  begin.searchParams.set('iss', service.issuer('default'));
  assertEnded(await gone(beginning), 410, 'interaction_expired', `href="${begin.href.replace('&', '&amp;')}">Return to Test application<`);
  await service.api('POST', `/apps/${inactive}/lifecycle/deactivate`);
  for (const id of [homeless, inactive, 'nobody', 'https://evil.example', '../default', '<script>']) {
    assertEnded(await gone(id), 410, 'interaction_expired', undefined);
  }
  assertEnded(await gone(clientId, 'no-such-server'), 410, 'interaction_expired', undefined);
  assertEnded(
    await new UserAgent(service.baseUrl).visit(`/nowhere?application=${clientId}`),
    404,
    'not_found',
    'href="/">Go to the start page<',
  );
});

test('ui_locales is followed on the sign-in page, an error page, the form_post page and the logout page (OpenID Connect Core section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const asked = { ui_locales: 'fr de-AT', response_mode: 'form_post' };
  const { user, clientId, browser, page } = await atSignIn(service, {}, asked);
  const german = (shown: Page) => assert.match(shown.text, /<html lang="de"/);
  german(page);
  const formPost = await browser.signIn(page, user);
  german(formPost);
  assert.doesNotMatch(formPost.text, /class="languages"/, 'in another language it would be another answer');
  assert.match(formPost.text, /<button[^>]*>Weiter<\/button>/);
  german(await browser.visit(authorizeUrl(service, 'default', { client_id: clientId, ...asked, redirect_uri: 'https://evil.example/' })));
  german(await browser.visit(authorizeUrl(service, 'default', { client_id: 'nobody', ...asked })));
  german(await browser.visit(`${service.issuer('default')}/logout?ui_locales=de`));
  german(await browser.visit(`${service.issuer('default')}/logout?ui_locales=de&id_token_hint=nonsense`));
});

test('a language chosen on the sign-in page holds on the consent page after it, whatever the application asks for', async (t) => {
  const service = await startService(t);
  await setScope(service, 'email', { consent: 'REQUIRED' });
  const parameters = { ui_locales: 'es', scope: 'openid email' };
  const { user, browser, page } = await atSignIn(service, { consent_method: 'REQUIRED' }, parameters);
  assert.match(page.text, /<html lang="es"/);
  const [, href = ''] = /<a href="([^"]*)" lang="de"/.exec(page.text) ?? [];
  const chosen = await browser.visit(new URL(href.replaceAll('&amp;', '&'), page.url));
  assert.equal(chosen.url.pathname, page.url.pathname);
  assert.match(chosen.text, /<html lang="de"/);
  const consent = await browser.signIn(chosen, user);
  assert.match(consent.text, /<form id="consent"/);
  assert.match(consent.text, /<html lang="de"/);
  assert.match(consent.text, /<strong>Ihre E-Mail-Adresse<\/strong>/);
  assert.match((await browser.visit('/signin?signed-out')).text + (await browser.visit('/')).text, /<html lang="de"/);
});

test('on https the chosen language is kept in a Secure cookie, also behind a proxy that ends TLS', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example', TRUST_PROXY: '1' } });
  for (const path of ['/signin?language=es', '/oauth/v1/authorize?language=es']) {
    const answer = await fetch(service.listensAt + path);
    const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('__Host-gatehouse-language=')) ?? '';
    assert.match(cookie, /; secure;/i, path);
  }
});

test('whoever notices that the database is away, the page says when to come again (RFC 9110 section 10.2.3)', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const [known, unknown] = [await createClient(service), await createClient(service)];
  const ask = async ({ clientId }: { clientId: string }) => {
    const { status, headers, text } = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: clientId }));
    return { status, code: /id="error-code">([^<]*)</.exec(text)?.[1], retryAfter: headers.get('retry-after') };
  };
  assert.equal((await ask(known)).status, 200);
  database.shut();
  const away = { status: 503, code: 'temporarily_unavailable', retryAfter: '5' };
  // oidc-provider looks for the one; of the other, which is remembered, the sign-in that begins cannot be written.
  for (const client of [unknown, known]) assert.deepEqual(await ask(client), away);
});
