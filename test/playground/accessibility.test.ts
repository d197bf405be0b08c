/** The pages of the playground by axe-core, light and dark, and at 320 CSS pixels: WCAG 2.2 levels A and AA, 1.4.10 Reflow. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { browserTest } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { signIn } from '../support/watched-page.ts';
import { ADA, choose } from './story.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Looks at the page with everything unfolded. */
async function assertAccessible(page: Page, name: string): Promise<void> {
  while ((await page.locator('details:not([open]) > summary').count()) > 0)
    await page.locator('details:not([open]) > summary').first().click();
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    return (await axe.run({ runOnly: tags })).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
  }, TAGS);
  assert.deepEqual(violations, [], name);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, `${name} fits`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  browserTest(`every page of the playground is accessible: ${colorScheme} (WCAG 2.2 AA)`, async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser(ADA);
    const context = await browser.newContext({ colorScheme, viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    await page.goto(`${service.baseUrl}/playground`);
    await assertAccessible(page, 'start');
    await choose(page, 'default', { responseType: 'code id_token token' });
    await page.click('#preview');
    await assertAccessible(page, 'request');
    await page.click('#go');
    await signIn(page, user);
    await page.waitForSelector('#userinfo');
    await assertAccessible(page, 'result');
    await page.click('button[value="revoke access-token"]');
    await page.waitForSelector('#happened');
    assert.equal(await page.evaluate('document.activeElement?.id'), 'happened-title', 'one reads on where something happened');
    await assertAccessible(page, 'revoked');
    await page.click('#change');
    await choose(page, 'default', { responseMode: 'query', responseType: 'token' });
    await page.click('#start');
    await page.waitForSelector('#error-code');
    await assertAccessible(page, 'error');
    await page.goto(`${service.baseUrl}/playground/callback`);
    await assertAccessible(page, 'no answer');
    await context.close();
  });
}
