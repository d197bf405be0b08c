/** The consent dialog in Chromium, from an application's request to its answer: OpenID Connect Core 1.0 section 3.1.2.4, decisions.md "Consent". */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { inBrowser } from '../../support/browser.ts';
import { setScope } from '../../support/scopes.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from '../sign-in/application.ts';

const WANTED = { scope: 'openid email' };

/** A user in front of the dialog of an application that must ask (consent_method REQUIRED) for the scope `email`. */
async function atTheDialog(browser: Browser, t: TestContext, { javaScriptEnabled = true, scope = {} } = {}) {
  const service = await startService(t);
  await setScope(service, 'email', { consent: 'REQUIRED', ...scope });
  const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });
  const application = await runApplication(t, service, { consent_method: 'REQUIRED' });
  const window = await openWindow(browser, { javaScriptEnabled });
  const page = await window.open();
  await page.goto(application.start(WANTED));
  await signIn(page, user);
  await page.waitForSelector('form#consent');
  return { service, user, application, window, page };
}

/** @returns once the application has its answer */
async function decide(page: Page, decision: 'allow' | 'deny', origin: string): Promise<void> {
  await page.click(`button[name=decision][value=${decision}]`);
  await page.waitForURL(`${origin}/callback?*`);
}

for (const javaScriptEnabled of [true, false]) {
  const scripts = `JavaScript ${javaScriptEnabled ? 'on' : 'off'}`;

  test(
    `allowed: the application gets the scope, and is not made to ask again: ${scripts} (OpenID Connect Core section 3.1.2.4)`,
    inBrowser(async (browser, t) => {
      const { user, application, window, page } = await atTheDialog(browser, t, { javaScriptEnabled });
      assert.equal(await page.textContent('h1'), 'Allow Test application to use your account?');
      assert.match((await page.textContent('#account')) ?? '', /Ada Lovelace/);
      const asked = await page.locator('.scopes strong').allTextContents();
      assert.deepEqual(asked, ['Your e-mail address'], 'what needs no consent is not asked for');
      assert.ok((await page.textContent('main'))?.includes(`You will be redirected to ${application.origin}`));
      await decide(page, 'allow', application.origin);
      assert.deepEqual(await outcomeOf(page), { sub: user.id, scope: 'openid email' });

      await page.goto(application.start(WANTED));
      assert.deepEqual(await outcomeOf(page), { sub: user.id, scope: 'openid email' }, 'remembered');
      await page.goto(application.start({ ...WANTED, prompt: 'none' }));
      assert.equal((await outcomeOf(page)).sub, user.id);
      window.assertQuiet();
    }),
  );

  test(
    `denied: the application is told access_denied, and asks again next time: ${scripts} (RFC 6749 section 4.1.2.1)`,
    inBrowser(async (browser, t) => {
      const { application, window, page } = await atTheDialog(browser, t, { javaScriptEnabled });
      await decide(page, 'deny', application.origin);
      assert.deepEqual(await outcomeOf(page), { error: 'access_denied', error_description: 'The user did not allow the access' });
      await page.goto(application.start(WANTED));
      assert.equal(await page.locator('form#consent').count(), 1, 'signed in all the same, and asked again');
      window.assertQuiet();
    }),
  );
}

test(
  'the operator’s own texts of a scope in the language of the page, on the dialog and at /account/permissions',
  inBrowser(async (browser, t) => {
    const scope = { translations: { de: { displayName: 'Deine Post', description: 'Wohin wir schreiben' } } };
    const { service, application, page } = await atTheDialog(browser, t, { scope });
    const shown = () => page.locator('.scopes li').allInnerTexts();
    assert.deepEqual(await page.locator('.scopes strong').allTextContents(), ['Your e-mail address']);
    await page.goto(application.start({ ...WANTED, ui_locales: 'de' }));
    assert.match((await shown()).join(' '), /Deine Post\s+Wohin wir schreiben/);
    await page.goto(application.start({ ...WANTED, ui_locales: 'es' }));
    assert.deepEqual(await page.locator('.scopes strong').allTextContents(), ['Correo electrónico']);
    await decide(page, 'allow', application.origin);
    await page.goto(`${service.baseUrl}/account/permissions?language=de`);
    assert.match((await page.textContent('main')) ?? '', /Deine Post/);
  }),
);

test(
  'prompt=none where the dialog is needed: consent_required (OpenID Connect Core section 3.1.2.6)',
  inBrowser(async (browser, t) => {
    const { application, window, page } = await atTheDialog(browser, t);
    await page.goto(application.start({ ...WANTED, prompt: 'none' }));
    assert.equal((await outcomeOf(page)).error, 'consent_required');
    window.assertQuiet();
  }),
);

test(
  'prompt=consent asks again although it was given before (OpenID Connect Core section 3.1.2.1)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atTheDialog(browser, t);
    await decide(page, 'allow', application.origin);
    await page.goto(application.start({ ...WANTED, prompt: 'consent' }));
    await decide(page, 'allow', application.origin);
    assert.equal((await outcomeOf(page)).sub, user.id);

    await page.goto(application.start({ ...WANTED, prompt: 'login consent' }));
    await signIn(page, user);
    await decide(page, 'deny', application.origin);
    assert.equal((await outcomeOf(page)).error, 'access_denied');
    window.assertQuiet();
  }),
);

test(
  'by keyboard alone: Deny stands before Allow, and Enter decides (WCAG 2.2, 2.1.1 and 2.4.3)',
  inBrowser(async (browser, t) => {
    const { user, application, window, page } = await atTheDialog(browser, t);
    const value = () => page.locator(':focus').getAttribute('value');
    await page.keyboard.press('Tab');
    assert.equal(await value(), 'deny');
    await page.keyboard.press('Tab');
    assert.equal(await value(), 'allow');
    await Promise.all([page.waitForURL(`${application.origin}/callback?*`), page.keyboard.press('Enter')]);
    assert.equal((await outcomeOf(page)).sub, user.id);
    window.assertQuiet();
  }),
);
