/**
 * A small shop on openid-client, in Chromium from end to end: its users sign up and prove their address by the e-mail, come back by passkey, trust a browser, get
 * a role by their group, see their own attribute in the ID token, and are refused by a rule of the sign-in policy.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../support/browser.ts';
import { startMailServer } from '../support/mail.ts';
import { startService } from '../support/service.ts';
import { claimsOn, openShop } from '../support/shop.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'a password that nobody guesses';

async function withDevice(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      automaticPresenceSimulation: false,
    },
  });
  return (enabled: boolean) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
}

test(
  'the users of a shop, from its button to a rule that refuses them',
  inBrowser(async (browser, t) => {
    const server = await startMailServer(t);
    const service = await startService(t, { env: server.env, sendsOutbox: true });
    const made = async (method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await service.api(method, path, body);
      assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(answer)}`);
      return answer;
    };
    const { clientId, buy } = await openShop(t, service);
    const permissions = [{ principal: 'SELF', action: 'READ_WRITE' }];
    const properties = { shoeSize: { title: 'Shoe size', type: 'integer', permissions } };
    await made('POST', '/meta/schemas/user/default', { definitions: { custom: { properties } } });
    await made('POST', '/authorizationServers/default/scopes', { name: 'roles' });
    const claim = { name: 'shoe_size', claimType: 'IDENTITY', valueType: 'USER_ATTRIBUTE', value: 'shoeSize' };
    await made('POST', '/authorizationServers/default/claims', claim);
    const { id: customers } = await made('POST', '/groups', { profile: { name: 'Customers' } });
    await made('POST', `/apps/${clientId}/roles`, { name: 'buyer' });
    await made('PUT', `/apps/${clientId}/groups/${customers}`, { roles: ['buyer'] });
    await made('PUT', '/settings/registration', {
      ...{ enabled: true, groups: [customers] },
      fields: [{ name: 'firstName', required: true }, { name: 'shoeSize' }],
    });
    const signIn = { methods: ['password', 'passkey'], rememberBrowserDays: 30 };
    await made('PUT', '/settings/sign-in', signIn);

    const context = await browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const holds = await withDevice(page);
    let sub: unknown;

    await t.test('sign up, prove the address, and be back with a role by group and an attribute of their own', async () => {
      await page.goto(buy({ prompt: 'create' }));
      await page.fill('#email', EMAIL);
      await page.fill('#field-firstName', 'Ada');
      await page.fill('#field-shoeSize', '38');
      await page.fill('#password', PASSWORD);
      await page.click('#sign-up');
      await page.waitForSelector('#code-form');
      await page.goto((await server.mail(EMAIL)).link);
      const claims = await claimsOn(page);
      assert.deepEqual([claims.amr, claims.roles, claims.shoe_size], [['otp'], ['buyer'], 38]);
      sub = claims.sub;
      assert.equal(sub, (await made('GET', `/users/${EMAIL}`)).id);
    });

    await t.test('make a passkey and come back by it alone', async () => {
      await page.goto(`${service.baseUrl}/account/security`);
      await holds(true);
      await page.click('#add-passkey');
      await page.click('#passkey');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      await page.waitForSelector('#remove-passkey-1');
      await holds(false);
      await context.clearCookies();
      await page.goto(buy());
      await page.waitForSelector('#passkey-form:not([hidden])');
      await holds(true);
      await page.click('#passkey');
      const claims = await claimsOn(page);
      assert.deepEqual([claims.sub, claims.roles], [sub, ['buyer']]);
      assert.ok((claims.amr as string[]).includes('mfa'));
    });

    const byPassword = async (at: Page) => {
      await at.goto(buy({ prompt: 'login' }));
      await at.fill('#username', EMAIL);
      await at.fill('#password', PASSWORD);
      await at.click('#sign-in');
    };

    await t.test('trust the browser: the password asks for the passkey once, and then no more', async () => {
      await holds(false);
      await byPassword(page);
      await page.check('#passkey-trust-browser');
      await holds(true);
      await page.click('#passkey');
      assert.ok(((await claimsOn(page)).amr as string[]).includes('mfa'));
      await holds(false);
      await byPassword(page);
      assert.deepEqual((await claimsOn(page)).amr, ['pwd']);
    });

    await t.test('a rule refuses them in a new browser, and the log names it', async () => {
      const rules = [{ name: 'No new browsers', conditions: { newBrowser: true }, action: 'DENY' }];
      await made('PUT', '/settings/sign-in', { ...signIn, rules });
      const stranger = await (await browser.newContext({ locale: 'en' })).newPage();
      await byPassword(stranger);
      await stranger.waitForSelector('#error-code');
      assert.equal(await stranger.textContent('#error-code'), 'sign_in_denied');
      const filter = encodeURIComponent(`eventType eq "policy.evaluate_sign_on" and target.id eq "${sub}"`);
      const [event] = await made('GET', `/logs?filter=${filter}`);
      assert.deepEqual([event.outcome.result, event.outcome.reason], ['FAILURE', 'SIGN_IN_DENIED']);
      assert.match(JSON.stringify(event), /No new browsers/);
      await byPassword(page);
      assert.equal((await claimsOn(page)).sub, sub, 'the browser that is known stays welcome');
    });
  }),
);
