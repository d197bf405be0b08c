/** The page behind a one-time link, in a browser without JavaScript, and in Chromium. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { createPasswordLink } from '../../../src/features/sign-in/one-time-links.service.ts';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { observeRequests } from '../../../src/platform/http/requests.ts';
import { assertAccessible } from '../../support/accessibility.ts';
import { afterwards } from '../../support/afterwards.ts';
import { inBrowser } from '../../support/browser.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow } from '../../support/watched-page.ts';

const PASSWORD = 'a password of my own';

/** A service, and a way to make links as another part of it would. */
async function serviceWithLinks(
  t: TestContext,
): Promise<{ service: Service; link(userId: string, purpose?: 'activation' | 'reset'): Promise<string> }> {
  const service = await startService(t);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const config = loadConfig({ BASE_URL: service.baseUrl });
  return {
    service,
    link: (userId, purpose = 'reset') => database.transaction((trx) => createPasswordLink(trx, { config }, userId, purpose)),
  };
}

test('a link leads to a page that takes a password, and signs in; the one before is none any more', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const user = await service.createUser({ displayName: '<b>Ada</b>' });
  const elsewhere = new UserAgent(service.baseUrl);
  assert.equal((await elsewhere.signIn(await elsewhere.visit('/signin'), user)).url.pathname, '/account');

  const url = await link(user.id);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(url);
  assert.equal(page.status, 200);
  assert.match(page.text, /for the account &lt;b&gt;Ada&lt;\/b&gt; \(user-/);
  assert.match(page.text, new RegExp(`<input id="username" type="text" value="${user.login}" autocomplete="username" readonly hidden>`));
  assert.match(page.text, /<input id="password" name="password" type="password" autocomplete="new-password" required/);

  const saved = await browser.submit(page, 'choose-password-form', { password: PASSWORD });
  assert.equal(saved.url.pathname, '/account', 'signed in, without typing it again');
  const again = new UserAgent(service.baseUrl);
  const form = await again.visit('/signin');
  assert.equal((await again.signIn(form, user)).status, 400, 'the old password');
  assert.equal((await again.signIn(form, { login: user.login, password: PASSWORD })).url.pathname, '/account');
  assert.equal((await elsewhere.visit('/')).url.pathname, '/signin', 'the session of another browser has ended');
});

test('looking at the page changes nothing, however often: scanners of mail follow links', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const user = await service.createUser();
  const url = await link(user.id);
  for (const method of ['GET', 'HEAD', 'GET']) assert.equal((await fetch(url, { method })).status, 200);
  const browser = new UserAgent(service.baseUrl);
  assert.equal((await browser.submit(await browser.visit(url), 'choose-password-form', { password: PASSWORD })).url.pathname, '/account');
});

test('its address stays in no cache and no Referer, not even this service’s own', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const { id } = await service.createUser();
  const { headers } = await fetch(await link(id));
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('referrer-policy'), 'strict-origin');
});

test('a link that is of no use says so in plain words, with the way to the sign-in page', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const replaced = await link(user.id);
  const url = await link(user.id);
  const page = await browser.visit(url);
  const used = async () => browser.submit(page, 'choose-password-form', { password: PASSWORD });
  assert.equal((await used()).url.pathname, '/account');
  const gone = [
    await used(),
    ...(await Promise.all([url, replaced, '/choose-password/never-made', '/choose-password/%00'].map((each) => browser.visit(each)))),
  ];
  for (const { status, text } of gone) {
    assert.equal(status, 410, text);
    assert.match(text, /This link no longer works/);
    assert.match(text, /<a class="button main" href="\/signin">Sign in<\/a>/);
    assert.match(text, /id="error-code">link_gone</);
  }
});

test('what is wrong with a password stands beside its field, and the link still works', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(await link(user.id));
  for (const [password, words] of [
    ['', 'Enter a password'],
    ['1234567', 'The password must have at least 8 characters'],
    ['x'.repeat(1025), 'The password can have at most 1024 characters'],
  ] as const) {
    const again = await browser.submit(page, 'choose-password-form', { password });
    assert.equal(again.status, 400);
    assert.ok(again.text.includes(`<p><a href="#password">${words}</a></p>`));
    assert.match(again.text, /aria-describedby="password-hint error-summary" aria-invalid="true"/);
    if (password !== '') assert.ok(!again.text.includes(password));
  }
  assert.equal((await browser.submit(page, 'choose-password-form', { password: 'x'.repeat(1024) })).url.pathname, '/account');
});

test('a form of another site or another browser is refused (RFC 9700 section 4.7)', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const user = await service.createUser();
  const url = await link(user.id);
  const page = await new UserAgent(service.baseUrl).visit(url);
  const stranger = new UserAgent(service.baseUrl);
  assert.equal((await stranger.submit(page, 'choose-password-form', { password: PASSWORD })).status, 403);
  const crossSite = { method: 'POST', body: new URLSearchParams({ password: PASSWORD }), headers: { origin: 'https://evil.example' } };
  assert.equal((await stranger.send(url, crossSite)).status, 403);
  assert.equal((await fetch(url)).status, 200, 'the link is not used up');
});

test('an activation link activates a user; the page is there in four languages', async (t) => {
  const { service, link } = await serviceWithLinks(t);
  const login = 'newcomer';
  const { body } = await service.api('POST', '/users?activate=false', { profile: { login } });
  assert.equal(body.status, 'STAGED');
  const url = await link(body.id, 'activation');
  const titles = { en: 'Choose a password', de: 'Passwort wählen', es: 'Elegir una contraseña', 'zh-CN': '设置密码' };
  for (const [language, title] of Object.entries(titles)) {
    assert.ok((await (await fetch(url, { headers: { 'accept-language': language } })).text()).includes(`<h1>${title}</h1>`));
  }
  const browser = new UserAgent(service.baseUrl);
  const saved = await browser.submit(await browser.visit(url), 'choose-password-form', { password: PASSWORD });
  assert.equal(saved.url.pathname, '/account');
  assert.equal((await service.api('GET', `/users/${body.id}`)).body.status, 'ACTIVE');
});

test('the links that activation and reset answer with lead to the page (management-api.md, users)', async (t) => {
  const service = await startService(t);
  const login = 'newcomer';
  const { body } = await service.api('POST', '/users?activate=false', { profile: { login } });
  for (const [step, field, password] of [
    ['activate', 'activationUrl', 'the first password'],
    ['reset_password', 'resetPasswordUrl', 'the second password'],
  ] as const) {
    const answer = await service.api('POST', `/users/${body.id}/lifecycle/${step}?sendEmail=false`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const browser = new UserAgent(service.baseUrl);
    const saved = await browser.submit(await browser.visit(answer.body[field]), 'choose-password-form', { password });
    assert.equal(saved.url.pathname, '/account', step);
  }
});

test('the log does not tell the token of a link, however its address is written', async (t) => {
  const lines: string[] = [];
  const observer = observeRequests(
    pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
    { trustProxy: 0, telemetry: undefined },
    new Set(),
  );
  const server = createServer((req, res) => {
    void observer.observe(req, res, async () => void res.end());
  }).listen(0, 'localhost');
  await once(server, 'listening');
  afterwards(t, () => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  for (const path of [
    '/choose-password/SECRET',
    '/Choose-Password/SECRET/',
    '/choose-password/SECRET/more?x=SECRET',
    '//choose-password/SECRET',
    '/verify-email/SECRET',
    '/invitation/SECRET',
    '/setup/SECRET',
    '/Code/SECRET',
  ]) {
    await (await fetch(`http://localhost:${address.port}${path}`, { method: 'POST' })).text();
  }
  assert.equal(lines.length, 8);
  for (const line of lines) {
    assert.match(line, /(choose-password|verify-email|invitation|setup|code)\/\.\.\."/i);
    assert.ok(!line.includes('SECRET'), line);
  }
  const metrics = await observer.registry.metrics();
  assert.match(metrics, /family="\/choose-password"/);
  assert.ok(!metrics.includes('SECRET'));
});

test(
  'in Chromium: shown on demand, told what is wrong, saved; axe-core finds nothing in light and dark (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const { service, link } = await serviceWithLinks(t);
    const user = await service.createUser({ displayName: 'Ada Lovelace' });
    const url = await link(user.id);
    const window = await openWindow(browser);
    const page = await window.open();
    const look = (name: string) => assertAccessible(page, name);

    await page.goto(url);
    await look('choose a password');
    await page.fill('#password', 'short');
    await page.click('#show-password');
    assert.equal(await page.getAttribute('#password', 'type'), 'text');
    await page.click('#save-password');
    await page.waitForSelector('#error-summary');
    assert.equal(await page.locator(':focus').getAttribute('id'), 'error-summary');
    await look('choose a password, with an error');
    await page.fill('#password', PASSWORD);
    await page.click('#save-password');
    await page.waitForSelector('#sign-out');
    await page.goto(url);
    assert.equal(await page.textContent('#error-code'), 'link_gone');
    await look('a link that was used');
    window.assertQuiet();
  }),
);
