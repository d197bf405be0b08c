/**
 * A product that is sold to companies, on openid-client, in Chromium where pages are the subject: a customer with a brand and a role of its own, and a plain one; a
 * user who is invited to both, chooses between them, and is removed from one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../support/browser.ts';
import { startMailServer } from '../support/mail.ts';
import { startService } from '../support/service.ts';
import { claimsOn, openShop } from '../support/shop.ts';

const EMAIL = 'ada@example.com';
const FIRST = 'a password that nobody guesses';
const SECOND = 'another one that nobody guesses';

test(
  'two customers of one application, and a user of both',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env, sendsOutbox: true });
    const made = async (method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await service.api(method, path, body);
      assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(answer)}`);
      return answer;
    };
    const shop = await openShop(t, service, { settings: { organization: 'REQUIRED' }, scope: 'openid organization' });
    const customer = async (name: string): Promise<string> => (await made('POST', `/account/org?orgName=${name}`)).orgId;
    const [acme, bolt] = [await customer('Acme'), await customer('Bolt')];
    await made('PUT', `/account/org/${acme}/branding`, { name: 'Acme at work', primaryColorHex: '#7a1f5c' });
    await made('POST', `/account/org/${acme}/role`, { name: 'billing', permissions: ['MANAGE_BRANDING'] });

    const context = await browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const name = async () => (await page.textContent('header.brand span')) ?? '';
    const accent = () => page.evaluate<string>("getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()");
    const signIn = async (at: Page, password: string) => {
      await at.fill('#username', EMAIL);
      await at.fill('#password', password);
      await at.click('#sign-in');
    };
    const tokens = new Map<string, string>();

    await t.test('an invitation in the customer’s brand leads to a new account, with a role that the tokens have', async () => {
      await made('POST', `/account/org/${acme}/invitation`, { email: EMAIL, role: 'billing' });
      const mail = await server.mail(EMAIL);
      assert.match(mail.html, /Acme at work/);
      await page.goto(mail.link);
      assert.deepEqual([await name(), await accent()], ['Acme at work', '#7a1f5c']);
      await page.fill('#password', FIRST);
      await page.click('#create');
      await page.waitForURL(/\/(account|admin)$/);
      await page.goto(shop.buy());
      const claims = await claimsOn(page);
      assert.deepEqual([claims.org_id, claims.org_name, claims.org_roles], [acme, 'Acme', ['member', 'billing']]);
    });

    await t.test('the role opens the brand in the console and nothing else', async () => {
      await page.goto(`${service.baseUrl}/admin/organizations/${acme}/branding/edit`);
      await page.waitForSelector('#name');
      await page.fill('#name', 'Acme of Ada');
      await page.click('#submit');
      await page.waitForURL(`**/organizations/${acme}/branding`);
      assert.equal((await page.goto(`${service.baseUrl}/admin/organizations/${acme}/members`))?.status(), 403);
      assert.equal((await page.goto(`${service.baseUrl}/admin/organizations/${bolt}`))?.status(), 404);
    });

    await t.test('invited to another customer, they join after a sign-in, and no administrator keeps their password', async () => {
      await made('POST', `/account/org/${bolt}/invitation`, { email: EMAIL });
      await page.goto((await server.mail(EMAIL, 1, 'Bolt')).link);
      assert.equal(await name(), 'Gatehouse', 'a customer that has set nothing looks like the service');
      // They have just signed in.
      await page.click('#join');
      await page.waitForSelector('#choose-password-form');
      await page.fill('#password', SECOND);
      await page.click('#save-password');
      await page.waitForURL(/\/(account|admin)$/);
    });

    await t.test('they choose for whom they work, and the request can say it', async () => {
      await context.clearCookies();
      await page.goto(shop.buy());
      await signIn(page, SECOND);
      await page.waitForSelector('#choose-organization');
      await page.click(`button[value="${bolt}"]`);
      assert.equal((await claimsOn(page)).org_id, bolt);
      tokens.set(bolt, shop.accessToken());
      await page.goto(shop.buy({ organization: 'Acme', prompt: 'login' }));
      assert.deepEqual([await name(), await accent()], ['Acme of Ada', '#7a1f5c']);
      await signIn(page, SECOND);
      assert.deepEqual((await claimsOn(page)).org_roles, ['member', 'billing']);
      tokens.set(acme, shop.accessToken());
    });

    await t.test('removed from one customer, the tokens for it end at once, and those for the other stay', async () => {
      const active = async (orgId: string) => shop.isActive(tokens.get(orgId) ?? '');
      assert.deepEqual([await active(acme), await active(bolt)], [true, true]);
      const { id } = await made('GET', `/users/${EMAIL}`);
      await made('DELETE', `/account/org/${acme}/member/${id}`);
      assert.deepEqual([await active(acme), await active(bolt)], [false, true]);
      await page.goto(shop.buy({ organization: acme }));
      assert.ok(await page.$('#choose-organization #switch-account'), 'they are no member and can use another account');
      await page.goto(shop.buy());
      assert.equal((await claimsOn(page)).org_id, bolt, 'the only one that is left');
    });
  }),
);
