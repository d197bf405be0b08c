/** A developer's way in Chromium without scripts: from the empty list to a sign-in at his own application; and the same forms by keyboard alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { SUPER } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { layDown, run } from './console-applications.ts';

const fact = (page: Page, label: string): Promise<string | null> => page.textContent(`dt:text-is("${label}") + dd code`);

test(
  'without JavaScript: create an application, copy the snippet, run it, sign in, get tokens',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const origin = `http://localhost:${await freePort()}`;
    const window = await openWindow(browser, { javaScriptEnabled: false });
    const page = await window.open();
    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    await page.click('.beside a[href="/admin/applications"]');
    await page.click('text=Create application');
    await page.check('text=Web application');
    await page.click('#submit');
    await page.fill('#label', 'My shop');
    await page.fill('#redirect_uris', `${origin}/callback`);
    await page.click('#submit');
    const id = (await fact(page, 'Client ID')) ?? '';
    const secret = (await fact(page, 'Client secret')) ?? '';
    await page.click('text=I have copied it');
    await page.waitForURL(`${service.baseUrl}/admin/applications/${id}`);
    await page.selectOption('#with', { label: 'openid-client (Node.js)' });
    await page.click('#query-button');
    const snippet = (await page.textContent('#openid-client-0')) ?? '';
    assert.ok(!snippet.includes(secret) && snippet.includes(id));

    const directory = await layDown(t, new Map([['app.mjs', snippet]]));
    await run(t, directory, process.execPath, ['app.mjs'], secret).said(/^Open /);
    const other = await openWindow(browser, { javaScriptEnabled: false });
    const tab = await other.open();
    await tab.goto(origin);
    assert.match((await tab.textContent('body')) ?? '', /My shop/, 'the sign-in page names the application');
    await signIn(tab, user);
    await tab.waitForURL((url) => url.origin === origin);
    const claims = JSON.parse((await tab.textContent('body')) ?? '');
    assert.equal(claims.sub, user.id);
    assert.equal(claims.aud, id);
    window.assertQuiet();
  }),
);

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let steps = 0; steps < 80; steps += 1) {
    if (await page.locator(`${selector}:focus`).count()) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${selector} is not reached by the Tab key on ${page.url()}`);
}

test(
  'by keyboard alone: an application is created, its settings are changed, and it is deleted (WCAG 2.2, 2.1.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    const press = async (selector: string): Promise<void> => {
      await tabTo(page, selector);
      await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    };
    await page.goto(`${service.baseUrl}/admin/applications`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin/applications`);
    await press('a[href$="/applications/new"]');
    await tabTo(page, '[name=kind]');
    for (let n = 0; n < 3; n += 1) await page.keyboard.press('ArrowDown');
    await press('#submit');
    assert.match(page.url(), /\/new\/service$/);
    await tabTo(page, '#label');
    await page.keyboard.type('Nightly job');
    await press('#submit');
    await press('a.main');
    assert.match(page.url(), /\/applications\/app_\w+$/);
    await press('.tabs a[href$="/settings"]');
    await press('a[href$="/settings/flow"]');
    await tabTo(page, '[value=refresh_token]');
    await page.keyboard.press('Space');
    await press('#submit');
    assert.match((await page.textContent('#notice')) ?? '', /The application is changed/);
    assert.match((await page.textContent('main')) ?? '', /Refresh token, Client credentials/);
    await tabTo(page, '.more summary:not(#who)');
    await page.keyboard.press('Enter');
    await press('a[href$="/delete"]');
    await press('#submit');
    assert.match((await page.textContent('#notice')) ?? '', /The application is deleted/);
    window.assertQuiet();
  }),
);
