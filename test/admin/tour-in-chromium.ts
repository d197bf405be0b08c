/** A tour in Chromium: axe-core in light and dark and at 320 CSS pixels (WCAG 2.2 AA; 1.4.10 Reflow), nothing reported by the page, the policy of its content kept. */
import assert from 'node:assert/strict';
import { assertAccessible, assertReadable } from '../support/accessibility.ts';
import { browserTest } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { openWindow, signIn } from '../support/watched-page.ts';
import { SUPER } from './administrators.ts';
import type { Tour } from './tour.ts';

export function tourInChromium(name: string, tour: Tour): void {
  browserTest(`${name}: every page is accessible, wide and narrow, light and dark, and keeps its policy`, async (browser, t) => {
    const service = await startService(t);
    const stops = await tour(service);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    for (const stop of stops) {
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.emulateMedia({ colorScheme: 'light' });
      const answer = await page.goto(`${service.baseUrl}/admin${stop}`);
      assert.equal(answer?.status(), 200, stop);
      await assertAccessible(page, `${stop}, light`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await assertReadable(page, `${stop}, dark`);
      await page.setViewportSize({ width: 320, height: 720 });
      // The last first: the list is read anew at each click.
      for (const summary of (await page.locator('details:not([open]) > summary:visible').all()).reverse()) await summary.click();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, `${stop} fits into 320 CSS pixels`);
      await assertAccessible(page, `${stop}, narrow`);
    }
    window.assertQuiet();
  });
}
