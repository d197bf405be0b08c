/** Authorization servers in Chromium, by keyboard alone: a scope, a rule's place, a question to the simulator (WCAG 2.2, 2.1.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { SUPER } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let steps = 0; steps < 80; steps += 1) {
    if (await page.locator(`${selector}:focus`).count()) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${selector} is not reached by the Tab key on ${page.url()}`);
}

test(
  'by keyboard alone: a scope is created, a policy is moved, a request is simulated and its token is copied',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/callback'] });
    const window = await openWindow(browser);
    const page = await window.open();
    const press = async (selector: string): Promise<void> => {
      await tabTo(page, selector);
      await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    };
    /** Into the field that has the focus from the start: Chromium gives it some time after the page has loaded. */
    const begin = async (text: string): Promise<void> => {
      await page.waitForSelector('input:focus');
      await page.keyboard.type(text);
    };
    const write = async (selector: string, text: string): Promise<void> => {
      await tabTo(page, selector);
      await page.keyboard.type(text);
    };
    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    await press('.beside a[href="/admin/api/servers"]');
    await press('a[href="/admin/api/servers/default"]');
    await press('.tabs a[href$="/scopes"]');
    await press('a[href$="/scopes/new"]');
    await begin('orders:read');
    await tabTo(page, '[name=consent]');
    await page.keyboard.press('ArrowDown');
    await press('#submit');
    assert.match((await page.textContent('#notice')) ?? '', /The scope is created/);
    assert.match((await page.textContent('tr:has-text("orders:read")')) ?? '', /Ask when a user is present/);

    await press('.tabs a[href$="/policies"]');
    await press('a[href$="/policies/new"]');
    await begin('Mine');
    await press('#submit');
    await press('.crumbs a[href$="/policies"]');
    await press('tr:has-text("Mine") button[name=place]');
    assert.match((await page.textContent('#notice')) ?? '', /has its new place/);
    assert.match((await page.textContent('tbody tr:first-child')) ?? '', /Mine/);

    await press('.tabs a[href$="/simulator"]');
    const ask = async (): Promise<string> => {
      await press('#query-button');
      return (await page.textContent('.words-part')) ?? '';
    };
    await write('#application', clientId);
    // The list of suggestions that may have opened.
    await page.keyboard.press('Escape');
    await write('#user', user.login);
    await tabTo(page, '[name=scopes][value=openid]');
    await page.keyboard.press('Space');
    assert.match(await ask(), /gets no token .* no active rule of the access policy “Mine” matches/);
    await press('.tabs a[href$="/policies"]');
    await press('tr:has-text("Everything") button[name=place]');
    await page.goBack();
    await page.goBack();
    assert.match(await ask(), /gets an access token and an ID token/);
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await tabTo(page, '[data-copy=access-token]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Copied');
    assert.equal(JSON.parse(String(await page.evaluate('navigator.clipboard.readText()'))).sub, user.id);
    window.assertQuiet();
  }),
);
