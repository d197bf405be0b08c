/** The playground as a newcomer meets it, in Chromium on the running service: management-api.md, "How it is started", and OpenID Connect Core 1.0 section 3.1. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { assertExplained, openWindow, signIn } from '../support/watched-page.ts';
import { json } from './story.ts';

/** What the result page shows of the tokens and of the user; @returns the nonce, which no other sign-in has */
async function assertResult(page: Page, issuer: string, user: { id: string }): Promise<string> {
  assert.equal(await page.textContent('#name'), 'Ada Lovelace');
  const claims = await json(page, '#id-token-claims');
  assert.deepEqual([claims.iss, claims.sub, claims.aud, claims.amr], [issuer, user.id, 'playground', ['pwd']]);
  assert.equal((await json(page, '#id-token-header')).alg, 'RS256');
  assert.equal(await page.textContent('#scopes'), 'openid profile email offline_access');
  assert.equal((await json(page, '#userinfo')).email, 'ada@example.com');
  assert.notEqual(await page.textContent('#refresh-token'), '');
  return claims.nonce;
}

for (const javaScriptEnabled of [true, false]) {
  for (const server of ['built-in', 'default']) {
    const title = `one button, sign in, and the tokens are shown: ${server} server, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`;
    test(
      `${title} (OpenID Connect Core sections 3.1.2 and 5.3)`,
      inBrowser(async (browser, t) => {
        const service = await startService(t);
        const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
        const window = await openWindow(browser, { javaScriptEnabled });
        const page = await window.open();

        await page.goto(`${service.baseUrl}/playground`);
        assert.equal(await page.isChecked('#server-built-in'), true, 'nothing needs to be chosen');
        await page.check(`#server-${server}`);
        await page.click('#start');
        await signIn(page, user);
        await page.waitForURL('**/playground/callback?*');
        const nonce = await assertResult(page, service.issuer(server), user);
        const accessToken = (await page.textContent('#access-token')) ?? '';
        if (server === 'default') {
          assert.equal((await json(page, '#access-token-header')).typ, 'at+jwt');
          assert.equal((await json(page, '#access-token-claims')).aud, 'api://default');
        } else {
          assert.match(accessToken, /^[A-Za-z0-9_-]{43,}$/, 'opaque');
          assert.equal(await page.locator('#access-token-claims').count(), 0);
        }
        assert.equal(await page.isVisible('#access-token'), false);
        await page.click('details:has(#access-token) > summary');
        assert.equal(await page.isVisible('#access-token'), true);

        await Promise.all([page.waitForNavigation(), page.click('#start-again')]);
        assert.notEqual(await assertResult(page, service.issuer(server), user), nonce, 'signed in again, without being asked');

        await page.click('#sign-out');
        await page.waitForSelector('#signed-out');
        await page.click('#start');
        await page.waitForSelector('#sign-in-form');
        window.assertQuiet();
      }),
    );
  }

  test(
    `who gives up can start again: JavaScript ${javaScriptEnabled ? 'on' : 'off'} (OpenID Connect Core section 3.1.2.6)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/playground`);
      await page.check('#server-default');
      await page.click('#start');
      await page.click('#cancel');
      await page.waitForURL('**/playground/callback?*');
      await assertExplained(page, 'access_denied');
      await page.click('#start-again');
      await signIn(page, user);
      await page.waitForSelector('#userinfo');
      await assertResult(page, service.issuer('default'), user);
      window.assertQuiet();
    }),
  );
}

test(
  'the callback loaded again says that this sign-in is over, and starts another (RFC 6749 section 10.5)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/playground`);
    await page.click('#start');
    await signIn(page, user);
    await page.waitForURL('**/playground/callback?*');
    await page.reload();
    await assertExplained(page, 'no_sign_in_under_way');
    await page.click('#start');
    await page.waitForSelector('#userinfo');
    await assertResult(page, service.issuer('built-in'), user);
    window.assertQuiet();
  }),
);

test(
  'two sign-ins in two tabs do not disturb each other (OpenID Connect Core section 3.1.2.1, state)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
    const window = await openWindow(browser);
    const [one, other] = [await window.open(), await window.open()];
    for (const [page, server] of [
      [one, 'built-in'],
      [other, 'default'],
    ] as const) {
      await page.goto(`${service.baseUrl}/playground`);
      await page.check(`#server-${server}`);
      await page.click('#start');
      await page.waitForSelector('#sign-in-form');
    }
    await signIn(one, user);
    await one.waitForSelector('#userinfo');
    await assertResult(one, service.issuer('built-in'), user);
    await signIn(other, user);
    await other.waitForSelector('#userinfo');
    await assertResult(other, service.issuer('default'), user);
    window.assertQuiet();
  }),
);

test(
  'opened by another name of this machine, it leads to where signing in works (RFC 6265 section 5.1.3)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl.replace('localhost', '127.0.0.1')}/playground`);
    assert.equal(await page.locator('#start').count(), 0);
    await page.click('main a.button');
    await page.waitForURL(`${service.baseUrl}/playground`);
    assert.equal(await page.locator('#start').count(), 1);
    window.assertQuiet();
  }),
);

test('through a proxy there is no playground, only the page for unknown addresses (management-api.md, How it is started)', async (t) => {
  const service = await startService(t);
  for (const path of ['/playground', '/playground/callback?state=x']) {
    const { status, text } = await new UserAgent(service.baseUrl).visit(path, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    assert.equal(status, 404);
    assert.match(text, /id="error-code">not_found</);
  }
});

test('no other site starts a sign-in at the playground (RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const init = { method: 'POST', body: new URLSearchParams({ server: 'default' }), headers: { origin: 'https://evil.example' } };
  const { status, text } = await new UserAgent(service.baseUrl).visit('/playground/start', init);
  assert.equal(status, 403);
  assert.match(text, /id="error-code">form_refused</);
});
