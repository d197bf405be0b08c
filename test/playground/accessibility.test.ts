/** The pages of the playground by axe-core, light and dark, and at 320 CSS pixels: WCAG 2.2 levels A and AA, 1.4.10 Reflow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/accessibility.ts';
import { inBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { signIn } from '../support/watched-page.ts';
import { ADA, choose } from './story.ts';

/** Looks at the page with everything unfolded. */
async function assertUnfoldedAccessible(page: Page, name: string): Promise<void> {
  const folded = page.locator('details:not([open]) > summary');
  while ((await folded.count()) > 0) await folded.first().click();
  await assertAccessible(page, name);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, `${name} fits`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `every page of the playground is accessible: ${colorScheme} (WCAG 2.2 AA)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser(ADA);
      const context = await browser.newContext({ colorScheme, viewport: { width: 320, height: 640 } });
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/playground`);
      await assertUnfoldedAccessible(page, 'start');
      await choose(page, 'default', { responseType: 'code id_token token' });
      await page.click('#preview');
      await assertUnfoldedAccessible(page, 'request');
      await page.click('#go');
      await signIn(page, user);
      await page.waitForSelector('#userinfo');
      await assertUnfoldedAccessible(page, 'result');
      await page.click('button[value="revoke access-token"]');
      await page.waitForSelector('#happened');
      assert.equal(await page.evaluate('document.activeElement?.id'), 'happened-title', 'one reads on where something happened');
      await assertUnfoldedAccessible(page, 'revoked');
      await page.click('#change');
      await choose(page, 'default', { responseMode: 'query', responseType: 'token' });
      await page.click('#start');
      await page.waitForSelector('#error-code');
      await assertUnfoldedAccessible(page, 'error');
      await page.goto(`${service.baseUrl}/playground/callback`);
      await assertUnfoldedAccessible(page, 'no answer');
      await context.close();
    }),
  );
}
