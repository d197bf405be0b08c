/** What people do besides going straight on: back, reload, wait too long, a second tab. Each ends at the application or in plain words (OpenID Connect Core 1.0 section 3.1.2.3). */
import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { LIFETIMES } from '../../../config/defaults.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { assertExplained, openWindow, signIn } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from './application.ts';

async function atSignIn(browser: Browser, t: TestContext) {
  const service = await startService(t);
  const user = await service.createUser();
  const application = await runApplication(t, service);
  const window = await openWindow(browser);
  const page = await window.open();
  await page.goto(application.start());
  return { service, user, application, window, page };
}

/** The page says what happened and leads to the application. */
async function assertWayBack(page: Page, code: string, { origin }: { readonly origin: string }): Promise<void> {
  await assertExplained(page, code);
  assert.equal(await page.textContent('main a.button'), 'Return to Test application');
  await page.click('main a.button');
  await page.waitForURL(`${origin}/`);
}

test(
  'the sign-in page left open too long (management-api.md, HTML hooks: error page)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atSignIn(browser, t);
    mock.timers.enable({ apis: ['Date'], now: Date.now() + (LIFETIMES.interaction + 1) * 1000 });
    try {
      await signIn(page, user);
      await page.waitForSelector('#error-code');
      await assertWayBack(page, 'interaction_expired', application);
    } finally {
      mock.timers.reset();
    }
    window.assertQuiet();
  }),
);

test(
  'back, after the sign-in (management-api.md, HTML hooks: error page)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atSignIn(browser, t);
    await signIn(page, user);
    await page.waitForURL(`${application.origin}/callback?*`);
    await page.goBack();
    assert.equal(await page.locator('form').count(), 0, 'no form that is over');
    await page.reload();
    await assertWayBack(page, 'interaction_expired', application);
    window.assertQuiet();
  }),
);

test(
  'a page that the browser brings back as it was left asks again (HTML standard, pageshow)',
  inBrowser(async (browser, t) => {
    const { window, page } = await atSignIn(browser, t);
    // What a browser with a back/forward cache does; Chromium keeps no page out of a sign-in that set cookies.
    await Promise.all([
      page.waitForEvent('load'),
      page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`),
    ]);
    assert.equal(await page.locator('#sign-in-form').count(), 1);
    window.assertQuiet();
  }),
);

test(
  'the sign-in page reloaded, before and after a wrong password (OpenID Connect Core section 3.1.2.3)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atSignIn(browser, t);
    await page.reload();
    await signIn(page, { ...user, password: 'not-the-password' });
    await page.waitForSelector('#error-summary');
    // The address bar, not F5: that would ask whether to send the form again.
    await page.goto(page.url());
    assert.equal(await page.locator('#error-summary').count(), 0);
    await signIn(page, user);
    await page.waitForURL(`${application.origin}/callback?*`);
    assert.equal((await outcomeOf(page)).sub, user.id);
    window.assertQuiet();
  }),
);

test(
  'a second tab with another application: both sign in (OpenID Connect Core section 3.1.2.3)',
  inBrowser(async (browser, t) => {
    const { service, user, application, window, page } = await atSignIn(browser, t);
    const other = await runApplication(t, service);
    const tab = await window.open();
    await tab.goto(other.start());
    for (const [open, { origin }] of [
      [page, application],
      [tab, other],
    ] as const) {
      await signIn(open, user);
      await open.waitForURL(`${origin}/callback?*`);
      assert.equal((await outcomeOf(open)).sub, user.id);
    }
    window.assertQuiet();
  }),
);

test(
  'a second tab, where somebody else signs in: the later one is signed in (OpenID Connect Core section 3.1.2.3)',
  inBrowser(async (browser, t) => {
    const { service, user, application, window, page } = await atSignIn(browser, t);
    const other = await service.createUser();
    const tab = await window.open();
    await tab.goto(application.start());
    await signIn(page, user);
    await page.waitForURL(`${application.origin}/callback?*`);
    await signIn(tab, other);
    await tab.waitForURL(`${application.origin}/callback?*`);
    assert.equal((await outcomeOf(tab)).sub, other.id);
    await page.goto(application.start({ prompt: 'none' }));
    assert.equal((await outcomeOf(page)).sub, other.id);
    window.assertQuiet();
  }),
);

test(
  'signed out in a second tab while the first one asks for the password again (management-api.md, HTML hooks: error page)',
  inBrowser(async (browser, t) => {
    const { service, user, application, window, page } = await atSignIn(browser, t);
    await signIn(page, user);
    await page.waitForURL(`${application.origin}/callback?*`);
    await page.goto(application.start({ prompt: 'login' }));
    const tab = await window.open();
    await tab.goto(`${service.issuer('built-in')}/logout`);
    await tab.click('#logout-confirm');
    await tab.waitForURL('**/signin?signed-out');
    await signIn(page, user);
    await page.waitForSelector('#error-code');
    await assertWayBack(page, 'session_changed', application);
    window.assertQuiet();
  }),
);

test(
  'the page opened in another browser (management-api.md, HTML hooks: error page)',
  inBrowser(async (browser, t) => {
    const { application, page } = await atSignIn(browser, t);
    const elsewhere = await openWindow(browser);
    const opened = await elsewhere.open();
    await opened.goto(page.url());
    await assertWayBack(opened, 'interaction_elsewhere', application);
    elsewhere.assertQuiet();
  }),
);

test(
  'cookies deleted while the page stood open (management-api.md, HTML hooks: error page)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atSignIn(browser, t);
    await window.context.clearCookies();
    await signIn(page, user);
    await page.waitForSelector('#error-code');
    await assertWayBack(page, 'interaction_elsewhere', application);
    window.assertQuiet();
  }),
);
