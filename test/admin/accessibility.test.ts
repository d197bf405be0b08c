/** Every page of the console by axe-core, light and dark, and at 320 CSS pixels: WCAG 2.2 levels A and AA, 1.4.10 Reflow. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/accessibility.ts';
import { browserTest } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { signIn } from '../support/watched-page.ts';
import { createAdministrator, createOrganization, SUPER } from './administrators.ts';

const LONG = `${'Gesellschaft'.repeat(20)}!`;

/** An organization with departments, a member and long names. */
async function furnish(service: Service): Promise<{ orgId: string; depId: string; userId: string; tokenId: string }> {
  const orgId = await createOrganization(service, LONG);
  const add = async (name: string, parentId?: string): Promise<string> =>
    (await service.api('POST', `/account/org/${orgId}/department`, { name, ...(parentId && { parentId }) })).body.depId;
  let depId = '';
  for (let depth = 0; depth < 7; depth += 1) depId = await add(depth === 2 ? LONG : `Department ${depth}`, depId);
  const { id: userId } = await service.createUser();
  await service.api('PUT', `/account/org/${orgId}/member/${userId}`, { depId });
  for (let n = 0; n < 21; n += 1) await createOrganization(service, `Organization ${n}`);
  for (let n = 0; n < 20; n += 1) await service.api('POST', '/api-tokens', { name: n === 0 ? LONG : `Token ${n}` });
  const { body } = await service.api('POST', '/api-tokens', { name: 'Short', expiresAt: '2099-01-01T00:00:00.000Z' });
  return { orgId, depId, userId, tokenId: body.id };
}

for (const colorScheme of ['light', 'dark'] as const) {
  browserTest(`every page of the console is accessible, wide and narrow: ${colorScheme} (WCAG 2.2 AA)`, async (browser, t) => {
    const service = await startService(t);
    const { orgId, depId, userId, tokenId } = await furnish(service);
    const nobody = await service.createUser();
    const orgAdmin = await createAdministrator(service, 'ORG_ADMIN', orgId, { displayName: LONG });
    const context = await browser.newContext({ colorScheme });
    const page: Page = await context.newPage();
    const look = async (name: string) => {
      for (const width of [1280, 900, 320]) {
        await page.setViewportSize({ width, height: 720 });
        for (const summary of await page.locator('details:not([open]) > summary:visible').all()) await summary.click();
        await assertAccessible(page, `${name}, ${width}`);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${name} fits into ${width}`);
      }
    };
    const at = async (path: string) => {
      await page.goto(`${service.baseUrl}/admin${path}`);
      await look(path);
    };

    await page.goto(`${service.baseUrl}/admin`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}/admin`);
    const organization = `/organizations/${orgId}`;
    for (const path of [
      '',
      '/api/tokens',
      '/api/tokens?after=9',
      '/api/tokens/new?notice=not-carried-out',
      `/api/tokens/${tokenId}/revoke`,
      '/organizations',
      '/organizations?page=2',
      '/organizations/new',
      organization,
      `${organization}/rename`,
      `${organization}/delete`,
      `${organization}/departments/new`,
      `${organization}/departments/${depId}`,
      `${organization}/departments/${depId}/edit`,
      `${organization}/members`,
      `${organization}/members/new`,
      `${organization}/members/${userId}`,
      `${organization}/members/${userId}/remove`,
      '/no-such-page',
      '/callback',
    ]) {
      await at(path);
    }
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
  });
}
