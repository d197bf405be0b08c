/** Each of the user's own pages in Chromium: axe-core in light and dark and at 320 CSS pixels (WCAG 2.2 AA; 1.4.10 Reflow), its content policy kept, by keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request, SETTINGS } from '../../protocol/ciba/sign-in-requests.ts';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { assertAccessible, assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { createLabelled, PAGES } from './arrival.ts';

const LONG = 'A very long name of an application without which nobody could ever work '.repeat(3).trim();

test(
  'every page of the account is accessible, wide and narrow, light and dark, in each language, and keeps its policy',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser({
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@account.example',
      zoneinfo: 'Europe/London',
    });
    const redirect_uris = ['https://app.example/cb'];
    const clientId = await createLabelled(service, LONG, { redirect_uris, client_uri: 'https://app.example/' });
    await createLabelled(service, 'יישום <b>', { redirect_uris, initiate_login_uri: 'https://app.example/begin' });
    await tokensFor(service, new UserAgent(service.baseUrl), user, await createClient(service, { consent_method: 'TRUSTED' }));
    const asking = await createClient(service, SETTINGS);
    const hint = { login_hint: user.login, binding_message: 'a word of many letters that says nothing '.repeat(2).trim() };
    assert.equal((await request(service, asking, hint)).status, 200);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/account?application=${clientId}`);
    await signIn(page, user);
    await page.waitForURL(`${service.baseUrl}/account`);
    await page.goto(`${service.baseUrl}/account?application=${clientId}`);

    const look = (name: string) => assertAccessible(page, name);
    for (const path of PAGES) {
      assert.equal((await page.goto(service.baseUrl + path))?.status(), 200, path);
      await look(path);
    }

    await page.goto(`${service.baseUrl}/account/requests`);
    const confirmation = (await page.getAttribute('#review-0', 'href')) ?? '';
    for (const language of ['en', 'de', 'es', 'zh-Hans']) {
      await page.goto(`${service.baseUrl}${confirmation}&language=${language}`);
      await page.waitForSelector('#request-form');
      await assertAccessibleIn(page, language, 'a sign-in request');
    }

    await page.goto(`${service.baseUrl}/account/profile`);
    await page.fill('#profile-zoneinfo', 'Mars/Olympus');
    await page.click('#save-profile');
    await page.waitForSelector('#error-summary');
    await look('the profile with a problem');
    await page.goto(`${service.baseUrl}/account/password`);
    await page.fill('#current', 'not the present one');
    await page.fill('#password', 'a new and much longer password');
    await page.click('#save-password');
    await page.waitForSelector('#current-problem');
    await look('the password with a problem');

    for (const language of ['de', 'es', 'zh-Hans'])
      for (const path of PAGES) {
        await page.goto(`${service.baseUrl}${path}?language=${language}`);
        await assertAccessibleIn(page, language, path);
      }

    // By keyboard alone: past the menu, and the other session is ended.
    await page.goto(`${service.baseUrl}/account/sessions?language=en`);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Sign out');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#notice');
    assert.equal(await page.textContent('#notice'), 'The browser is signed out.');
    window.assertQuiet();
  }),
);
