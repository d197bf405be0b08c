/** A tour in Chromium: every page is accessible (test/support/accessibility.ts), reports nothing wrong and keeps its content security policy. */
import assert from 'node:assert/strict';
import { assertAccessible, NARROW } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { SUPER } from './administrators.ts';
import type { Tour } from './tour.ts';

/** @returns the body of the test */
export const tourInChromium = (tour: Tour) =>
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const stops = await tour(service);
    const window = await openWindow(browser);
    const page = await window.open();
    // Each change of the size would lay every page out again.
    await page.setViewportSize({ width: NARROW, height: 720 });
    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    for (const stop of stops) {
      const answer = await page.goto(`${service.baseUrl}/admin${stop}`);
      assert.equal(answer?.status(), 200, stop);
      await assertAccessible(page, stop);
    }
    window.assertQuiet();
  });
