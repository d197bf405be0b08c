/** Sign-up and sign-in by e-mail in Chromium: at an application on another site, on a phone, by keyboard alone, in four languages; axe-core finds nothing (WCAG 2.2 AA). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { outcomeOf, runApplication } from '../sign-in/application.ts';

const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };
const PASSWORD = 'a password that nobody guesses';

test(
  'from the application’s button through sign-up and its e-mail back into it, and again by a code',
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
      // By keyboard alone: the first field has the focus.
      await page.keyboard.type(email);
      for (const typed of ['Ada', '']) {
        await page.keyboard.press('Tab');
        await page.keyboard.type(typed);
      }
      await page.focus('#password');
      await page.keyboard.type('short');
      await page.keyboard.press('Enter');
      await page.focus('#terms');
      await page.keyboard.press('Space');
      await page.focus('#sign-up');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#error-summary');
      await assertAccessibleIn(page, lang, 'sign-up with a problem');
      await page.fill('#password', PASSWORD);
      await page.click('#sign-up');
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
      await again.fill('#username', email);
      await again.click('#send-code');
      await again.waitForSelector('#code-form');
      const { text } = await server.mail(email, 2);
      await again.fill('#code', /\d{8}/.exec(text)?.[0] ?? '');
      await again.click('#use-code');
      assert.equal((await outcomeOf(again)).sub, sub);
      await again.context().close();
      await context.close();
    }
  }),
);
