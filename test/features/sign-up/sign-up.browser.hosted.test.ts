/**
 * Sign-up and sign-in by e-mail in Chromium, at an application on another site: by keyboard alone in four languages, on a phone by touch without script; axe-core
 * finds nothing (WCAG 2.2 AA).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { outcomeOf, runApplication } from '../sign-in/application.ts';

const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };
const PASSWORD = 'a password that nobody guesses';

/** Goes there by the Tab key. */
async function reach(page: Page, id: string): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    if ((await page.evaluate('document.activeElement?.id')) === id) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${id}`);
}

async function type(page: Page, id: string, text: string): Promise<void> {
  await reach(page, id);
  await page.keyboard.type(text);
}

async function press(page: Page, id: string, key = 'Enter'): Promise<void> {
  await reach(page, id);
  await page.keyboard.press(key);
}

test(
  'by keyboard alone, in four languages: from the application’s button through sign-up and its e-mail back into it, and again by a code',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env, sendsOutbox: true });
    const fields = [{ name: 'firstName', required: true }, { name: 'zoneinfo' }];
    await service.api('PUT', '/settings/registration', { enabled: true, fields, termsUrl: 'https://shop.example/terms' });
    await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] });
    const application = await runApplication(t, service);
    for (const [locale, lang] of Object.entries(LANGUAGES)) {
      const email = `ada-${locale}@example.com`.toLowerCase();
      const context = await browser.newContext({ locale, viewport: { width: 390, height: 844 } });
      const page = await context.newPage();
      await page.goto(application.start({ prompt: 'create' }));
      await assertAccessibleIn(page, lang, 'sign-up');
      assert.equal(await page.evaluate('document.activeElement?.id'), 'email', 'the first field has the focus');
      await type(page, 'email', email);
      await type(page, 'field-firstName', 'Ada');
      await type(page, 'password', 'short');
      await press(page, 'terms', 'Space');
      await press(page, 'sign-up');
      await page.waitForSelector('#error-summary');
      await assertAccessibleIn(page, lang, 'sign-up with a problem');
      // The summary has the focus; its link leads to the field.
      await page.focus('#error-summary');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate('document.activeElement?.id'), 'password');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#code-form');
      await assertAccessibleIn(page, lang, 'the page of the code');
      const { link } = await server.mail(email);
      const elsewhere = await (await browser.newContext({ locale })).newPage();
      await elsewhere.goto(link);
      await assertAccessibleIn(elsewhere, lang, 'the link elsewhere');
      await elsewhere.context().close();
      await page.goto(link);
      const { sub } = await outcomeOf(page);
      assert.equal(sub, (await service.api('GET', `/users/${email}`)).body.id);

      const again = await (await browser.newContext({ locale })).newPage();
      await again.goto(application.start());
      await assertAccessibleIn(again, lang, 'sign-in with a code');
      await type(again, 'username', email);
      await press(again, 'send-code');
      await again.waitForSelector('#code-form');
      const { text } = await server.mail(email, 2);
      await type(again, 'code', /\d{8}/.exec(text)?.[0] ?? '');
      await again.keyboard.press('Enter');
      assert.equal((await outcomeOf(again)).sub, sub);
      await again.context().close();
      await context.close();
    }
  }),
);

test(
  'on a phone by touch, without script: one page and one e-mail',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env, sendsOutbox: true });
    const settings = { enabled: true, fields: [{ name: 'firstName', required: true }], termsUrl: 'https://shop.example/terms' };
    await service.api('PUT', '/settings/registration', settings);
    const application = await runApplication(t, service);
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await (await browser.newContext({ ...phone, locale: 'en', javaScriptEnabled: false })).newPage();
    const shown: string[] = [];
    page.on('framenavigated', (frame) => shown.push(new URL(frame.url()).pathname));
    await page.goto(application.start({ prompt: 'create' }));
    for (const [id, text] of Object.entries({ email: 'ada@example.com', 'field-firstName': 'Ada', password: PASSWORD })) {
      await page.tap(`#${id}`);
      await page.keyboard.type(text);
    }
    await page.tap('#terms');
    await page.tap('#sign-up');
    await page.waitForSelector('#code-form');
    await page.goto((await server.mail('ada@example.com')).link);
    assert.equal((await outcomeOf(page)).sub, (await service.api('GET', '/users/ada@example.com')).body.id);
    assert.equal(shown.length, 3, `the form, the page that waits for the e-mail, and the application: ${shown}`);
    assert.equal(shown.at(-1), '/callback');
    assert.equal(server.mails.length, 1);
  }),
);
