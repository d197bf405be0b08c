/** From a failed sign-in to what decided, in Chromium and by the keyboard alone (WCAG 2.2, 2.1.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { SUPER } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

/** What has the focus: its id, else its words. */
const FOCUSED = 'document.activeElement.id || document.activeElement.innerText || ""';
/** A field for a moment alone has seven. */
const MOST_STOPS = 100;

/** Goes from stop to stop until that one. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    if (String(await page.evaluate(FOCUSED)).startsWith(name)) return;
  }
  assert.fail(`no way to ${name} by the keyboard`);
}

test(
  'by keyboard: the log is searched for failed sign-ins, and one is explained',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    await service.api('POST', '/authn', { username: user.login, password: 'wrong' });
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/admin/reports/log`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin/reports/log`);
    await tabTo(page, 'q');
    await page.keyboard.type(`${user.login} failure`);
    await Promise.all([page.waitForURL(/[?&]q=/), page.keyboard.press('Enter')]);
    assert.equal(await page.locator('tbody tr').count(), 1);
    await tabTo(page, 'Explain');
    await Promise.all([page.waitForURL(/\/explain$/), page.keyboard.press('Enter')]);
    assert.match(await page.innerText('main'), /Wrong passwords in a row: 1; 10 lock the account/);
    await tabTo(page, user.login);
    await Promise.all([page.waitForURL(`${service.baseUrl}/admin/users/${user.id}`), page.keyboard.press('Enter')]);
    window.assertQuiet();
  }),
);
