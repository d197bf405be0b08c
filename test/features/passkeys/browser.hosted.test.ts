/** Passkeys in Chromium with a virtual authenticator (WebDriver extension of WebAuthn Level 3, section 11), under the strict content security policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { assertAccessible, assertAccessibleIn } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

interface Virtual {
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
}

/** A device that has verified its user already. */
async function withAuthenticator(page: Page, options: Record<string, unknown> = {}): Promise<Virtual> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      automaticPresenceSimulation: true,
      ...options,
    },
  });
  return { cdp, authenticatorId };
}

const simulatePresence = ({ cdp, authenticatorId }: Virtual, enabled: boolean) =>
  cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
const verifiesUser = ({ cdp, authenticatorId }: Virtual, isUserVerified: boolean) =>
  cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });

/** Makes a passkey on the page of the account. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await page.click('#add-passkey');
  await page.fill('#passkey-name', name);
  await page.click('#passkey');
}

test(
  'a passkey is made, signs in by button and by autofill, is a second factor, and is removed',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const window = await openWindow(browser);
    const page = await window.open();
    const device = await withAuthenticator(page);

    await t.test('made', async () => {
      await simulatePresence(device, false);
      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      await simulatePresence(device, true);
      await addPasskey(page, '<b>Phone</b>');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      assert.equal(await page.textContent('#remove-passkey-1 h2'), '<b>Phone</b>');
      const { credentials } = await device.cdp.send('WebAuthn.getCredentials', { authenticatorId: device.authenticatorId });
      assert.deepEqual([credentials.length, credentials[0]?.isResidentCredential, credentials[0]?.rpId], [1, true, 'localhost']);
    });

    await t.test('one device makes no second one, and the page says so', async () => {
      await page.click('#add-passkey');
      await page.click('#passkey');
      await page.waitForSelector('#passkey-problem:not([hidden])');
      assert.match((await page.textContent('#passkey-problem')) ?? '', /already has a passkey/);
    });

    await t.test('by autofill, without a touch of the page (conditional mediation)', async () => {
      await window.context.clearCookies();
      await page.goto(`${service.baseUrl}/signin`);
      await page.waitForURL(`${service.baseUrl}/account`);
    });

    await t.test('by the button', async () => {
      await window.context.clearCookies();
      // Autofill offers nothing without a user who touches his device.
      await simulatePresence(device, false);
      await page.goto(`${service.baseUrl}/signin`);
      await page.waitForSelector('#passkey-form:not([hidden])');
      await simulatePresence(device, true);
      await page.click('#passkey');
      await page.waitForURL(`${service.baseUrl}/account`);
    });

    await t.test('a user who is not verified is not signed in; the page says how to go on', async () => {
      await window.context.clearCookies();
      await verifiesUser(device, false);
      await page.goto(`${service.baseUrl}/signin`);
      await page.click('#passkey');
      await page.waitForSelector('#passkey-problem:not([hidden])');
      assert.match((await page.textContent('#passkey-problem')) ?? '', /cancelled/);
      assert.equal(await page.isEnabled('#passkey'), true);
      await verifiesUser(device, true);
      await page.click('#passkey');
      await page.waitForURL(`${service.baseUrl}/account`);
    });

    await t.test('as the second factor, after the password', async () => {
      await window.context.clearCookies();
      await simulatePresence(device, false);
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#account');
      assert.equal(await page.locator('#passkey-needs').count(), 0);
      await simulatePresence(device, true);
      await page.click('#passkey');
      await page.waitForURL(`${service.baseUrl}/account`);
    });

    await t.test('removed', async () => {
      await page.goto(`${service.baseUrl}/account/security`);
      await page.click('#remove-passkey-1 button');
      await page.waitForSelector('#remove-passkey-1', { state: 'detached' });
    });
    window.assertQuiet();
  }),
);

test(
  'a passkey is made at a sign-in that demands a second factor',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { body: settings } = await service.api('GET', '/settings/sign-in');
    await service.api('PUT', '/settings/sign-in', { ...settings, mfa: 'EVERYONE' });
    const user = await service.createUser();
    const window = await openWindow(browser);
    const page = await window.open();
    await withAuthenticator(page);
    await page.goto(`${service.baseUrl}/signin`);
    await signIn(page, user);
    await page.waitForSelector('#use-app');
    await page.click('#passkey');
    await page.waitForSelector('#recovery-codes');
    await page.click('#continue');
    await page.waitForURL(`${service.baseUrl}/account`);
    assert.equal((await service.api('GET', `/users/${user.id}/factors`)).body[0].factorType, 'webauthn');
    window.assertQuiet();
  }),
);

test(
  'where the browser knows no passkeys, or runs no script, the page is whole without them',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const owner = await openWindow(browser);
    const made = await owner.open();
    await withAuthenticator(made);
    await made.goto(`${service.baseUrl}/account/security`);
    await signIn(made, user);
    await addPasskey(made, 'Phone');
    const recoveryCode = (await made.textContent('#recovery-codes li')) ?? '';

    for (const javaScriptEnabled of [true, false]) {
      const window = await openWindow(browser, { javaScriptEnabled });
      await window.context.addInitScript({ content: 'delete globalThis.PublicKeyCredential;' });
      const page = await window.open();
      await page.goto(`${service.baseUrl}/signin`);
      assert.equal(await page.isVisible('#passkey'), false);
      await signIn(page, user);
      await page.waitForSelector('#passkey-needs');
      assert.equal(await page.isVisible('#passkey'), false);
      if (javaScriptEnabled) {
        await assertAccessible(page, 'the second factor where the browser knows no passkeys');
        continue;
      }
      await page.fill('#recovery-code', recoveryCode.trim());
      await page.click('#use-recovery-code');
      await page.waitForURL(`${service.baseUrl}/account`);
      await page.goto(`${service.baseUrl}/account/security`);
      await page.click('#add-passkey');
      assert.match((await page.textContent('#passkey-needs')) ?? '', /JavaScript/);
      assert.equal(await page.isVisible('#passkey'), false);
      window.assertQuiet();
    }
  }),
);

test(
  'axe-core finds nothing on the pages with passkeys, in light and dark and in four languages',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    for (const [locale, lang] of Object.entries({ en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' })) {
      const user = await service.createUser();
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const device = await withAuthenticator(page);
      const accessible = (name: string) => assertAccessibleIn(page, lang, name);
      await page.goto(`${service.baseUrl}/account/security`);
      await page.waitForSelector('#passkey-form:not([hidden])');
      await accessible('sign-in');
      await page.click('#passkey');
      await page.waitForSelector('#passkey-problem:not([hidden])');
      await accessible('sign-in with a problem');
      await signIn(page, user);
      await accessible('security');
      await page.click('#add-passkey');
      await page.waitForSelector('#passkey-form:not([hidden])');
      await accessible('a new passkey');
      await page.click('#passkey');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      await page.waitForSelector('#remove-passkey-1');
      await accessible('security with a passkey');
      await simulatePresence(device, false);
      await context.clearCookies();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#recovery-form');
      await accessible('second factor');
      await context.close();
    }
  }),
);

test(
  'a passkey is offered after the password in four languages, made by the password manager, by the button, or not at all',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/sign-in', { passkeyOffer: true, passwordOptional: true });
    for (const [locale, lang] of Object.entries({ en: 'en', de: 'de', es: 'es', 'zh-CN': 'zh-Hans' })) {
      const user = await service.createUser();
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      const device = await withAuthenticator(page);
      await simulatePresence(device, false);
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#passkey-form:not([hidden])');
      await assertAccessibleIn(page, lang, 'the offer');
      await simulatePresence(device, true);
      await page.click('#passkey');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      await page.waitForURL(`${service.baseUrl}/account`);
      await page.goto(`${service.baseUrl}/account/password`);
      await assertAccessibleIn(page, lang, 'the password that may be removed');
      await page.click('#remove-password');
      await page.waitForSelector('#remove-password', { state: 'detached' });
      assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
      await context.close();
    }

    await t.test('made without a question (conditional create)', async () => {
      const user = await service.createUser();
      const window = await openWindow(browser);
      // No password manager runs here: the real request is made in its place, so that what the page asks for is seen.
      await window.context.addInitScript({
        content: `
          PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
          const create = navigator.credentials.create.bind(navigator.credentials);
          navigator.credentials.create = async ({ mediation, publicKey }) => {
            sessionStorage.setItem('asked', mediation + ' ' + publicKey.authenticatorSelection.userVerification);
            return create({ publicKey });
          };`,
      });
      const page = await window.open();
      await withAuthenticator(page);
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#recovery-codes');
      assert.equal(await page.evaluate("sessionStorage.getItem('asked')"), 'conditional preferred');
      window.assertQuiet();
    });

    await t.test('not asked where the browser knows no passkeys; without script the page leads on', async () => {
      const user = await service.createUser();
      for (const javaScriptEnabled of [true, false]) {
        const window = await openWindow(browser, { javaScriptEnabled });
        await window.context.addInitScript({ content: 'delete globalThis.PublicKeyCredential;' });
        const page = await window.open();
        await page.goto(`${service.baseUrl}/signin`);
        await signIn(page, user);
        if (!javaScriptEnabled) await page.click('#decline-passkey');
        await page.waitForURL(`${service.baseUrl}/account`);
        window.assertQuiet();
      }
    });
  }),
);

test(
  'a passkey that was removed is gone from the password manager, too (WebAuthn Level 3, signal methods)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const window = await openWindow(browser);
    const page = await window.open();
    const device = await withAuthenticator(page);
    const held = async () =>
      (await device.cdp.send('WebAuthn.getCredentials', { authenticatorId: device.authenticatorId })).credentials.length;
    const make = async () => {
      await addPasskey(page, 'Phone');
      await page.waitForSelector('#recovery-codes');
      await page.click('#continue');
      await page.waitForSelector('#remove-passkey-1');
      assert.equal(await held(), 1);
    };
    await simulatePresence(device, false);
    await page.goto(`${service.baseUrl}/account/security`);
    await signIn(page, user);
    await simulatePresence(device, true);
    await make();

    await t.test('by its user: the page of the account names those that count', async () => {
      await page.click('#remove-passkey-1 button');
      await page.waitForSelector('#remove-passkey-1', { state: 'detached' });
      await eventually(async () => (await held()) === 0, 'the device has forgotten it');
    });

    await t.test('by an administrator: it is refused in plain words, and the page says that it is unknown', async () => {
      await make();
      const [factor] = (await service.api('GET', `/users/${user.id}/factors`)).body;
      await service.api('DELETE', `/users/${user.id}/factors/${factor.id}`);
      await window.context.clearCookies();
      await simulatePresence(device, false);
      await page.goto(`${service.baseUrl}/signin`);
      await simulatePresence(device, true);
      await page.click('#passkey');
      await page.waitForSelector('#error-summary');
      assert.match((await page.textContent('#error-summary')) ?? '', /does not work here/);
      await eventually(async () => (await held()) === 0, 'the device has forgotten it');
    });
    window.assertQuiet();
  }),
);
