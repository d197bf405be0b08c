/** Signing in by an external provider in Chromium, with and without JavaScript, and what axe-core says of the pages (WCAG 2.2 levels A and AA). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from '../sign-in/application.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };

for (const javaScriptEnabled of [true, false]) {
  const scripts = `JavaScript ${javaScriptEnabled ? 'on' : 'off'}`;

  test(
    `by the button to the provider and back to the application: ${scripts} (OpenID Connect Core 1.0 section 3.1.2)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t, { env });
      const upstream = await startUpstream(t);
      await createIdp(service, idpBody(upstream));
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(application.start());
      await page.click('#providers a');
      await page.waitForURL(`${application.origin}/callback?*`);
      assert.match((await outcomeOf(page)).sub ?? '', /^usr_/);
      window.assertQuiet();
    }),
  );

  test(
    `an answer by form_post from another site keeps the browser’s own sign-in: ${scripts} (RFC 6265bis, SameSite=Lax)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t, { env });
      const upstream = await startUpstream(t);
      upstream.behaviour.formPost = true;
      const idp = await createIdp(service, idpBody(upstream));
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(application.start({ idp }));
      assert.equal(new URL(page.url()).origin, upstream.origin);
      await page.click('#go');
      await page.waitForURL(`${application.origin}/callback?*`);
      assert.match((await outcomeOf(page)).sub ?? '', /^usr_/);
      window.assertQuiet();
    }),
  );

  test(
    `a provider whose page forbids its form to lead elsewhere: a second instance of this service, ${scripts} (CSP level 3 section 6.4.1)`,
    inBrowser(async (browser, t) => {
      const [service, upstream] = [await startService(t, { env }), await startService(t)];
      const probe = await createIdp(service, {
        name: 'Head office',
        type: 'OIDC',
        protocol: {
          issuer: { url: upstream.issuer('default') },
          credentials: { client: { client_id: 'us', client_secret: 'x'.repeat(40) } },
        },
        policy: { provisioning: { action: 'AUTO' }, subject: { userNameTemplate: { template: 'idpuser.name' } } },
      });
      const redirectUri = (await service.api('GET', `/idps/${probe}`)).body._links.clientRedirectUri.href;
      await upstream.createApp({ redirect_uris: [redirectUri] }, { client_id: 'us', client_secret: 'x'.repeat(40) });
      const user = await upstream.createUser({ displayName: 'Ada of Head Office' });
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(application.start());
      await page.click('#providers a');
      await page.waitForURL(`${upstream.baseUrl}/**`);
      await signIn(page, user);
      await page.waitForURL(`${application.origin}/callback?*`);
      assert.match((await outcomeOf(page)).sub ?? '', /^usr_/);
      window.assertQuiet();
    }),
  );
}

test(
  'axe-core finds nothing on the pages with buttons, on the way back, and where it did not work; four languages, light and dark',
  inBrowser(async (browser, t) => {
    const service = await startService(t, { env });
    const upstream = await startUpstream(t);
    await createIdp(service, idpBody(upstream));
    await createIdp(service, { ...idpBody(upstream), name: 'שלום' });
    const application = await runApplication(t, service);
    for (const [locale, lang] of Object.entries({ en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' })) {
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const look = (name: string) => assertAccessibleIn(page, lang, name);
      await page.goto(`${service.baseUrl}/signin`);
      await look('sign-in by itself');
      await page.goto(application.start());
      await look('sign-in for an application');
      upstream.behaviour.error = 'access_denied';
      await page.click('#providers a');
      await page.waitForSelector('#another-way');
      await look('it did not work');
      delete upstream.behaviour.error;
      await page.click('#another-way');
      await page.waitForSelector('#sign-in-form');
      await context.close();
    }
  }),
);
