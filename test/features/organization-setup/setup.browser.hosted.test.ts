/** A set-up link in Chromium, with a second Gatehouse as the customer's provider: from the link to the sign-in that tries it. axe-core finds nothing (WCAG 2.2 AA). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startDns } from '../../support/dns.ts';
import { startService } from '../../support/service.ts';
import { createOrg } from '../../support/tenants.ts';

test(
  'from the link through domain, record and provider to a sign-in that works',
  inBrowser(async (browser, t) => {
    const dns = await startDns();
    t.after(() => dns.close());
    const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server } });
    const customers = await startService(t);
    const ada = await customers.createUser({ email: 'ada@acme.example', emailVerified: true });
    const orgId = await createOrg(service, 'Acme');
    const { link } = (await service.api('POST', `/account/org/${orgId}/setup`, { mode: 'REQUIRED' })).body;

    const page = await (await browser.newContext({ locale: 'en', viewport: { width: 390, height: 844 } })).newPage();
    await page.goto(link);
    await assertAccessibleIn(page, 'en', 'the link');
    await page.click('#begin');
    await page.fill('#domain', 'acme.example');
    await assertAccessibleIn(page, 'en', 'the domain');
    await page.click('#next');
    const [name, value] = [await page.textContent('#record-name'), await page.textContent('#record-value')];
    await page.click('#check');
    await page.waitForSelector('#error-summary');
    await assertAccessibleIn(page, 'en', 'the record is missing');
    dns.records.set(name ?? '', [value ?? '']);
    await page.click('#check');
    const redirectUri = (await page.textContent('#redirect-uri')) ?? '';
    await assertAccessibleIn(page, 'en', 'the provider');

    const { clientId, clientSecret = '' } = await customers.createApp({ redirect_uris: [redirectUri] });
    await page.fill('#issuer', customers.issuer('default'));
    await page.fill('#client-id', clientId);
    await page.fill('#client-secret', clientSecret);
    await page.click('#next');
    await page.waitForSelector('#test');
    await assertAccessibleIn(page, 'en', 'the test');
    await page.click('#test');
    await page.waitForSelector('#sign-in-form');
    assert.ok(page.url().startsWith(customers.baseUrl), page.url());
    await page.fill('#username', ada.login);
    await page.fill('#password', ada.password);
    await page.press('#password', 'Enter');
    await page.waitForSelector('#done');
    assert.ok(page.url().startsWith(service.baseUrl), page.url());
    await assertAccessibleIn(page, 'en', 'the end');

    const [connected] = (await service.api('GET', `/account/org/${orgId}/idp`)).body;
    assert.deepEqual([connected.mode, connected.domains], ['REQUIRED', ['acme.example']]);
  }),
);
