/** The theme of the console: as the browser prefers, or as it was chosen in the user menu. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { SUPER } from './administrators.ts';

test(
  'a theme that was chosen wins over what the browser prefers, until it is taken back',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${service.baseUrl}/admin/groups?q=a`);
    await signIn(page, SUPER);
    await page.waitForURL(/\/admin\/groups/);
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const choose = async (label: string) => {
      await page.click('#user-menu summary');
      await page.click(`#user-menu a:text-is("${label}")`);
      await page.waitForURL(/\/admin\/groups\?q=a$/);
      return ground();
    };
    const light = await ground();
    const dark = await choose('Dark');
    assert.notEqual(dark, light);
    assert.equal(await choose('Light'), light);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(), light);
    assert.equal(await choose('As the system'), dark);
    window.assertQuiet();
  }),
);
