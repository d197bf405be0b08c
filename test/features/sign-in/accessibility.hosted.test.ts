/** Every page of the service by axe-core, and in each language: WCAG 2.2 levels A and AA. */
import { test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import type { Service } from '../../support/service.ts';
import { signIn } from '../../support/watched-page.ts';
import { runApplication } from './application.ts';

const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };

/** The way through all pages; `look` is called on each. */
async function visitEveryPage(
  browser: Browser,
  service: Service,
  application: { start(parameters?: Record<string, string>): string },
  locale: string,
  look: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  const user = await service.createUser({ displayName: 'Ada Lovelace' });
  const context = await browser.newContext({ locale });
  const page = await context.newPage();
  // The page of form_post leaves at once; without its script it stays to be looked at.
  await context.route('**/submit-form.js*', (route) => route.abort());
  const at = async (address: string, name: string) => {
    await page.goto(address);
    await look(page, name);
  };

  await at(`${service.baseUrl}/signin?signed-out`, 'signed out');
  await at(application.start({ scope: 'openid email phone' }), 'sign-in');
  await signIn(page, { login: user.login, password: 'not-the-password' });
  await look(page, 'sign-in with an error');
  await signIn(page, user);
  await page.waitForSelector('#consent');
  await look(page, 'consent');
  await at(`${service.issuer('default')}/logout`, 'logout confirmation');
  await at(`${service.baseUrl}/`, 'landing');
  await at(`${service.baseUrl}/no-such-page`, 'unknown page');
  await at(`${service.issuer('default')}/authorize?client_id=nobody`, 'error page');
  await at(application.start({ response_mode: 'form_post' }), 'form_post');
  await context.close();
}

test(
  'axe-core finds nothing on any page, in light and dark and in four languages (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const service = await serviceWithConsents(t);
    const application = await runApplication(t, service, { consent_method: 'REQUIRED' });

    for (const [locale, lang] of Object.entries(LANGUAGES)) {
      await visitEveryPage(browser, service, application, locale, (page, name) => assertAccessibleIn(page, lang, name));
    }
  }),
);
