/** Signing in to the console and out of it (OpenID Connect Core 1.0 section 3.1): who comes in, and what ends it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownOrigin } from '../../../src/pages/console/relying-party.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createAdministrator, createOrganization, enter, SUPER, typedIn, wordsOf } from './administrators.ts';

const COOKIE = 'gatehouse-console';

test('the page that was wanted is shown after the sign-in; with a session at the server nobody is asked (section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const { agent, page } = await enter(service, SUPER, '/admin/organizations?page=1');
  assert.equal(page.url.pathname + page.url.search, '/admin/organizations?page=1');

  const elsewhere = new UserAgent(service.baseUrl);
  await elsewhere.signIn(await elsewhere.visit('/signin'), SUPER);
  const silent = await elsewhere.visit('/admin/api/tokens');
  assert.equal(silent.url.pathname, '/admin/api/tokens');
  assert.equal(silent.status, 200);
  assert.notEqual(agent.cookie(COOKIE), elsewhere.cookie(COOKIE));
});

test('the request has state, nonce and an S256 challenge; nothing of the sign-in is readable in the browser (RFC 7636, RFC 7516)', async (t) => {
  const service = await startService(t);
  const agent = new UserAgent(service.baseUrl);
  const { searchParams: sent, pathname } = new URL((await agent.send('/admin')).headers.get('location') ?? '');
  assert.equal(pathname, '/oauth/v1/authorize');
  assert.deepEqual(
    Object.fromEntries(
      ['client_id', 'response_type', 'scope', 'redirect_uri', 'code_challenge_method'].map((name) => [name, sent.get(name)]),
    ),
    {
      client_id: 'console',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${service.baseUrl}/admin/callback`,
      code_challenge_method: 'S256',
    },
  );
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(sent.get(name) ?? '', /^[\w-]{43}$/, name);
  const answer = await new UserAgent(service.baseUrl).send('/admin/api/tokens');
  const [cookie = ''] = answer.headers.getSetCookie();
  assert.match(cookie, /^gatehouse_console_[\w-]{43}=[\w.-]+; path=\/admin; expires=[^;]+; samesite=lax; httponly$/i);
  assert.ok(!Buffer.from(cookie.split('=')[1] ?? '', 'base64url').includes('tokens'));
});

test('the application `console` can do nothing but sign in with a code, and follows BASE_URL (RFC 6749 section 4.1)', async (t) => {
  const secretKey = newSecretKey();
  const service = await startService(t, { env: { SECRET_KEY: secretKey } });
  const env = { BASE_URL: 'https://id.example.test' };
  await startService(t, { beside: { database: service.database, secretKey }, env });
  const { body } = await service.api('GET', '/apps/console');
  assert.equal(body.label, 'Admin console');
  assert.equal(body.status, 'ACTIVE');
  assert.equal(body.credentials.oauthClient.token_endpoint_auth_method, 'client_secret_basic');
  assert.equal(body.credentials.oauthClient.pkce_required, true);
  const { oauthClient } = body.settings;
  assert.deepEqual(
    [oauthClient.grant_types, oauthClient.response_types, oauthClient.redirect_uris, oauthClient.post_logout_redirect_uris],
    [['authorization_code'], ['code'], [`${env.BASE_URL}/admin/callback`], [`${env.BASE_URL}/admin`]],
  );
});

test('behind a proxy that ends TLS: redirects name the public address, code and keys travel inside (RFC 9700 section 4.12)', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example.test', TRUST_PROXY: '1' } });
  // The proxy: what is public outside is the port inside.
  const inside = (address: string) => address.replace('https://id.example.test', service.listensAt);
  const jar = new Map<string, string>();
  const given = new Set<string>();
  const send = async (address: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, host: 'id.example.test', 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', ...init.headers };
    const response = await fetch(inside(address), { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      given.add(pair.slice(0, pair.indexOf('=')));
      assert.match(line, /; secure/i, line);
    }
    return response;
  };
  const follow = async (first: Response): Promise<Response> => {
    let response = first;
    for (let location = response.headers.get('location'); location !== null; location = response.headers.get('location')) {
      response = await send(new URL(location, 'https://id.example.test').href);
    }
    return response;
  };
  await send('https://id.example.test/signin?language=en');
  const page = await (await follow(await send('https://id.example.test/admin'))).text();
  const action = /id="sign-in-form" method="post" action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const posted = await send(`https://id.example.test${action}`, {
    method: 'POST',
    headers: { origin: 'https://id.example.test' },
    body: new URLSearchParams({ username: SUPER.login, password: SUPER.password }),
  });
  const dashboard = await follow(posted);
  assert.equal(dashboard.status, 200);
  assert.match(await dashboard.text(), /<h1 dir="auto">Dashboard<\/h1>/);
  assert.ok(jar.has('__Host-gatehouse-console'), [...jar.keys()].join());
  await send('https://id.example.test/signin?account=security');
  for (const kept of ['__Host-gatehouse-language', '__Secure-gatehouse-return']) assert.ok(jar.has(kept), [...jar.keys()].join());
  for (const name of given) assert.match(name, /^__(Host|Secure)-/, 'a page of a sibling domain could write it');
  assert.ok([...given].some((name) => name.startsWith('__Secure-gatehouse_console_')));
});

test('the console speaks to itself where it listens, whatever the address means (RFC 4291 section 2.5.2)', () => {
  assert.equal(ownOrigin({ host: '127.0.0.1', port: 3000 }), 'http://127.0.0.1:3000');
  assert.equal(ownOrigin({ host: '0.0.0.0', port: 3000 }), 'http://127.0.0.1:3000');
  assert.equal(ownOrigin({ host: '::', port: 80 }), 'http://[::1]:80');
  assert.equal(ownOrigin({ host: '2001:db8::1', port: 80 }), 'http://[2001:db8::1]:80');
  assert.equal(ownOrigin({ host: 'localhost', port: 8080 }), 'http://localhost:8080');
});

test('with ES256 as the built-in server’s algorithm, and after its change, sign-in works (OpenID Connect Core section 3.1.3.7)', async (t) => {
  const service = await startService(t);
  const { body } = await service.api('GET', '/authorizationServers/built-in');
  const changed = await service.api('PUT', '/authorizationServers/built-in', { ...body, signingAlg: 'ES256' });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal((await enter(service)).page.status, 200);
});

test('a user without a role is told so, and can sign in as somebody else', async (t) => {
  const service = await startService(t);
  const { agent, page } = await enter(service, await service.createUser({ displayName: 'Ada Lovelace' }));
  assert.equal(page.status, 403);
  assert.match(wordsOf(page), /The console is for administrators You are signed in as Ada Lovelace/);
  const form = await agent.visit('/admin/sign-in');
  assert.match(form.text, /id="sign-in-form"/, 'asked for a password though somebody is signed in');
  const administrator = await agent.signIn(form, SUPER);
  assert.equal(administrator.status, 200);
  assert.match(wordsOf(administrator), /Signed in as admin/);
});

test('who gives up at the sign-in page is told how to begin again, and not asked in circles (section 3.1.2.6)', async (t) => {
  const service = await startService(t);
  const agent = new UserAgent(service.baseUrl);
  const form = await agent.visit('/admin');
  const cancel = /<form[^>]*action="([^"]*\/cancel[^"]*)"/.exec(form.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const page = await agent.visit(cancel, { method: 'POST', headers: { origin: service.baseUrl } });
  assert.equal(page.status, 403);
  assert.match(wordsOf(page), /You left the sign-in page without signing in/);
  assert.ok(page.text.includes(`href="${service.baseUrl}/admin"`));
});

test('a response without its sign-in, a second time, from another server, or with another state is refused (RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const agent = new UserAgent(service.baseUrl);
  const state = new URL((await agent.send('/admin')).headers.get('location') ?? '').searchParams.get('state') ?? '';
  for (const query of ['', '?code=x', `?code=x&state=${'s'.repeat(43)}`, '?state=a&state=b']) {
    const page = await agent.visit(`/admin/callback${query}`);
    assert.equal(page.status, 400, query);
    assert.match(page.text, /id="error-code">no_sign_in_under_way</);
  }
  const foreign = await agent.visit(`/admin/callback?code=x&state=${state}&iss=https://evil.example`);
  assert.equal(foreign.status, 400);
  assert.equal(agent.cookie(COOKIE), undefined);
  const again = await agent.visit(`/admin/callback?code=x&state=${state}`);
  assert.match(again.text, /no_sign_in_under_way/, 'a transaction is used once');

  const unissued = new URL((await agent.send('/admin')).headers.get('location') ?? '').searchParams.get('state');
  const refused = await agent.visit(
    `/admin/callback?code=never-issued&state=${unissued}&iss=${encodeURIComponent(service.issuer('built-in'))}`,
  );
  assert.match(refused.text, /id="error-code">invalid_grant</);
});

test('without its application the console says what is wrong, whoever asks (RFC 6749 section 2)', async (t) => {
  const service = await startService(t);
  await onServer(service.database.url, (client) => client.query(`UPDATE applications SET status = 'INACTIVE' WHERE id = 'console'`));
  const page = await new UserAgent(service.baseUrl).visit('/admin');
  assert.equal(page.status, 400);
  assert.match(page.text, /id="error-code">not_registered</);
});

test('a code of another browser signs nobody in: its sign-in is not this one’s (login CSRF, RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const attacker = new UserAgent(service.baseUrl);
  await attacker.signIn(await attacker.visit('/signin'), await createAdministrator(service, 'SUPER_ADMIN'));
  const begun = (await new UserAgent(service.baseUrl).send('/admin')).headers.get('location') ?? '';
  const callback = (await attacker.send(begun)).headers.get('location') ?? '';
  assert.match(callback, /\/admin\/callback\?code=/);
  const victim = new UserAgent(service.baseUrl);
  assert.equal((await victim.visit(callback)).status, 400);
  assert.equal(victim.cookie(COOKIE), undefined);
});

test('“Sign out” ends the browser’s session without another question, and says so (RP-Initiated Logout 1.0 section 2)', async (t) => {
  const service = await startService(t);
  const { agent, page } = await enter(service);
  const after = await agent.submit(page, 'sign-out-form');
  assert.equal(after.url.pathname, '/signin');
  assert.match(wordsOf(after), /You are signed out/);
  assert.equal(agent.cookie(COOKIE), undefined);
  assert.match((await agent.visit('/admin')).text, /id="sign-in-form"/);
});

test('a logout elsewhere, a deactivation, another user in the browser: the console ends at the next request', async (t) => {
  const service = await startService(t);
  const [gone, other] = [await createAdministrator(service, 'SUPER_ADMIN'), await createAdministrator(service, 'SUPER_ADMIN')];
  const { agent: first } = await enter(service);
  await first.submit(await first.visit('/oauth/v1/logout'), 'logout-form');
  assert.notEqual(first.cookie(COOKIE), undefined, 'the cookie is still there');
  assert.match((await first.visit('/admin/api/tokens')).text, /id="sign-in-form"/);

  const { agent: second } = await enter(service, gone);
  assert.equal((await second.visit('/admin')).status, 200);
  await service.api('POST', `/users/${gone.id}/lifecycle/deactivate`);
  assert.match((await second.visit('/admin')).text, /id="sign-in-form"/);

  const { agent: third } = await enter(service);
  await third.submit(await third.visit('/oauth/v1/logout'), 'logout-form');
  await third.signIn(await third.visit('/signin'), other);
  assert.match(wordsOf(await third.visit('/admin')), new RegExp(`Signed in as ${other.login}`));
});

test('a form of one administrator does nothing for another who has signed in since, in the same browser (RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/organizations/new');
  await agent.submit(form, 'sign-out-form');
  const other = await createAdministrator(service, 'SUPER_ADMIN');
  await agent.signIn(await agent.visit('/admin'), other);
  const refused = await agent.submit(form, 'console-form', { name: 'Of the first' });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /form_refused/);
  assert.doesNotMatch(wordsOf(await agent.visit('/admin/organizations')), /Of the first/);
  assert.equal((await agent.submit(await agent.visit('/admin/organizations/new'), 'console-form', { name: 'Own' })).status, 200);
  assert.equal((await agent.submit(form, 'sign-out-form')).status, 403);
  assert.equal((await agent.visit('/admin')).status, 200, 'still signed in');
});

test('a role taken away counts at the next request', async (t) => {
  const service = await startService(t);
  const user = await createAdministrator(service, 'SUPER_ADMIN');
  const { agent } = await enter(service, user);
  const form = await agent.visit('/admin/api/tokens/new');
  await service.api('DELETE', `/users/${user.id}/roles/${user.roleId}`);
  const posted = await agent.submit(form, 'console-form', { name: 'Too late', expires: 'never' });
  assert.equal(posted.status, 403);
  assert.match(wordsOf(posted), /The console is for administrators/);
  const { rows } = await onServer(service.database.url, (client) => client.query(`SELECT 1 FROM api_tokens WHERE name = 'Too late'`));
  assert.deepEqual(rows, []);
});

test('a cookie that was altered, made up, sealed with another key or is twelve hours old opens nothing (RFC 7516 section 5.2)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const session = `gatehouse-session=${agent.cookie('gatehouse-session')}; gatehouse-session.sig=${agent.cookie('gatehouse-session.sig')}`;
  const own = agent.cookie(COOKIE) ?? '';
  const ask = (cookie: string) => fetch(`${service.baseUrl}/admin`, { redirect: 'manual', headers: { cookie } });
  assert.equal((await ask(`${COOKIE}=${own}; ${session}`)).status, 200);

  const foreign = (await enter(await startService(t, { env: { SECRET_KEY: newSecretKey() } }))).agent.cookie(COOKIE) ?? '';
  const [header, key, iv, ciphertext = '', tag] = own.split('.');
  const altered = [header, key, iv, (ciphertext.startsWith('A') ? 'B' : 'A') + ciphertext.slice(1), tag].join('.');
  for (const value of ['', 'x', '..', altered, foreign]) assert.equal((await ask(`${COOKIE}=${value}; ${session}`)).status, 303, value);
  assert.equal((await ask(`${COOKIE}=${own}`)).status, 303, 'nor does it without the session at the server');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 12 * 3600 * 1000 + 1000 });
  assert.equal((await ask(`${COOKIE}=${own}; ${session}`)).status, 303);
});

test('the console’s cookie ends after twelve hours, also where the session at the server lives on', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 2880 });
  const { agent } = await enter(service);
  const session = `gatehouse-session=${agent.cookie('gatehouse-session')}; gatehouse-session.sig=${agent.cookie('gatehouse-session.sig')}`;
  const own = agent.cookie(COOKIE) ?? '';
  moveClock(t, 12 * 3600 + 1);
  const answer = await fetch(`${service.baseUrl}/admin`, { redirect: 'manual', headers: { cookie: `${COOKIE}=${own}; ${session}` } });
  assert.equal(answer.status, 303);
  assert.equal((await agent.visit('/admin')).url.pathname, '/admin', 'signed in again without a form');
  const headers = { cookie: session, origin: service.baseUrl };
  const out = await fetch(`${service.baseUrl}/admin/sign-out`, { method: 'POST', redirect: 'manual', headers });
  const { pathname, searchParams } = new URL(out.headers.get('location') ?? '');
  assert.deepEqual([out.status, pathname, searchParams.has('id_token_hint')], [303, '/oauth/v1/logout', false], 'the server asks first');
});

test('a form posted after the session’s end is not carried out; after the sign-in its page says so (RFC 9110 section 15.4.4)', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/organizations/${orgId}/rename`);
  await agent.submit(await agent.visit('/oauth/v1/logout'), 'logout-form');
  const signIn = await agent.submit(form, 'console-form', { name: 'Renamed' });
  assert.match(signIn.text, /id="sign-in-form"/);
  const back = await agent.signIn(signIn, SUPER);
  assert.equal(back.url.pathname, `/admin/organizations/${orgId}/rename`);
  assert.match(wordsOf(back), /was not processed/);
  assert.equal(typedIn(back, 'name'), 'Renamed');
  assert.equal((await service.api('GET', `/account/org/${orgId}`)).body.name, 'Acme');
  const carriedOut = await agent.submit(back, 'console-form', { name: 'Renamed' });
  assert.match(wordsOf(carriedOut), /The organization has its new name/);

  const late = await agent.visit(`/admin/organizations/${orgId}/rename`);
  moveClock(t, 12 * 3600 + 1);
  const again = await agent.submit(late, 'console-form', { name: 'Renamed late' });
  const next = again.text.includes('id="sign-in-form"') ? await agent.signIn(again, SUPER) : again;
  assert.equal(typedIn(next, 'name'), 'Renamed late', 'also after the twelve hours of the console’s cookie');
});

test('another site’s form, or one without this browser’s token, changes nothing (RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/api/tokens/new');
  const body = new URLSearchParams({
    name: 'Forged',
    type: 'API',
    expires: 'never',
    key: 'k'.repeat(43),
    csrf: /name="csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '',
  });
  const post = (headers: Record<string, string>, sent = body) =>
    agent.send('/admin/api/tokens/new', { method: 'POST', body: sent, headers });
  assert.equal((await post({ origin: 'https://evil.example' })).status, 403);
  assert.equal((await post({ 'sec-fetch-site': 'cross-site' })).status, 403);
  const { agent: other } = await enter(service);
  const theirs = /name="csrf" value="([^"]+)"/.exec((await other.visit('/admin/api/tokens/new')).text)?.[1] ?? '';
  for (const csrf of ['', theirs]) {
    const wrong = new URLSearchParams(body);
    wrong.set('csrf', csrf);
    assert.equal((await post({ origin: service.baseUrl }, wrong)).status, 403, csrf);
    assert.equal((await agent.send('/admin/sign-out', { method: 'POST', body: wrong, headers: { origin: service.baseUrl } })).status, 403);
  }
  assert.doesNotMatch((await agent.visit('/admin/api/tokens')).text, /Forged/);
  assert.equal((await post({ origin: service.baseUrl })).status, 200, 'its own is carried out');
});

test('every page is kept by nobody and framed by nobody; an unknown address is a page of the console (RFC 9111 section 5.2.2.5)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  for (const path of [
    '/admin',
    '/admin/',
    '/admin/api/tokens',
    '/admin/organizations',
    '/admin/no-such-page',
    '/admin/organizations/org_none',
    '/admin/organizations/%00',
  ]) {
    const page = await agent.visit(path);
    assert.equal(page.status, /no|%00/.test(path) ? 404 : 200, path);
    assert.equal(page.headers.get('cache-control'), 'no-store', path);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /default-src 'none'.*script-src 'self'.*form-action 'self';.*frame-ancestors 'none'/,
      path,
    );
    assert.match(page.text, /<nav class="menu beside"/, path);
  }
  assert.match(wordsOf(await agent.visit('/admin/no-such-page')), /There is no such page.*Go to the dashboard/);
  assert.match((await new UserAgent(service.baseUrl).visit('/admin/no-such-page')).text, /id="sign-in-form"/);
});

test('making a token and giving a role need a sign-in not older than 15 minutes, and lead back to their page', async (t) => {
  stopClock(t);
  const service = await startService(t);
  const { id } = await service.createUser();
  const { agent } = await enter(service);
  const { orgId } = (await service.api('POST', '/account/org', { orgName: 'Acme' })).body;
  const pages = [
    '/admin/api/tokens/new',
    `/admin/users/${id}/roles/new`,
    '/admin/security/administrators/new',
    `/admin/organizations/${orgId}/administrators/new`,
  ];
  const forms = [];
  for (const page of pages) forms.push(await agent.visit(page));
  for (const [index, { status, url }] of forms.entries()) assert.deepEqual([status, url.pathname], [200, pages[index]]);
  moveClock(t, 901);
  const [token] = forms;
  assert.ok(token);
  const asked = await agent.submit(token, 'console-form', { name: 'Not made', expires: '90' });
  assert.match(asked.text, /id="sign-in-form"/);
  const names = (await service.api('GET', '/api-tokens')).body.map(({ name }: { name: string }) => name);
  assert.ok(!names.includes('Not made'));
  for (const page of pages.slice(1)) assert.match((await agent.visit(page)).text, /id="sign-in-form"/, page);
  assert.equal((await agent.visit('/admin/api/tokens')).status, 200, 'other pages are open');
  const back = await agent.signIn(await agent.visit('/admin/api/tokens/new'), SUPER);
  assert.equal(back.url.pathname, '/admin/api/tokens/new');
  assert.equal(typedIn(back, 'name'), 'Not made', 'what was typed comes back');
  assert.equal(typedIn(await agent.visit('/admin/api/tokens/new'), 'name'), '', 'once');
  assert.equal((await agent.submit(back, 'console-form', { name: 'Made', expires: '90' })).status, 200);
});

test('changing how another administrator signs in needs a sign-in not older than 15 minutes, by id and by login; other users do not', async (t) => {
  stopClock(t);
  const service = await startService(t);
  const administrator = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const user = await service.createUser();
  const { agent } = await enter(service);
  const names = [administrator.id, encodeURIComponent(administrator.login)];
  const pages = ['life-cycle/set-password', 'life-cycle/reset_password', 'factors/reset', 'factors/none/reset', 'edit'];
  const form = await agent.visit(`/admin/users/${administrator.id}/life-cycle/set-password`);
  assert.equal(form.status, 200);
  moveClock(t, 901);
  const password = 'chosen by whoever found the console open';
  assert.match((await agent.submit(form, 'console-form', { password })).text, /id="sign-in-form"/);
  for (const name of names)
    for (const page of pages)
      assert.match((await agent.visit(`/admin/users/${name}/${page}`)).text, /id="sign-in-form"/, `${name} ${page}`);
  const { status } = await service.api('POST', '/authn', { username: administrator.login, password: administrator.password });
  assert.equal(status, 200, 'the password is the former one');
  for (const page of ['life-cycle/set-password', 'life-cycle/reset_password', 'factors/reset', 'edit'])
    assert.match((await agent.visit(`/admin/users/${user.id}/${page}`)).text, /id="console-form"/, page);
  const unprintable = await agent.visit('/admin/users/a%00b/edit');
  assert.equal(unprintable.status, 404);
});
