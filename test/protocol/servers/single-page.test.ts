/**
 * Single-page applications in Chromium, with `oidc-client-ts` (OAuth 2.0 for Browser-Based Applications): sign-in by redirect and by popup, silent
 * renewal in an iframe and by refresh token, logout; and no page for people in anybody's frame.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { listen } from '../../support/listen.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { authorizeUrl, createClient } from './relying-party.ts';
import {
  inPage,
  type KeptUser,
  keptUser,
  leaveToSignIn,
  outcomeOn,
  type SinglePageApplication,
  serveSinglePage,
} from './single-page-application.ts';

async function signInByRedirect(page: Page, app: SinglePageApplication, user: { login: string; password: string }): Promise<KeptUser> {
  await page.goto(`${app.origin}/`);
  await leaveToSignIn(page);
  await page.waitForSelector('#username');
  await signIn(page, user);
  assert.equal(await outcomeOn(page, '/callback'), 'signed in');
  const kept = await keptUser(page);
  assert(kept !== null);
  return kept;
}

for (const serverId of ['built-in', 'default']) {
  test(
    `code with PKCE by redirect, userinfo, refresh with rotation, logout: ${serverId} server (OpenID Connect Core section 3.1)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const user = await service.createUser({ displayName: 'Ada Lovelace', email: 'ada@example.com' });
      const scope = 'openid profile email offline_access';
      const app = await serveSinglePage(t, service, {
        serverId,
        scope,
        settings: { refresh_token: { rotation_type: 'ROTATE', leeway: 0 } },
      });
      const window = await openWindow(browser);
      const page = await window.open();

      const first = await signInByRedirect(page, app, user);
      assert.equal(first.profile.sub, user.id);
      assert.equal(first.profile.name, 'Ada Lovelace', 'from userinfo');
      assert.equal(first.profile.email, 'ada@example.com');
      assert(first.refresh_token !== undefined);

      const second = (await inPage(page, 'signinSilent()')) as KeptUser;
      assert(second.refresh_token !== undefined, JSON.stringify(second));
      assert.notEqual(second.refresh_token, first.refresh_token, 'rotated');
      assert.notEqual(second.access_token, first.access_token);
      assert.equal(page.frames().length, 1, 'by the refresh token, without a frame');

      assert.deepEqual(await inPage(page, "revokeTokens(['access_token'])"), null);
      assert.deepEqual(await inPage(page, 'signinSilent()').then((user) => (user as KeptUser).profile.sub), user.id);

      await page.evaluate(`void app.signoutRedirect({ state: 'see you' })`);
      assert.equal(await outcomeOn(page, '/signed-out'), 'signed out see you');
      assert.equal(await keptUser(page), null);
      await leaveToSignIn(page);
      await page.waitForSelector('#sign-in-form');
      window.assertQuiet();
    }),
  );
}

test(
  'sign-in by popup: the popup keeps its tie to the application and closes (HTML section 7.1.3)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const app = await serveSinglePage(t, service, { host: '127.0.0.1' });
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${app.origin}/`);
    await page.evaluate(
      `document.querySelector('#popup').onclick = () => app.signinPopup().then(() => show('by popup'), (error) => show('failed: ' + error.message))`,
    );
    const opened = window.context.waitForEvent('page');
    await page.click('#popup');
    const popup = await opened;
    await popup.waitForSelector('#username');
    const hasOpener = () => popup.evaluate('window.opener !== null');
    assert.equal(await hasOpener(), true, 'libraries call the application through it');
    const closed = popup.waitForEvent('close');
    await popup.fill('#username', user.login);
    await popup.fill('#password', 'not-the-password');
    await popup.click('#sign-in');
    await popup.waitForSelector('#error-summary');
    assert.equal(await hasOpener(), true);
    await signIn(popup, user);
    await closed;
    await page.locator('#outcome', { hasNotText: 'ready' }).waitFor();
    assert.equal(await page.textContent('#outcome'), 'by popup');
    assert.equal((await keptUser(page))?.profile.sub, user.id);
    window.assertQuiet();
  }),
);

test(
  'silent renewal in an iframe: prompt=none with the session, login_required without it (OpenID Connect Core section 3.1.2.6)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const app = await serveSinglePage(t, service);
    const window = await openWindow(browser);
    const page = await window.open();
    const first = await signInByRedirect(page, app, user);
    assert.equal(first.refresh_token, undefined, 'nothing to renew with but the session');
    assert.equal(await inPage(page, 'metadataService.getCheckSessionIframe()'), null, 'a session is asked after by prompt=none alone');

    const second = (await inPage(page, 'signinSilent()')) as KeptUser;
    assert.equal(second.profile?.sub, user.id, JSON.stringify(second));
    assert.notEqual(second.access_token, first.access_token);
    assert.deepEqual(
      await inPage(page, "signinSilent({ scope: 'openid nonsense' })"),
      { failed: 'invalid_scope' },
      'errors arrive in the frame as well',
    );

    // The session ends elsewhere; the application hears of it by asking.
    const elsewhere = await window.open();
    await elsewhere.goto(`${service.issuer('default')}/logout?id_token_hint=${second.id_token}`);
    await elsewhere.waitForURL(`${service.baseUrl}/signin?signed-out`);
    assert.deepEqual(await inPage(page, 'signinSilent()'), { failed: 'login_required' });
    window.assertQuiet();
  }),
);

test(
  'an application on another site cannot renew in a frame over http, and signs in by redirect all the same (RFC 6265bis section 5.2)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const app = await serveSinglePage(t, service, { host: '127.0.0.1' });
    const window = await openWindow(browser);
    const page = await window.open();
    await signInByRedirect(page, app, user);
    assert.deepEqual(await inPage(page, 'signinSilent()'), { failed: 'login_required' }, 'the session cookie is SameSite=Lax');
    await leaveToSignIn(page);
    assert.equal(await outcomeOn(page, '/callback'), 'signed in');
    window.assertQuiet();
  }),
);

test('over https the session cookie is sent in frames of other sites too: Secure, SameSite=None (RFC 6265bis section 5.6.7)', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example' } });
  const { login, password } = await service.createUser();
  const { clientId } = await createClient(service);
  const { body } = await service.api('POST', '/authn', { username: login, password });
  const { pathname, search } = authorizeUrl(service, 'default', { client_id: clientId, sessionToken: body.sessionToken });
  const answer = await fetch(service.listensAt + pathname + search, { redirect: 'manual' });
  const session = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('__Host-gatehouse-session='));
  assert.match(session ?? '', /; path=\/; .*samesite=none; secure; httponly/i, JSON.stringify(body));

  const silent = authorizeUrl(service, 'default', { client_id: clientId, prompt: 'none' });
  const headers = {
    cookie: answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
  };
  const renewed = await fetch(service.listensAt + silent.pathname + silent.search, { redirect: 'manual', headers });
  assert.match(renewed.headers.get('location') ?? '', /[?&]code=/);
  assert.equal(renewed.headers.get('x-frame-options'), null, 'the answer to prompt=none may be framed: it is a redirect');
});

test(
  'an application whose origin is not registered gets nothing from the token endpoint (Fetch section 3.2)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const app = await serveSinglePage(t, service, { settings: { allowed_origins: ['http://localhost:1'] } });
    const page = await (await openWindow(browser)).open();
    await page.goto(`${app.origin}/`);
    await leaveToSignIn(page);
    await page.waitForSelector('#username');
    await signIn(page, user);
    assert.match(await outcomeOn(page, '/callback'), /^failed: Failed to fetch/);
    assert.equal(await keptUser(page), null);
  }),
);

test(
  'no page for people shows in a frame, not even of the same site (clickjacking: RFC 9700 section 4.16)',
  inBrowser(async (browser, t) => {
    const service = await serviceWithConsents(t);
    const user = await service.createUser();
    const app = await serveSinglePage(t, service, { settings: { consent_method: 'REQUIRED' } });
    const request = (parameters: Record<string, string>) => {
      const defaults = {
        client_id: app.clientId,
        redirect_uri: `${app.origin}/callback`,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      };
      return authorizeUrl(service, 'default', { ...defaults, ...parameters }).href;
    };
    const attacker = await listen(t, 'localhost', (_req, res) =>
      res.setHeader('content-type', 'text/html').end('<!doctype html><title>Attacker</title>'),
    );
    const page = await (await openWindow(browser)).open();

    /** Where a frame of this address ends up. */
    const framed = async (address: string): Promise<string> => {
      await page.goto(attacker);
      const arrived = page.waitForEvent('framenavigated', (frame) => frame.parentFrame() !== null && frame.url() !== 'about:blank');
      await page.evaluate(`{
      const frame = document.createElement('iframe');
      frame.src = ${JSON.stringify(address)};
      document.body.append(frame);
    }`);
      return (await arrived).url();
    };
    assert.equal(await framed(`${attacker}/`), `${attacker}/`, 'frames do work here');
    const refused = 'chrome-error://chromewebdata/';
    const unknown = request({ client_id: 'nobody' });
    for (const address of [request({}), request({ prompt: 'login' }), unknown, `${service.baseUrl}/signin`])
      assert.equal(await framed(address), refused, address);

    await page.goto(`${service.baseUrl}/signin`);
    await signIn(page, user);
    await page.waitForURL(`${service.baseUrl}/account`);
    const consent = request({ scope: 'openid email' });
    await page.goto(consent);
    await page.waitForSelector('#consent');
    for (const address of [consent, `${service.issuer('default')}/logout`, `${service.baseUrl}/account`])
      assert.equal(await framed(address), refused, address);
  }),
);
