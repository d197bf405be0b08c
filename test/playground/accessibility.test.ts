/** The pages of the playground by axe-core: WCAG 2.2 levels A and AA, 1.4.10 Reflow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../support/accessibility.ts';
import { inBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { signIn } from '../support/watched-page.ts';
import { ADA, choose } from './story.ts';

test(
  'every page of the playground is accessible (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser(ADA);
    const context = await browser.newContext();
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
  }),
);
