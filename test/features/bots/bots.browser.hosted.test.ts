/** The proof of work in Chromium: solved while the form is filled in, under the strict policy; accessible in four languages; without script the form goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { openWindow } from '../../support/watched-page.ts';
import { GOOD } from '../users/user-holdings.ts';

test(
  'a browser proves its work and is heard beyond the limit for those that do not',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env });
    await service.api('PUT', '/settings/registration', { enabled: true });
    await service.api('PUT', '/settings/bots', { signUp: 'ALWAYS', passwordReset: 'ALWAYS', signIn: 'ALWAYS' });
    let people = 0;
    for (const [locale, lang] of Object.entries({ en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' })) {
      const window = await openWindow(browser, { locale });
      const page = await window.open();
      for (let turn = 0; turn < 2; turn += 1) {
        people += 1;
        await page.goto(`${service.baseUrl}/signup`);
        await page.fill('#email', `p${people}@example.com`);
        await page.fill('#password', GOOD);
        // Sent before the work is done: the form waits for it.
        await page.click('#sign-up');
        await page.waitForSelector('#code-form');
      }
      await page.goto(`${service.baseUrl}/signup`);
      await page.waitForSelector('#proof[value^="{"]', { state: 'attached' });
      await assertAccessibleIn(page, lang, 'sign-up with a proof');
      await page.goto(`${service.baseUrl}/forgot-password`);
      await page.fill('#username', 'somebody');
      await page.click('#send-link');
      await page.waitForURL(/sent/);
      window.assertQuiet();
    }

    await t.test('the sign-in page, with its two buttons', async () => {
      const user = await service.createUser();
      const window = await openWindow(browser);
      const page = await window.open();
      await page.goto(`${service.baseUrl}/signin`);
      await page.fill('#username', user.login);
      await page.fill('#password', user.password);
      await page.click('#sign-in');
      await page.waitForURL(`${service.baseUrl}/account`);
      window.assertQuiet();
    });

    await t.test('without script: heard a few times, and told what to do', async () => {
      const window = await openWindow(browser, { javaScriptEnabled: false });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/signup`);
      await page.fill('#email', 'plain@example.com');
      await page.fill('#password', GOOD);
      await page.click('#sign-up');
      await page.waitForSelector('#error-summary');
      assert.match((await page.textContent('#error-summary')) ?? '', /If JavaScript is turned off, turn it on or try again in 15 minutes/);
    });
  }),
);
