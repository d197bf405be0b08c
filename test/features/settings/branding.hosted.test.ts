/** A brand on the pages for end users: logo and colours of settings/branding, and an application's own, within the strict policy of the pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl } from '../../protocol/servers/relying-party.ts';
import { inBrowser } from '../../support/browser.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow } from '../../support/watched-page.ts';

const REDIRECT = 'https://app.example/cb';

const stylesheetsOf = (text: string): string[] =>
  [...text.matchAll(/<link rel="stylesheet" href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
const brandOf = (text: string): string | undefined => stylesheetsOf(text).find((href) => href.startsWith('/assets/brand'));

const signInPage = async (service: Service, clientId: string) =>
  new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: clientId, redirect_uri: REDIRECT }));

test('a stylesheet of colours says what its address says, and nothing else (CSP level 3, section 6.6)', async (t) => {
  const service = await startService(t);
  const at = (query: string, path = '/assets/brand.css', init: RequestInit = {}) => fetch(`${service.baseUrl}${path}?${query}`, init);
  const answer = await at('light=7a1f5c&dark=e58fc4');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(
    await answer.text(),
    /^:root\{--accent:#7a1f5c;--accent-strong:#[0-9a-f]{6};--on-accent:#ffffff\}\s*@media \(prefers-color-scheme:dark\)\{:root\{--accent:#e58fc4;--accent-strong:#[0-9a-f]{6};--on-accent:#06201d\}\s*\}\s*$/,
  );
  assert.match(
    await (await at('light=7a1f5c&dark=e58fc4', '/assets/brand-preview.css')).text(),
    /^\.preview-light\{[^}]*\}\s*\.preview-dark\{[^}]*\}\s*$/,
  );
  const head = await at('light=7a1f5c&dark=e58fc4', '/assets/brand.css', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  for (const query of [
    '',
    'light=7a1f5c',
    'light=7a1f5c&dark=',
    'light=fff&dark=fff',
    // Nobody could read by it.
    'light=ffff00&dark=ffff00',
    'light=7a1f5c&dark=7a1f5c',
    `light=${encodeURIComponent('7a1f5c}body{display:none')}&dark=e58fc4`,
    `light=${encodeURIComponent('7a1f5c\n')}&dark=e58fc4`,
  ]) {
    assert.equal((await at(query)).status, 404, query);
  }
  assert.equal((await at('light=7a1f5c&dark=e58fc4', '/assets/brand.css', { method: 'POST' })).status, 404);
});

test('settings/branding: logo and colours stand on the pages for people, and on no other', async (t) => {
  const service = await startService(t);
  const page = (path: string) => fetch(service.baseUrl + path);
  assert.equal(brandOf(await (await page('/signin')).text()), undefined);
  const set = { logoUrl: 'https://cdn.example:8443/logo.svg?v=1', primaryColorHex: '#7A1F5C' };
  const { status, body } = await service.api('PUT', '/settings/branding', set);
  assert.deepEqual([status, body.primaryColorHex, body.primaryColorDarkHex], [200, '#7a1f5c', null]);
  for (const path of ['/signin', '/no-such-page']) {
    const answer = await page(path);
    const text = await answer.text();
    assert.match(brandOf(text) ?? '', /^\/assets\/brand\.css\?light=7a1f5c&dark=[0-9a-f]{6}$/, path);
    assert.equal((await page(brandOf(text) ?? '')).status, 200, path);
    assert.equal(stylesheetsOf(text).at(-1), brandOf(text), 'it stands behind those whose colours it replaces');
    assert.match(
      text,
      /<img class="brand-logo" src="https:\/\/cdn\.example:8443\/logo\.svg\?v=1" alt="" height="28" referrerpolicy="no-referrer">/,
    );
    assert.match(answer.headers.get('content-security-policy') ?? '', /img-src 'self' data: https:\/\/cdn\.example:8443;/, path);
    assert.doesNotMatch(text, /style=|<style/);
  }
  const playground = await (await page('/playground')).text();
  assert.equal(brandOf(playground), undefined);
  await service.api('PUT', '/settings/branding', { ...set, primaryColorDarkHex: '#ffcc00' });
  assert.match(brandOf(await (await page('/signin')).text()) ?? '', /&dark=ffcc00$/);
});

test('an application has a colour of its own on its pages, whatever the service’s is; refused where people could not read by it', async (t) => {
  const service = await serviceWithConsents(t);
  await service.api('PUT', '/settings/branding', { primaryColorHex: '#7a1f5c' });
  const { clientId: own } = await service.createApp({ redirect_uris: [REDIRECT], brand_color: '#1A5FB4', consent_method: 'REQUIRED' });
  const { clientId: other } = await service.createApp({ redirect_uris: [REDIRECT] });
  assert.match(brandOf((await signInPage(service, other)).text) ?? '', /light=7a1f5c/);
  const signIn = await signInPage(service, own);
  assert.match(brandOf(signIn.text) ?? '', /light=1a5fb4/);
  const agent = new UserAgent(service.baseUrl);
  const request = authorizeUrl(service, 'default', {
    client_id: own,
    redirect_uri: REDIRECT,
    scope: 'openid email',
  });
  const consent = await agent.signIn(await agent.visit(request), await service.createUser());
  assert.match(consent.text, /id="consent"/);
  assert.match(brandOf(consent.text) ?? '', /light=1a5fb4/);

  assert.equal((await service.api('GET', `/apps/${own}`)).body.settings.oauthClient.brand_color, '#1a5fb4');
  const body = { name: 'oidc_client', label: 'Pale', signOnMode: 'OPENID_CONNECT', credentials: { oauthClient: {} } };
  const refused = await service.api('POST', '/apps', {
    ...body,
    settings: { oauthClient: { redirect_uris: [REDIRECT], brand_color: '#ffee00' } },
  });
  assert.equal(refused.status, 400);
  assert.match(
    refused.body.errorCauses[0].errorSummary,
    /^settings\.oauthClient\.brand_color: is hard to read in light: .* The nearest readable colour is #[0-9a-f]{6}$/,
  );
});

test('a logo whose host fits into no policy is left out, and the page stays (CSP level 3, section 2.3.1)', async (t) => {
  const service = await startService(t);
  const answer = await service.api('PUT', '/settings/branding', { logoUrl: 'https://a;script-src b.example/logo.svg' });
  assert.equal(answer.status, 400, 'no host at all');
  assert.equal((await service.api('PUT', '/settings/branding', { logoUrl: 'https://a;b.example/logo.svg' })).status, 200);
  const page = await fetch(`${service.baseUrl}/signin`);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy') ?? '', /img-src 'self' data:;/);
});

test(
  'the button of the sign-in page has the colour, in light and in dark, and no policy is broken',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/branding', { primaryColorHex: '#7a1f5c', primaryColorDarkHex: '#ffcc00' });
    const window = await openWindow(browser);
    const page = await window.open();
    const colour = () => page.evaluate("getComputedStyle(document.querySelector('#sign-in')).backgroundColor");
    for (const [colorScheme, expected] of [
      ['light', 'rgb(122, 31, 92)'],
      ['dark', 'rgb(255, 204, 0)'],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${service.baseUrl}/signin`);
      assert.equal(await colour(), expected, colorScheme);
    }
    window.assertQuiet();
  }),
);
