/** The console in Chromium: from the sign-in to a token that works and is revoked, with scripts and without (identity-service.md, "Authentication", 6). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { createOrganization, enterInBrowser, SUPER } from './administrators.ts';

for (const javaScriptEnabled of [true, false]) {
  test(
    `sign in, API, Token, Create token, use it, revoke it: JavaScript ${javaScriptEnabled ? 'on' : 'off'} (CSP level 3 section 6.4.1)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      const addresses: string[] = [];
      page.on('request', (request) => addresses.push(request.url()));
      const call = async (token: string) =>
        (await fetch(`${service.baseUrl}/api/v1/account/org`, { headers: { authorization: `SSWS ${token}`, accept: 'application/json' } }))
          .status;

      await page.goto(`${service.baseUrl}/admin`);
      assert.match((await page.textContent('.lead')) ?? '', /Admin console/, 'the sign-in page names the application');
      await signIn(page, SUPER);
      await page.waitForURL(`${service.baseUrl}/admin`);
      await page.click('.beside >> text=Token');
      await page.waitForURL(`${service.baseUrl}/admin/api/tokens`);
      assert.equal(await page.getAttribute('.beside [aria-current=page]', 'href'), '/admin/api/tokens');
      await page.click('text=Create token');
      await page.waitForSelector('#name:focus');
      await page.fill('#name', 'Nightly import');
      await page.selectOption('#expires', '30');
      await page.click('#submit');
      const token = await page.inputValue('#token-value');
      assert.equal(await call(token), 200);
      // A button that can do nothing is not there.
      await page.locator('[data-copy]').waitFor({ state: javaScriptEnabled ? 'visible' : 'hidden' });
      if (javaScriptEnabled) {
        await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.click('[data-copy]');
        await page.waitForSelector('text=Copied');
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), token);
      }

      await page.reload();
      assert.equal(await page.inputValue('#token-value'), token, 'loaded again, the page tells the same token');
      await page.click('#done');
      await page.waitForURL(`${service.baseUrl}/admin/api/tokens`);
      assert.equal(await page.locator('tr:has-text("Nightly import")').count(), 1, 'and made no second one');
      await page.click('tr:has-text("Nightly import") >> text=Revoke');
      await page.click('#submit');
      assert.match((await page.textContent('#notice')) ?? '', /revoked/);
      assert.equal(await page.locator('tr:has-text("Nightly import")').count(), 0);
      assert.equal(await call(token), 401);

      await page.click('#who');
      await page.click('#sign-out');
      await page.waitForURL(`${service.baseUrl}/signin?signed-out`);
      assert.ok(addresses.length > 10);
      for (const address of addresses) assert.ok(!address.includes(token), address);
      window.assertQuiet();
    }),
  );
}

test(
  'the back button after a sign-out shows nothing of the console (RFC 9111 section 5.2.2.5)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/admin/api/tokens`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin/api/tokens`);
    await page.click('#who');
    await page.click('#sign-out');
    await page.waitForURL(`${service.baseUrl}/signin?signed-out`);
    await page.goBack();
    await page.waitForSelector('#sign-in-form');
    window.assertQuiet();
  }),
);

test(
  'by keyboard: the first stop skips the menu, and a mistake is told and led to (WCAG 2.2, 2.4.1 and 3.3.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { window, page } = await enterInBrowser(browser, service);
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').getAttribute('href'), '#content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').getAttribute('href'), '/admin/applications/new', 'the first link of the page itself');

    await page.goto(`${service.baseUrl}/admin/organizations/new`);
    await page.waitForSelector('input:focus');
    await page.keyboard.type('   ');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    assert.equal(await page.locator(':focus').getAttribute('id'), 'error-summary');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator(':focus').getAttribute('id'), 'name');
    window.assertQuiet();
  }),
);

test(
  'a tree of departments folds and unfolds without scripts, and each department has its page',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const orgId = await createOrganization(service, 'Acme');
    const add = async (name: string, parentId?: string): Promise<string> =>
      (await service.api('POST', `/account/org/${orgId}/department`, { name, ...(parentId && { parentId }) })).body.depId;
    const sales = await add('Sales');
    const germany = await add('Germany', await add('Europe', sales));
    const window = await openWindow(browser, { javaScriptEnabled: false });
    const page = await window.open();
    await page.goto(`${service.baseUrl}/admin/organizations/${orgId}`);
    await signIn(page, SUPER);
    await page.waitForSelector('#tree');
    assert.equal(await page.isVisible('text=Germany'), true);
    await page.locator('#tree summary').first().click();
    assert.equal(await page.isVisible('text=Germany'), false);
    await page.goto(`${service.baseUrl}/admin/organizations/${orgId}/departments/${germany}`);
    assert.deepEqual(await page.locator('.crumbs li').allTextContents(), ['Organizations', 'Acme', 'Sales', 'Europe']);
    window.assertQuiet();
  }),
);
