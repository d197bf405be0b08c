/** The QR code by which an authenticator app is set up, read from the screen as a phone does (Key Uri Format; ISO/IEC 18004), and the words around it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsqr from 'jsqr';
import { TOTP, URI } from 'otpauth';
import { PNG } from 'pngjs';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { inBrowser } from '../../support/browser.ts';
import { secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { signIn } from '../../support/watched-page.ts';

test(
  'what a phone reads from the screen, light and dark, sets an app up whose codes sign in',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/branding', { name: 'Häuser & Söhne: "Tor"?' });
    for (const colorScheme of ['light', 'dark'] as const) {
      const login = `ümläut+${colorScheme}@example.com`;
      const user = { ...(await service.createUser({ login })), login };
      const context = await browser.newContext({ colorScheme, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 });
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/account/security`);
      await signIn(page, user);
      await page.click('#add-app');
      const { data, width, height } = PNG.sync.read(await page.locator('.qr-code').screenshot());
      // Dark modules on a light ground only: not every app reads the reverse (ISO/IEC 18004 section 6.2).
      const read = (jsqr as unknown as typeof jsqr.default)(new Uint8ClampedArray(data), width, height, {
        inversionAttempts: 'dontInvert',
      });
      assert.ok(read !== null, `not to be read, ${colorScheme}`);
      const app = URI.parse(read.data);
      assert.ok(app instanceof TOTP);
      assert.deepEqual([app.issuer, app.label], ['Häuser & Söhne "Tor"?', login], 'a colon would part them elsewhere');
      assert.deepEqual([app.algorithm, app.digits, app.period], ['SHA1', 6, 30]);
      assert.equal(app.secret.base32, (await page.textContent('#totp-secret'))?.replaceAll(' ', ''));
      await page.fill('#pass-code', app.generate());
      await page.click('#enroll');
      await page.waitForSelector('#recovery-codes');

      await context.clearCookies();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, user);
      await page.waitForSelector('#factor-form');
      await page.fill('#pass-code', app.generate({ timestamp: Date.now() + 30_000 }));
      await page.click('#verify');
      await page.waitForSelector('#sign-out');
      await context.close();
    }
  }),
);

/** Why an app is set up: because the sign-in needs it, or because its user wants to. */
const WORDS = {
  en: ['Your account requires two-step verification.', 'After that, you need a code from the app when you sign in with your password.'],
  de: ['Ihr Konto braucht beim Anmelden einen zweiten Faktor.', 'Danach brauchen Sie beim Anmelden mit Ihrem Passwort einen Code der App.'],
  es: [
    'Su cuenta requiere la verificación en dos pasos.',
    'A partir de entonces necesitará un código de la aplicación al iniciar sesión con su contraseña.',
  ],
  'zh-Hans': ['您的账号需要两步验证。', '此后使用密码登录时，还需要输入应用中的验证码。'],
} as const;

test('the page says why an app is set up: the sign-in needs it, or its user wants to; in four languages', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  for (const [language, [needed, wanted]] of Object.entries(WORDS)) {
    const user = await service.createUser();
    const own = new UserAgent(service.baseUrl);
    const security = await own.signIn(await own.visit('/account/security'), user);
    await own.visit(`/account/security?language=${language}`);
    const page = await own.submit(security, 'app-form');
    assert.ok(page.text.includes(wanted), `${language}: ${page.text}`);
    assert.ok(!page.text.includes(needed), language);
    assert.ok(secretOn(page));
    const other = new UserAgent(service.baseUrl);
    const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, acr_values: TWO_FACTORS, ui_locales: language });
    const asked = await other.signIn(await other.visit(url), user);
    assert.ok(asked.text.includes(needed), `${language}: ${asked.text}`);
    assert.ok(!asked.text.includes(wanted), language);
    assert.equal(answerOf(asked).code, undefined);
  }
});
