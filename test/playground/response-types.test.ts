/** All seven response types, in each way they can come back, on both servers: OpenID Connect Core 1.0 section 3, and Form Post Response Mode. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { assertExplained, openWindow, signIn } from '../support/watched-page.ts';
import { ADA, choose, json } from './story.ts';

const RESPONSE_TYPES = ['code', 'id_token', 'token', 'id_token token', 'code id_token', 'code token', 'code id_token token'];

/** Everything that the response type promises is there, and everything that can be verified is. */
async function assertShown(page: Page, responseType: string, issuer: string): Promise<void> {
  const words = responseType.split(' ');
  const has = (word: string) => words.includes(word) || words.includes('code');
  const count = (selector: string) => page.locator(selector).count();
  const there = await Promise.all(['#id-token', '#access-token', '#refresh-token', '#userinfo', '#exchange'].map(count));
  assert.deepEqual(there, [has('id_token'), has('token'), has('code'), has('token'), has('code')].map(Number), responseType);
  assert.equal(await count('#front-id-token'), Number(words.includes('code') && words.includes('id_token')), responseType);
  assert.equal(await count('#front-access-token'), Number(words.includes('code') && words.includes('token')), responseType);
  assert.equal(await count('.checks .failed'), 0, await page.content());
  if (has('id_token')) {
    assert.equal((await json(page, '#id-token-claims')).iss, issuer);
    assert.match((await page.textContent('#id-token-checks')) ?? '', /Verified: signature.*Verified: nonce/s);
  }
  if (responseType === 'id_token token')
    assert.match((await page.textContent('#id-token-checks')) ?? '', /at_hash matches the access token/);
  if (words.includes('code') && words.includes('id_token')) {
    assert.match((await page.textContent('#front-id-token-checks')) ?? '', /c_hash matches the code/);
  }
  const received = new URLSearchParams((await page.textContent('#response'))?.replaceAll('\n', ''));
  for (const word of words) assert.equal(received.has(word === 'token' ? 'access_token' : word), true, `${responseType}: ${word}`);
}

for (const server of ['built-in', 'default']) {
  test(
    `response types, by the default mode, by form_post and by the fragment: ${server} server (OpenID Connect Core section 3)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser(ADA);
      const window = await openWindow(browser);
      const page = await window.open();
      await page.goto(`${service.baseUrl}/playground`);
      await page.click('#start');
      await signIn(page, user);
      for (const responseMode of ['', 'form_post', 'fragment']) {
        // The fragment is the default of all but one. That both servers answer the same is not the playground's matter (test/oauth).
        const types = responseMode === 'fragment' ? ['code'] : server === 'built-in' ? RESPONSE_TYPES : ['code', 'code id_token token'];
        for (const responseType of types) {
          await page.waitForSelector('#change');
          await page.click('#change');
          await choose(page, server, { responseType, responseMode });
          await page.click('#start');
          await page.waitForSelector('#received');
          await assertShown(page, responseType, service.issuer(server));
          const expected = responseMode || (responseType === 'code' ? 'query' : 'fragment');
          assert.equal(new URL(page.url()).search === '', expected !== 'query');
          assert.equal(new URL(page.url()).hash, '', 'no token stays in the address');
          const how = { query: /query of the address/, fragment: /after the #/, form_post: /posted it/ }[expected];
          assert.match((await page.textContent('#received .lead')) ?? '', how ?? /never/);
        }
      }
      window.assertQuiet();
    }),
  );

  test(
    `without JavaScript a fragment is explained, and form_post leads on: ${server} server (Form Post Response Mode)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser(ADA);
      const window = await openWindow(browser, { javaScriptEnabled: false });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/playground`);
      await choose(page, server, { responseType: 'code id_token' });
      await page.click('#start');
      await signIn(page, user);
      await page.waitForSelector('#use-form-post');
      assert.match((await page.textContent('h1')) ?? '', /in the address/);
      await page.click('#use-form-post');
      await page.click('#form-post #continue');
      await page.waitForSelector('#received');
      await assertShown(page, 'code id_token', service.issuer(server));
      window.assertQuiet();
    }),
  );
}

test(
  'the request can be looked at first, and changed (OpenID Connect Core section 3.1.2.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser(ADA);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/playground`);
    await choose(page, 'default', { prompt: 'login' });
    await page.fill('#login_hint', 'ada');
    await page.click('#preview');
    const shown = new URL((await page.textContent('#request-url'))?.replaceAll('\n', '') ?? '');
    assert.equal(shown.href, await page.getAttribute('#go', 'href'));
    assert.deepEqual([shown.searchParams.get('prompt'), shown.searchParams.get('login_hint')], ['login', 'ada']);
    for (const [name] of shown.searchParams) assert.equal((await page.locator(`#sent th:has-text("${name}")`).count()) > 0, true, name);
    assert.match((await page.textContent('#sent')) ?? '', /RFC 7636, section 4\.2/);
    await page.click('#back');
    assert.deepEqual([await page.inputValue('#login_hint'), await page.inputValue('#prompt')], ['ada', 'login']);
    await page.click('#preview');
    await page.click('#go');
    assert.equal(await page.inputValue('#username'), 'ada');
    await signIn(page, user);
    await page.waitForSelector('#userinfo');
    window.assertQuiet();
  }),
);

test(
  'what no server accepts may be tried, and is explained (RFC 6749 section 4.1.2.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/playground`);
    for (const [choice, code, meaning] of [
      [{ prompt: 'none' }, 'login_required', /prompt=none forbids a dialog/],
      [{ responseType: 'id_token', responseMode: 'query' }, 'unsupported_response_mode', /must not be sent in a query/],
      [{ responseMode: 'form_post', prompt: 'none' }, 'login_required', /nobody is signed in/],
    ] as const) {
      await choose(page, 'built-in', choice);
      await page.click('#start');
      await page.waitForSelector('#error-code');
      await assertExplained(page, code);
      assert.match((await page.textContent('#error-meaning')) ?? '', meaning);
      await page.click('#change');
    }
    await page.fill('#other_scopes', 'nonsense');
    await page.selectOption('#prompt', '');
    await page.click('#start');
    await page.waitForSelector('#error-code');
    await assertExplained(page, 'invalid_scope');
    await page.click('#change');
    assert.equal(await page.inputValue('#other_scopes'), 'nonsense');
    window.assertQuiet();
  }),
);

test(
  'the callback without an answer leads back (RFC 6749 section 3.1.2)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/playground/callback`);
    await page.click('#nothing a');
    await page.waitForURL(`${service.baseUrl}/playground`);
    window.assertQuiet();
  }),
);
