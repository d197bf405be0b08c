/**
 * What a page of another site can do to a browser that is signed in, or not yet (RFC 9700 sections 4.7 and 4.16, RFC 6819 section 4.4.1.8; OWASP ASVS 5.0 V3.2, V3.4,
 * V3.5 and V10.6.2): in Chromium, for it decides which cookies go along and what is read. And what somebody writes into pages of others.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { authorizeUrl, createClient, tokensFor } from '../protocol/servers/relying-party.ts';
import { inBrowser } from '../support/browser.ts';
import { listen } from '../support/listen.ts';
import { ADMIN, type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { openWindow, signIn } from '../support/watched-page.ts';

const inAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** A form that posts itself, as a page of another site has it. */
const formTo = (action: string, fields: Record<string, string>, enctype = 'application/x-www-form-urlencoded'): string =>
  `<!doctype html><title>Win a prize</title><form id="f" method="post" enctype="${enctype}" action="${inAttribute(action)}">${Object.entries(
    fields,
  )
    .map(([name, value]) => `<input name="${inAttribute(name)}" value="${inAttribute(value)}">`)
    .join('')}</form><script>document.getElementById('f').submit()</script>`;

/** Shows a page at an address of another site, and waits until it has done what it does. */
async function lure(page: Page, site: { origin: string; html: string }, html: string): Promise<void> {
  site.html = html;
  await page.goto(`${site.origin}/prize`);
  await page.waitForURL((url) => url.origin !== site.origin || url.pathname === '/done').catch(() => undefined);
  await page.waitForLoadState('load');
}

const signedIn = async (context: BrowserContext, service: Service): Promise<boolean> => {
  const page = await context.newPage();
  await page.goto(`${service.baseUrl}/account`);
  const { pathname } = new URL(page.url());
  await page.close();
  return pathname === '/account';
};

test(
  'a page of another site',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const [victim, attacker] = [await service.createUser(), await service.createUser()];
    const client = await createClient(service, { post_logout_redirect_uris: ['https://app.example/signed-out'] });
    // Another site than `localhost`.
    const site = { origin: '', html: '' };
    site.origin = await listen(t, '127.0.0.1', (_req, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end(site.html));

    await t.test('signs nobody in as somebody else, at whichever page (login CSRF, RFC 9700 section 4.7)', async () => {
      const { context, open } = await openWindow(browser);
      const page = await open();
      // The attacker's own form, with the token that his browser was given; and a sign-in that waits in the victim's.
      const his = new UserAgent(service.baseUrl);
      const csrf = /name="csrf" value="([^"]*)"/.exec((await his.visit('/signin')).text)?.[1] ?? '';
      await page.goto(authorizeUrl(service, 'default', { client_id: client.clientId }).href);
      const waiting = new URL(page.url()).pathname;
      const credentials = { username: attacker.login, password: attacker.password };
      for (const action of ['/signin', `${waiting}/login`]) {
        await lure(page, site, formTo(service.baseUrl + action, { csrf, ...credentials }));
        assert.equal(new URL(page.url()).origin, service.baseUrl, 'the form came there');
        assert.equal(await signedIn(context, service), false, action);
      }
      await lure(page, site, formTo(`${service.baseUrl}/api/v1/authn`, { '{"username":"x","password":"x","a":"': '"}' }, 'text/plain'));
      assert.match((await page.textContent('body')) ?? '', /Content-Type/, 'nor does a form that looks like JSON');
      await context.close();
    });

    await t.test('changes nothing for who is signed in, and reads nothing (CSRF, OWASP ASVS 5.0 V3.5)', async () => {
      const { context, open } = await openWindow(browser);
      const page = await open();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, { login: ADMIN.username, password: ADMIN.password });
      await page.waitForURL(/\/(account|admin)/);
      await page.goto(`${service.baseUrl}/admin/tokens`);
      assert.equal(new URL(page.url()).pathname, '/admin/tokens', 'the console is open');
      const forms: [path: string, fields: Record<string, string>][] = [
        ['/account/password', { current: ADMIN.password, password: 'a password of the attacker', repeated: 'a password of the attacker' }],
        ['/account/profile', { firstName: 'Mallory' }],
        ['/account/sessions', { all: 'true' }],
        ['/admin/tokens/new', { name: 'mallory' }],
        ['/admin/users/new', { login: 'mallory', password: 'a password of the attacker' }],
        ['/admin/settings/branding/edit', { name: 'Mallory' }],
        ['/oauth/v1/logout', {}],
        ['/oauth/v1/default/logout', { confirm: 'x' }],
      ];
      for (const [path, fields] of forms) await lure(page, site, formTo(service.baseUrl + path, fields));
      await lure(
        page,
        site,
        `<!doctype html><title>Prize</title><img src="${service.baseUrl}/oauth/v1/logout"><iframe src="${service.baseUrl}/oauth/v1/default/logout"></iframe><script>
        (async () => {
          const told = [];
          for (const [path, init] of [['/api/v1/sessions/me', {}], ['/api/v1/sessions/me', { method: 'DELETE' }], ['/account', {}], ['/admin/tokens', {}], ['/oauth/v1/default/userinfo', {}]]) {
            try { told.push(await (await fetch(${JSON.stringify(service.baseUrl)} + path, { credentials: 'include', ...init })).text()); } catch { told.push(null); }
          }
          document.title = JSON.stringify(told);
          history.pushState(null, '', '/done');
        })();
      </script>`,
      );
      // At userinfo, the fifth, an answer to who has no token may be read: it tells nothing.
      assert.deepEqual(JSON.parse(await page.title()).slice(0, 4), [null, null, null, null]);
      await page.goto(`${service.baseUrl}/oauth/v1/logout`);
      assert.equal(await page.isVisible('form'), true, 'who is led to the logout is asked');
      assert.equal(await signedIn(context, service), true);
      const names = (await service.api('GET', '/api-tokens')).body.map(({ name }: { name: string }) => name);
      assert.ok(!names.includes('mallory'));
      assert.equal((await service.api('GET', '/users/mallory')).status, 404);
      const { body: me } = await service.api('GET', `/users/${ADMIN.username}`);
      assert.equal(me.profile.firstName ?? null, null);
      assert.notEqual((await service.api('GET', '/settings/branding')).body.name, 'Mallory');
      const again = new UserAgent(service.baseUrl);
      await again.signIn(await again.visit('/signin'), { login: ADMIN.username, password: ADMIN.password });
      assert.equal((await again.visit('/account')).url.pathname, '/account', 'the password is the same');
      await context.close();
    });

    await t.test('is told by no window that it opened who is signed in (OWASP ASVS 5.0 V3.4.8)', async () => {
      const { context, open } = await openWindow(browser);
      const page = await open();
      await page.goto(`${service.baseUrl}/signin`);
      await signIn(page, victim);
      await page.waitForURL(/\/account/);
      site.html = '<!doctype html><title>Prize</title><button id="b">Prize</button>';
      await page.goto(`${site.origin}/prize`);
      for (const path of ['/account', '/account/security', '/signin']) {
        const opened = context.waitForEvent('page');
        await page.evaluate(`void (globalThis.opened = globalThis.open(${JSON.stringify(service.baseUrl + path)}))`);
        const popup = await opened;
        await popup.waitForLoadState('load');
        const seen = (await page.evaluate(
          `(() => { try { return [globalThis.opened.closed, globalThis.opened.length, globalThis.opened.document?.title]; } catch (error) { return error.name; } })()`,
        )) as unknown;
        // Its tie is cut (Cross-Origin-Opener-Policy), or nothing of the other origin is told.
        assert.ok(
          seen === 'SecurityError' || JSON.stringify(seen) === '[true,0,null]' || JSON.stringify(seen).startsWith('[true'),
          `${path}: ${JSON.stringify(seen)}`,
        );
        assert.equal(await popup.evaluate('globalThis.opener === null || globalThis.opener === undefined'), true, path);
        await popup.close();
      }
      await context.close();
    });
  }),
);

test('what somebody writes is text on the pages of others, the console’s too (stored XSS, OWASP ASVS 5.0 V1.2.1)', async (t) => {
  const service = await startService(t);
  const xss = (where: string) => `"'><xss onload=alert(1)>{{${where}}}`;
  const { password: his } = await service.createUser({
    login: xss('login'),
    email: 'mallory@example.com',
    firstName: xss('first'),
    displayName: xss('shown'),
  });
  const attacker = { login: xss('login'), password: his };
  await service.api('POST', `/account/org?orgName=${encodeURIComponent(xss('org'))}`);
  await service.api('POST', '/groups', { profile: { name: xss('group'), description: xss('described') } });
  const labelled = { label: xss('app'), settings: { oauthClient: { redirect_uris: ['https://app.example/callback'] } } };
  const { body: app } = await service.api('POST', '/apps', labelled);
  await service.api('POST', '/idps', {
    name: xss('idp'),
    type: 'OIDC',
    protocol: { issuer: { url: 'https://idp.example' }, credentials: { client: { client_id: xss('c'), client_secret: 'x' } } },
  });
  await service.api('POST', '/authorizationServers', { id: 'xss', name: xss('server'), description: xss('described') });
  await service.api('POST', '/authorizationServers/xss/scopes', { name: 'x', displayName: xss('scope'), description: xss('scope') });
  await service.api('POST', '/api-tokens', { name: xss('token') });
  await service.api('PUT', '/settings/branding', { name: xss('brand') });
  // What nobody has to be signed in for: the name of a browser, and what is typed.
  const browser = new UserAgent(service.baseUrl);
  const agent = {
    headers: { 'user-agent': xss('browser'), 'accept-language': xss('language'), 'x-forwarded-for': xss('address'), 'x-request-id': 'xss' },
  };
  const headers = { ...agent.headers, origin: service.baseUrl };
  const form = await browser.visit('/signin', agent);
  const csrf = /name="csrf" value="([^"]*)"/.exec(form.text)?.[1] ?? '';
  for (const password of ['wrong', attacker.password]) {
    const body = new URLSearchParams({ csrf, username: attacker.login, password });
    const answer = await browser.visit('/signin', { method: 'POST', headers, body });
    assert.ok(!answer.text.includes('<xss'));
  }
  await tokensFor(service, browser, attacker, { clientId: app.id, clientSecret: app.credentials.oauthClient.client_secret });

  /** Goes through every page that links lead to. */
  const crawl = async (visitor: UserAgent, home: string, most: number): Promise<{ pages: number; marked: Set<string> }> => {
    const marked = new Set<string>();
    const seen = new Set([home]);
    for (const path of seen) {
      const page = await visitor.visit(path);
      if (!/^text\/html/.test(page.headers.get('content-type') ?? '')) {
        // A file is no page, whatever it is taken for.
        assert.match(page.headers.get('content-type') ?? '', /^(application\/(json|x-ndjson)|text\/csv)/, path);
        assert.equal(page.headers.get('x-content-type-options'), 'nosniff', path);
        continue;
      }
      assert.equal(
        page.text.includes('<xss'),
        false,
        `${path}: ${page.text.slice(Math.max(0, page.text.indexOf('<xss') - 300)).slice(0, 400)}`,
      );
      for (const [, where = ''] of page.text.matchAll(/&lt;xss onload=alert\(1\)&gt;\{\{(\w+)\}\}/g)) marked.add(where);
      for (const [, href = ''] of page.text.matchAll(/<a[^>]*href="([^"]+)"/g)) {
        assert.doesNotMatch(href, /^\s*(javascript|data|vbscript):/i, path);
        const { pathname, origin } = new URL(href.replaceAll('&amp;', '&'), page.url);
        if (origin === service.baseUrl && pathname.startsWith(home) && seen.size < most) seen.add(pathname);
      }
    }
    return { pages: seen.size, marked };
  };
  const own = await crawl(browser, '/account', 30);
  assert.ok(own.pages > 6 && own.marked.has('app'), `${own.pages} ${[...own.marked]}`);
  const admin = new UserAgent(service.baseUrl);
  await admin.signIn(await admin.visit('/signin'), { login: ADMIN.username, password: ADMIN.password });
  const all = await crawl(admin, '/admin', 90);
  for (const where of ['login', 'org', 'group', 'app', 'idp', 'server', 'token', 'browser', 'brand']) {
    assert.ok(all.marked.has(where), `${where} is not shown in ${all.pages} pages: ${[...all.marked]}`);
  }
});
