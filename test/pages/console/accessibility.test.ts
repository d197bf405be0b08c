/** What the tours do not pass, by axe-core, light and dark, and at 320 CSS pixels: WCAG 2.2 levels A and AA, 1.4.10 Reflow. */
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, assertFits } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { signIn } from '../../support/watched-page.ts';
import { createAdministrator, createOrganization, SUPER } from './administrators.ts';
import { LONG } from './tour.ts';

test(
  'problems, secrets, refusals and users who are no administrators (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const orgId = await createOrganization(service, LONG);
    const nobody = await service.createUser();
    const orgAdmin = await createAdministrator(service, 'ORG_ADMIN', orgId, { displayName: LONG });
    const context = await browser.newContext();
    const page: Page = await context.newPage();
    const look = async (name: string) => {
      for (const width of [1280, 900]) await assertFits(page, name, width);
      await assertAccessible(page, name);
    };
    const at = async (path: string) => {
      await page.goto(`${service.baseUrl}/admin${path}`);
      await look(path);
    };

    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    for (const path of ['/no-such-page', '/callback']) await at(path);
    await page.goto(`${service.baseUrl}/admin/api/tokens/new`);
    await page.fill('#name', '   ');
    await page.click('#submit');
    await look('a form with a problem');
    await page.fill('#name', LONG);
    await page.click('#submit');
    await look('the token');
    await page.goto(`${service.baseUrl}/`);
    await look('the start page of an administrator');

    for (const [user, name] of [
      [nobody, 'no administrator'],
      [orgAdmin, 'a long name'],
    ] as const) {
      await context.clearCookies();
      await page.goto(`${service.baseUrl}/admin`);
      await signIn(page, user);
      await page.waitForSelector(user === nobody ? '#switch' : '#who');
      await look(name);
    }
    await context.close();
  }),
);
