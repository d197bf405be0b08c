/** Every page of the service by axe-core, in light and dark and in each language: WCAG 2.2 levels A and AA. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { browserTest } from '../support/browser.ts';
import { onServer, testDatabase } from '../support/database.ts';
import { newSecretKey, type Service, startService } from '../support/service.ts';
import { signIn } from '../support/watched-page.ts';
import { runApplication } from './application.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };
const SCHEMES = ['light', 'dark'] as const;

/** Runs axe-core on the page as it stands. */
async function assertAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    return (await axe.run({ runOnly: tags })).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
  }, TAGS);
  assert.deepEqual(violations, [], name);
}

/** The way through all pages; `look` is called on each. */
async function visitEveryPage(
  browser: Browser,
  service: Service,
  application: { start(parameters?: Record<string, string>): string },
  options: { locale: string; colorScheme: 'light' | 'dark' },
  look: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  const user = await service.createUser({ displayName: 'Ada Lovelace' });
  const context = await browser.newContext(options);
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
  await at(`${service.baseUrl}/playground`, 'playground');
  await context.close();
}

browserTest('axe-core finds nothing on any page, in light and dark and in four languages (WCAG 2.2 AA)', async (browser, t) => {
  const database = await testDatabase();
  const secretKey = newSecretKey();
  await startService(t, { beside: { database, secretKey } });
  // Scopes cannot be edited over HTTP before their issue: these rows bring the consent page with both of its parts.
  await onServer(database.url, async (client) => {
    await client.query(`UPDATE scopes SET consent = 'REQUIRED' WHERE name = 'email'`);
    await client.query(`UPDATE scopes SET consent = 'FLEXIBLE', optional = true WHERE name = 'phone'`);
  });
  const service = await startService(t, { beside: { database, secretKey } });
  const application = await runApplication(t, service, { consent_method: 'REQUIRED' });

  for (const [locale, lang] of Object.entries(LANGUAGES)) {
    for (const colorScheme of SCHEMES) {
      await visitEveryPage(browser, service, application, { locale, colorScheme }, async (page, name) => {
        const title = `${name}, ${lang}, ${colorScheme}`;
        if (name !== 'playground') assert.equal(await page.getAttribute('html', 'lang'), lang, title);
        await assertAccessible(page, title);
      });
    }
  }
});
