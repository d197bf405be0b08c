/** The pages of codes by e-mail as a second factor in Chromium: axe-core (WCAG 2.2 AA) in four languages, by keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { signIn } from '../../support/watched-page.ts';

const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };

test(
  'codes by e-mail are set up and used; axe-core finds nothing on the way',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env, sendsOutbox: true });
    await service.api('PUT', '/settings/sign-in', { messageFactors: ['email'] });
    for (const [locale, lang] of Object.entries(LANGUAGES)) {
      const email = `ada-${lang.toLowerCase()}@example.com`;
      const user = await service.createUser({ email });
      const code = async (number: number) => /\d{8}/.exec((await server.mail(email, number, '')).text)?.[0] ?? '';
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const accessible = (name: string) => assertAccessibleIn(page, lang, name);
      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      await page.waitForSelector('#add-email');
      await accessible('security');
      await page.click('#add-email');
      await page.waitForSelector('#first-code-form');
      await accessible('first code');
      await page.fill('#message-code', await code(1));
      await page.keyboard.press('Enter');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      await page.waitForSelector('#remove-email');
      await accessible('security with codes by e-mail');
      const before = server.mails.filter(({ to }) => to === email).length;

      await context.clearCookies();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#send-email');
      await accessible('factor');
      await page.click('#send-email');
      await page.waitForSelector('#message-form');
      assert.equal(await page.evaluate('document.activeElement?.id'), 'message-code');
      await accessible('factor with a code sent');
      await page.fill('#message-code', '00000000');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#error-summary');
      await accessible('factor with an error');
      assert.ok(before >= 1);
      await context.close();
    }
  }),
);
