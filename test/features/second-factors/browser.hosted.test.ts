/** The pages of the second factor in Chromium: the QR code under the content security policy, and axe-core (WCAG 2.2 AA), in four languages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { codeOf, wrongCode } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { signIn } from '../../support/watched-page.ts';

const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };

test(
  'an app is set up and used; axe-core finds nothing on the way',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    for (const [locale, lang] of Object.entries(LANGUAGES)) {
      const user = await service.createUser();
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(error.message));
      const accessible = (name: string) => assertAccessibleIn(page, lang, name);
      const secretOn = async (at: Page) => (await at.textContent('#totp-secret'))?.replaceAll(' ', '') ?? '';

      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      await page.waitForSelector('#add-app');
      await accessible('security');
      await page.click('#add-app');
      const secret = await secretOn(page);
      const picture = await page.locator('.qr-code svg').boundingBox();
      assert.ok((picture?.width ?? 0) > 150 && (picture?.height ?? 0) > 150, JSON.stringify(picture));
      await accessible('enrolment');
      assert.equal(problems.length, 0, String(problems));
      await page.fill('#pass-code', wrongCode(secret));
      await page.click('#enroll');
      await page.waitForSelector('#error-summary');
      await accessible('enrolment with an error');
      await page.fill('#pass-code', codeOf(secret));
      await page.click('#enroll');
      await page.waitForSelector('#recovery-codes');
      await accessible('recovery codes');
      const recoveryCode = (await page.textContent('#recovery-codes li')) ?? '';
      await page.click('#continue');
      await page.waitForSelector('#recovery-codes-left');
      await accessible('security with an app');

      await context.clearCookies();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#factor-form');
      await accessible('factor');
      await page.fill('#pass-code', wrongCode(secret));
      await page.click('#verify');
      await page.waitForSelector('#error-summary');
      await accessible('factor with an error');
      if (!(await page.isVisible('#recovery-code'))) await page.click('summary');
      await page.fill('#recovery-code', recoveryCode);
      await page.click('#use-recovery-code');
      await page.waitForSelector('#sign-out');
      await accessible('landing');
      // The answers of status 400 are told on the console.
      assert.deepEqual(
        problems.filter((text) => !text.includes('400')),
        [],
      );
      await context.close();
    }
  }),
);
