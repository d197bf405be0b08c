/**
 * The set-up link, with Keycloak as the customer's provider, in Chromium: an operator makes the link, the customer's administrator goes through domain, provider and
 * test sign-in, and a user of the domain then signs in to an application.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../support/browser.ts';
import { startDns } from '../support/dns.ts';
import { ADMIN, startService } from '../support/service.ts';
import { claimsOn, openShop } from '../support/shop.ts';
import { createOrg } from '../support/tenants.ts';
import { KEYCLOAK_VERSION, type Keycloak, keycloakDistribution, startKeycloak } from './foreign/keycloak.ts';
import { folderWith } from './foreign/setting.ts';

const CLIENT = { clientId: 'gatehouse', secret: 's'.repeat(32) };
const passwordOf = (name: string): string => `the password of ${name}`;

/** A user whose address Keycloak has verified. */
const userOf = (username: string, email: string) => ({
  ...{ username, email, emailVerified: true, enabled: true, firstName: username, lastName: 'Keycloak' },
  credentials: [{ type: 'password', value: passwordOf(username) }],
});

/** The realm of the customer, and what its administrator does there once the page shows the redirect URI. */
async function openRealm(keycloak: Keycloak) {
  await keycloak.call('POST', '', { realm: 'acme', enabled: true });
  for (const [name, email] of [
    ['ada', 'ada@acme.example'],
    ['bob', 'bob@acme.example'],
    ['eve', 'eve@elsewhere.example'],
  ] as const)
    await keycloak.call('POST', '/acme/users', userOf(name, email));
  return (redirectUri: string) => keycloak.call('POST', '/acme/clients', { ...CLIENT, redirectUris: [redirectUri] });
}

async function signInAtKeycloak(page: Page, issuer: string, name: string): Promise<void> {
  await page.waitForSelector('#kc-login');
  assert.ok(page.url().startsWith(issuer), page.url());
  await page.fill('#username', name);
  await page.fill('#password', passwordOf(name));
  await page.click('#kc-login');
}

test(
  `Keycloak ${KEYCLOAK_VERSION} by a set-up link: domain, provider, test sign-in, and then a user of the domain`,
  inBrowser(async (browser, t) => {
    const folder = await keycloakDistribution(folderWith(t, {}));
    if (folder === undefined) return t.skip('mvn or the distribution of Keycloak is not to be had');
    const { api: keycloak } = await startKeycloak(t, folder);
    const issuer = keycloak.issuer('acme');
    const register = await openRealm(keycloak);
    const dns = await startDns();
    t.after(() => dns.close());
    const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server } });
    const orgId = await createOrg(service, 'Acme');
    const open = async () => {
      const page = await (await browser.newContext({ locale: 'en' })).newPage();
      page.setDefaultTimeout(60_000);
      return page;
    };

    const operator = await open();
    await operator.goto(`${service.baseUrl}/admin/organizations/${orgId}/setup-link`);
    await operator.fill('#username', ADMIN.username);
    await operator.fill('#password', ADMIN.password);
    await operator.click('#sign-in');
    await operator.check('input[name="mode"][value="REQUIRED"]');
    await operator.click('#submit');
    await operator.waitForSelector('text=Done, I have copied it');
    const [link] = /https?:[^\s"<]+\/setup\/[\w-]+/.exec(await operator.content()) ?? assert.fail(await operator.content());

    const page = await open();
    await page.goto(link);
    await page.click('#begin');
    await page.fill('#domain', 'acme.example');
    await page.click('#next');
    const record = [await page.textContent('#record-name'), await page.textContent('#record-value')] as const;
    dns.records.set(record[0] ?? '', [record[1] ?? '']);
    await page.click('#check');
    await register((await page.textContent('#redirect-uri')) ?? '');
    await page.fill('#issuer', issuer);
    await page.fill('#client-id', CLIENT.clientId);
    await page.fill('#client-secret', 'another secret');
    await page.click('#next');

    // With a wrong secret Keycloak refuses the code. The page says so, and the settings can be changed.
    await page.click('#test');
    await signInAtKeycloak(page, issuer, 'ada');
    await page.waitForSelector('#error-summary');
    assert.ok(page.url().startsWith(service.baseUrl), page.url());
    await page.click('#change');
    await page.fill('#client-secret', CLIENT.secret);
    await page.click('#next');
    // Keycloak still knows the user.
    await page.click('#test');
    await page.waitForSelector('#done');
    const [connected] = (await service.api('GET', `/account/org/${orgId}/idp`)).body;
    assert.deepEqual([connected.mode, connected.domains, connected.autoJoin], ['REQUIRED', ['acme.example'], true]);
    assert.equal((await service.api('GET', '/users/ada@acme.example')).status, 404, 'the test made no account');

    const shop = await openShop(t, service, { settings: { organization: 'REQUIRED' }, scope: 'openid email organization' });
    const user = await open();
    await user.goto(shop.buy({ login_hint: 'bob@acme.example' }));
    await signInAtKeycloak(user, issuer, 'bob');
    const claims = await claimsOn(user);
    assert.deepEqual([claims.email, claims.email_verified, claims.org_id], ['bob@acme.example', true, orgId]);
    const members = (await service.api('GET', `/account/org/${orgId}/member`)).body;
    assert.deepEqual(
      members.map(({ login }: { login: string }) => login),
      ['bob@acme.example'],
    );

    // The provider vouches for its domain alone.
    const stranger = await open();
    await stranger.goto(shop.buy({ login_hint: 'eve@acme.example' }));
    await signInAtKeycloak(stranger, issuer, 'eve');
    await stranger.waitForURL(`${service.baseUrl}/**`);
    assert.equal((await service.api('GET', '/users/eve@elsewhere.example')).status, 404);
  }),
);
