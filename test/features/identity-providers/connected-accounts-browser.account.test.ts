/** Connecting an account elsewhere in Chromium, with and without JavaScript, and what axe-core says of the pages (WCAG 2.2 levels A and AA). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const LANGUAGES = { en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' };

for (const javaScriptEnabled of [true, false]) {
  test(
    `out to the provider, back by GET or by form_post, and disconnected again: JavaScript ${javaScriptEnabled ? 'on' : 'off'}`,
    inBrowser(async (browser, t) => {
      const service = await startService(t, { env });
      const upstream = await startUpstream(t);
      const idp = await createIdp(service, idpBody(upstream));
      const user = await service.createUser();
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      for (const formPost of [false, true]) {
        upstream.behaviour.formPost = formPost;
        await page.click(`#connect-${idp} button`);
        if (formPost) await page.click('#go');
        await page.waitForSelector(`#disconnect-${idp}`);
        assert.equal(new URL(page.url()).pathname, '/account/security');
        await page.click(`#disconnect-${idp} button`);
        await page.waitForSelector(`#connect-${idp}`);
      }
      window.assertQuiet();
    }),
  );
}

test(
  'axe-core finds nothing on the page, and where it did not work: in four languages, in light and dark',
  inBrowser(async (browser, t) => {
    const service = await startService(t, { env });
    const upstream = await startUpstream(t);
    const idp = await createIdp(service, idpBody(upstream));
    await createIdp(service, { ...idpBody(upstream), name: '\u05e9\u05dc\u05d5\u05dd' });
    const user = await service.createUser();
    const taken = await service.createUser();
    await service.api('POST', `/idps/${idp}/users/${taken.id}`, { externalId: upstream.behaviour.subject });
    for (const [locale, lang] of Object.entries(LANGUAGES)) {
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const look = (name: string) => assertAccessibleIn(page, lang, name);
      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      await look('nothing is connected');
      await page.click(`#connect-${idp} button`);
      await page.waitForSelector('#another-way');
      await look('it did not work');
      await page.click('#another-way');
      await service.api('DELETE', `/idps/${idp}/users/${taken.id}`);
      await page.click(`#connect-${idp} button`);
      await page.waitForSelector(`#disconnect-${idp}`);
      await look('one is connected');
      await page.click(`#disconnect-${idp} button`);
      await service.api('POST', `/idps/${idp}/users/${taken.id}`, { externalId: upstream.behaviour.subject });
      await context.close();
    }
  }),
);
