/** The pages below `/account/security` in Chromium: axe-core in light, dark and at 320 CSS pixels, the content policy kept, the problem focused (WCAG 2.2 AA). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { codeOf, wrongCode } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

test(
  'an app and a passkey are set up, and the passkey is named, on pages that everybody can use',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable', { enableUI: false });
    const options = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', ...options } });
    await page.goto(`${service.baseUrl}/account/security`);
    await signIn(page, await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' }));
    await page.waitForURL(`${service.baseUrl}/account/security`);

    const look = async (name: string) => {
      await assertAccessible(page, name);
      assert.match((await page.title()) ?? '', /\S+ – Gatehouse$/);
    };
    await page.click('#add-app');
    await page.waitForSelector('#totp-secret');
    const secret = ((await page.textContent('#totp-secret')) ?? '').replaceAll(' ', '');
    await page.fill('#pass-code', wrongCode(secret));
    await page.click('#enroll');
    await page.waitForSelector('#error-summary');
    assert.equal(await page.evaluate('document.activeElement.id'), 'error-summary');
    await look('an app, with a problem');
    await page.fill('#pass-code', codeOf(secret));
    await page.click('#enroll');
    await page.waitForSelector('#recovery-codes');
    await look('the recovery codes');
    await page.click('#continue');
    await page.click('#add-passkey');
    await page.waitForSelector('#passkey-form:not([hidden])');
    await look('a new passkey');
    await page.fill('#passkey-name', 'The phone');
    await page.click('#passkey');
    await page.waitForSelector('#notice');
    await look('the security of the account, with an app and a passkey');
    await page.click('#name-passkey-1');
    await page.waitForSelector('#passkey-name-form');
    await look('the name of a passkey');
    await page.fill('#passkey-name', 'My other phone');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=My other phone');
    window.assertQuiet();
  }),
);
