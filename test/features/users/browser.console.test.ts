/** Users in Chromium by the keyboard alone: one is found, suspended, and let in again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enterInBrowser } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';

test(
  'a user is found, suspended and let in again without a mouse (WCAG 2.2, 2.1.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser({ lastName: 'Zauner' });
    const { window, page } = await enterInBrowser(browser, service);
    /** Goes on by the tabulator until what has the focus is called so. */
    const tabTo = async (name: string): Promise<void> => {
      for (let n = 0; n < 120; n += 1) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent');
        if (String(focused).trim() === name) return;
      }
      assert.fail(`no way to ${name} at ${page.url()}`);
    };
    const go = async (name: string, path: RegExp): Promise<void> => {
      await tabTo(name);
      await page.keyboard.press('Enter');
      await page.waitForURL(path);
    };
    await go('Users', /\/admin\/users$/);
    await tabTo('Search');
    await page.keyboard.type('zaun');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=zaun/);
    await go(user.login, /\/admin\/users\/usr_\w+$/);
    const choose = async (action: string, path: RegExp): Promise<void> => {
      await tabTo('Actions');
      await page.keyboard.press('Enter');
      await go(action, path);
    };
    await choose('Suspend', /\/suspend$/);
    await go('Suspend', /\/users\/usr_\w+$/);
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'SUSPENDED');
    await choose('Unsuspend', /\/unsuspend$/);
    await go('Unsuspend', /\/users\/usr_\w+$/);
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
    window.assertQuiet();
  }),
);
