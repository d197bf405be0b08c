/** An application signs its users in and out through Chromium: OpenID Connect Core 1.0 section 3.1.2, RP-Initiated Logout 1.0 section 2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { LANGUAGES } from '../../../src/platform/i18n/messages.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { assertExplained, openWindow, signIn } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from './application.ts';

const focused = (page: Page) => page.locator(':focus').getAttribute('id');

test(
  'by keyboard alone, first with a wrong password: the error is focused and the user name kept (WCAG 2.2, 2.1.1 and 3.3.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const application = await runApplication(t, service);
    const window = await openWindow(browser);
    const page = await window.open();
    const { keyboard } = page;

    await page.goto(application.start());
    assert.equal(await focused(page), 'username');
    await keyboard.type(user.login);
    await keyboard.press('Tab');
    assert.equal(await focused(page), 'password');
    await keyboard.type('not-the-password');
    await Promise.all([page.waitForNavigation(), keyboard.press('Enter')]);

    assert.equal(await focused(page), 'error-summary');
    assert.match(await page.title(), /^Error: Sign in/);
    assert.equal(await page.inputValue('#username'), user.login);
    assert.equal(await page.inputValue('#password'), '');

    await keyboard.press('Tab');
    await keyboard.press('Enter');
    assert.equal(await focused(page), 'password', 'the summary leads to the field');
    await keyboard.type(user.password);
    await keyboard.press('Tab');
    assert.equal(await focused(page), 'show-password');
    await keyboard.press('Enter');
    assert.equal(await page.getAttribute('#password', 'type'), 'text', 'what was typed can be looked at');
    await keyboard.press('Tab');
    assert.equal(await focused(page), 'sign-in');
    await Promise.all([page.waitForURL(`${application.origin}/callback?*`), keyboard.press('Enter')]);
    assert.deepEqual(await outcomeOf(page), { sub: user.id, scope: 'openid' });
    window.assertQuiet();
  }),
);

for (const javaScriptEnabled of [true, false]) {
  const scripts = `JavaScript ${javaScriptEnabled ? 'on' : 'off'}`;

  test(
    `the sign-in form leads to the application’s origin, and the session to a second one: ${scripts} (CSP level 3 section 6.4.1)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser();
      const [first, second] = [await runApplication(t, service), await runApplication(t, service)];
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(first.start());
      await signIn(page, user);
      await page.waitForURL(`${first.origin}/callback?*`);
      assert.equal((await outcomeOf(page)).sub, user.id);
      await page.goto(second.start());
      assert.equal(new URL(page.url()).origin, second.origin, 'without being asked');
      assert.equal((await outcomeOf(page)).sub, user.id);
      window.assertQuiet();
    }),
  );

  test(
    `the answer posted to the application: ${scripts} (OAuth 2.0 Form Post Response Mode section 2)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser();
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(application.start({ response_mode: 'form_post' }));
      await signIn(page, user);
      if (!javaScriptEnabled) await page.click('button:has-text("Continue")');
      await page.waitForURL(`${application.origin}/callback`);
      assert.equal((await outcomeOf(page)).sub, user.id);
      window.assertQuiet();
    }),
  );

  test(
    `logout without a hint asks first; staying keeps the session, confirming ends it: ${scripts} (RP-Initiated Logout section 2)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForURL(`${service.baseUrl}/account`);
      assert.equal(await page.textContent('#account'), `You are signed in as Ada Lovelace (${user.login})`);

      await page.click('#sign-out');
      assert.match((await page.textContent('#account')) ?? '', /Ada Lovelace/);
      await page.click('text=Stay signed in');
      await page.waitForURL(`${service.baseUrl}/account`);
      await page.goto(application.start({ prompt: 'none' }));
      assert.equal((await outcomeOf(page)).sub, user.id);

      await page.goto(`${service.issuer('built-in')}/logout`);
      await page.click('#logout-confirm');
      await page.waitForURL(`${service.baseUrl}/signin?signed-out`);
      assert.match((await page.textContent('[role=status]')) ?? '', /signed out/);
      await page.goto(application.start({ prompt: 'none' }));
      assert.equal((await outcomeOf(page)).error, 'login_required');
      window.assertQuiet();
    }),
  );
}

test(
  'who gives up returns to the application with access_denied (OpenID Connect Core section 3.1.2.6)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const application = await runApplication(t, service);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(application.start());
    await page.click('#cancel');
    await page.waitForURL(`${application.origin}/callback?*`);
    assert.deepEqual(await outcomeOf(page), { error: 'access_denied', error_description: 'The user did not sign in' });
    window.assertQuiet();
  }),
);

test(
  'what may not be redirected is explained, with a way back to the application (RFC 6749 section 4.1.2.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const application = await runApplication(t, service);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(application.start({ redirect_uri: 'https://evil.example/' }));
    await assertExplained(page, 'invalid_redirect_uri');
    assert.equal(await page.getAttribute('main a.button', 'href'), application.origin);
    await page.goto(application.start({ client_id: 'nobody' }));
    await assertExplained(page, 'invalid_client');
    window.assertQuiet();
  }),
);

test(
  'on a phone, the button that shows the password has one line in every language, beside the typed text',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    for (const { lang } of LANGUAGES) {
      const page = await (await openWindow(browser, { locale: lang })).open();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${service.baseUrl}/account`);
      assert.equal(await page.getAttribute('html', 'lang'), lang);
      const button = page.locator('#show-password');
      for (const state of ['show', 'hide']) {
        const { lines, width, space } = await page.evaluate<{ lines: number; width: number; space: number }>(`(() => {
          const [button, field] = ['show-password', 'password'].map((id) => document.getElementById(id));
          const range = document.createRange();
          range.selectNodeContents(button);
          const space = Number.parseFloat(getComputedStyle(field).paddingInlineEnd);
          return { lines: range.getClientRects().length, width: button.getBoundingClientRect().width, space };
        })()`);
        assert.equal(lines, 1, `${lang}, ${state}`);
        assert.ok(width <= space, `${lang}, ${state}: ${width} in ${space}`);
        await button.click();
      }
    }
  }),
);
