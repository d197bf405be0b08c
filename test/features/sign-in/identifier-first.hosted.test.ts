/** `settings/sign-in.identifierFirst`: the user name is asked for by itself, and the next page tells nobody whether there is such an account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { openWindow } from '../../support/watched-page.ts';

const asksForPassword = ({ text }: Page): boolean => /name="password"/.test(text);

test('first the user name, then the password, at an application and without one; a hint of the name spares the first step', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
  const { clientId } = await createClient(service);
  const user = await service.createUser();
  const request = authorizeUrl(service, 'default', { client_id: clientId });
  for (const start of ['/signin', request]) {
    const agent = new UserAgent(service.baseUrl);
    const first = await agent.visit(start);
    assert.ok(!asksForPassword(first));
    assert.match(first.text, /id="sign-in" type="submit">Next</);
    const missing = await agent.submit(first, 'sign-in-form', { username: ' ' });
    assert.equal(missing.status, 400);
    assert.ok(!asksForPassword(missing));
    assert.match(missing.text, /<a href="#username">Enter your user name/);
    assert.doesNotMatch(missing.text, /href="#password"/, 'what is not asked for yet is not missed');
    const second = await agent.submit(first, 'sign-in-form', { username: ` ${user.login} ` });
    assert.equal(second.status, 200);
    assert.ok(asksForPassword(second));
    assert.match(second.text, new RegExp(`id="username"[^>]*value="${user.login}"`));
    assert.doesNotMatch(second.text, /id="error-summary"/);
    const empty = await agent.submit(second, 'sign-in-form', { password: '' });
    assert.match(empty.text, /<a href="#password">Enter your password/);
    const wrong = await agent.submit(second, 'sign-in-form', { password: 'not the password' });
    assert.equal(wrong.status, 400);
    assert.ok(asksForPassword(wrong));
    const done = await agent.submit(wrong, 'sign-in-form', { password: user.password });
    if (start === '/signin') assert.equal(done.url.pathname, '/account');
    else assert.ok(answerOf(done).code);
  }
  const hinted = await new UserAgent(service.baseUrl).visit(
    authorizeUrl(service, 'default', { client_id: clientId, login_hint: user.login }),
  );
  assert.ok(asksForPassword(hinted));
  const both = new UserAgent(service.baseUrl);
  const atOnce = await both.submit(await both.visit('/signin'), 'sign-in-form', { username: user.login, password: user.password });
  assert.equal(atOnce.url.pathname, '/account', 'a password manager that fills in both is not sent back');
});

test('the second page is the same for whoever there is and whoever there is not', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
  const { login } = await service.createUser();
  const pages: string[] = [];
  for (const username of [login, 'nobody-of-that-name', '<b>"\'&']) {
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.submit(await agent.visit('/signin'), 'sign-in-form', { username });
    assert.equal(page.status, 200);
    const written = /id="username"[^>]*value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    pages.push(page.text.replaceAll(written, '…').replace(/(name="(csrf|challenge)" value|data-options)="[^"]*"/g, ''));
  }
  assert.equal(new Set(pages).size, 1);
  const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.authentication.failure"')}`);
  assert.deepEqual(body, [], 'a name alone is no failure');
});

for (const [language, next] of [
  ['de', 'Weiter'],
  ['es', 'Siguiente'],
  ['zh-CN', '下一步'],
]) {
  test(`the button of the first step, ${language}`, async (t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
    const page = await fetch(`${service.baseUrl}/signin`, { headers: { 'accept-language': String(language) } });
    assert.ok((await page.text()).includes(`>${next}</button>`));
  });
}

test(
  'both steps in Chromium: the focus is where one types next',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
    const user = await service.createUser();
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/signin`);
    await page.waitForSelector('#username:focus');
    await page.keyboard.type(user.login);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#password');
    assert.equal(await page.locator(':focus').getAttribute('id'), 'password');
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.baseUrl}/account`);
    window.assertQuiet();
  }),
);
