/**
 * Addresses that somebody else chose (RFC 9700 sections 4.1, 4.11 and 4.12; OWASP ASVS 5.0 V1.3.6, V3.7.2 and V10.4.1; CVE-2022-39222, CVE-2020-15233,
 * CVE-2020-15234, CVE-2026-9689): the browser is sent to what is registered and nowhere else, and the service itself asks nobody because a request says so.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../protocol/servers/relying-party.ts';
import { listen } from '../support/listen.ts';
import type { Received } from '../support/requests.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** What browsers take for another host. */
const AWAY = [
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/%09/evil.example',
  '/%2f%2fevil.example',
  '/%5cevil.example',
  '/.//evil.example',
  '/..//evil.example/%2e%2e',
  '/@evil.example',
  'https:evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
];

test('no path and no parameter leads a browser away (RFC 9700 section 4.11)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit('/signin'), user);
  const { hostname, port } = new URL(service.listensAt);
  const session = browser.cookie('gatehouse-session') ?? '';
  const signature = browser.cookie('gatehouse-session.sig') ?? '';
  const ask = async (path: string, cookie: boolean): Promise<{ location: string | undefined; refresh: string }> => {
    const headers = cookie ? { cookie: `gatehouse-session=${session}; gatehouse-session.sig=${signature}` } : {};
    const request = http.get({ hostname, port, path, headers });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return { location: response.headers.location, refresh: String(response.headers.refresh ?? '') };
  };
  const names = [
    'next',
    'return',
    'return_to',
    'returnTo',
    'redirect',
    'redirect_uri',
    'url',
    'continue',
    'goto',
    'account',
    'language',
    'application',
  ];
  const everywhere = (value: string) => names.map((name) => `${name}=${encodeURIComponent(value)}`).join('&');
  const roots = [
    '',
    '/',
    '/signin',
    '/signin/',
    '/signup',
    '/code/none',
    '/account',
    '/account/',
    '/admin',
    '/admin/',
    '/interaction/',
    '/interaction/default/',
    '/playground',
    '/oauth/v1/logout',
    '/.well-known/change-password',
    '/favicon.ico',
  ];
  const paths = [
    ...roots.flatMap((root) => AWAY.filter((away) => away.startsWith('/')).map((away) => root + away)),
    ...roots.filter((root) => root !== '').flatMap((root) => AWAY.map((away) => `${root}?${everywhere(away)}`)),
    ...AWAY.map((away) => `/interaction/upstream/x/callback?state=${encodeURIComponent(away)}&code=x`),
  ];
  for (const path of paths) {
    for (const cookie of [false, true]) {
      const { location, refresh } = await ask(path, cookie);
      assert.ok(!refresh.includes('evil'), `${path}: ${refresh}`);
      if (location === undefined) continue;
      const target = new URL(location, service.baseUrl);
      assert.equal(target.origin, service.baseUrl, `${path}: ${location}`);
      // A browser that is led on by it stays, too.
      assert.ok(!location.startsWith('//') && !location.includes('\\'), `${path}: ${location}`);
    }
  }
});

test('nobody is sent to what only looks like a registered address (RFC 9700 section 4.1; CVE-2020-15233, CVE-2020-15234)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const web = await createClient(service);
  const native = await createClient(service, {
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback', 'com.example.app:/callback'],
    post_logout_redirect_uris: ['com.example.app:/out'],
  });
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: web.clientId })), user);
  const likeWeb = [
    ...['https://app.example/callback/', 'https://app.example/CALLBACK', 'https://APP.example/callback', 'HTTPS://app.example/callback'],
    ...[
      'https://app.example//callback',
      'https://app.example/./callback',
      'https://app.example/x/../callback',
      'https://app.example/callback?',
      'https://app.example/callback#',
    ],
    ...[
      'https://app.example:443/callback',
      'https://app.example./callback',
      'https://app.example@evil.example/callback',
      'https://evil.example\\@app.example/callback',
    ],
    ...[
      'https://app.example%2eevil.example/callback',
      'https://app.example.evil.example/callback',
      'https://xn--app-.example/callback',
      'http://app.example/callback',
    ],
    ...[
      'https://app.example/callback?code=1',
      'https://app.example/callback&code=1',
      'https://app.example/callback;x',
      'https://app.example/%63allback',
      'https://app.example/callback%00',
    ],
    ...[
      'https:app.example/callback',
      'https:/app.example/callback',
      '//app.example/callback',
      '/callback',
      'callback',
      '*',
      'https://*.example/callback',
      'https:%252F%252Fapp.example/callback',
    ],
  ];
  const likeNative = [
    ...[
      'http://127.0.0.1/callback?bar=foo',
      'http://127.0.0.1/callback/',
      'http://127.0.0.1/CALLBACK',
      'http://127.0.0.1.evil.example/callback',
      'http://localhost/callback',
    ],
    ...[
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.1/callback',
      'http://2130706433/callback',
      'http://0x7f000001/callback',
      'https://127.0.0.1/callback',
      'http://[::1]/callback',
    ],
    ...[
      'com.example.app:/callback/x',
      'com.example.app://callback',
      'com.example.app2:/callback',
      'com.example.app:callback',
      'javascript:alert(1)//com.example.app:/callback',
    ],
  ];
  for (const [client, addresses] of [
    [web, likeWeb],
    [native, likeNative],
  ] as const) {
    for (const redirect_uri of addresses) {
      const parameters = { client_id: client.clientId, redirect_uri, prompt: 'none', code_challenge: 'x'.repeat(43) };
      const shown = await browser.visit(authorizeUrl(service, 'default', parameters));
      assert.deepEqual([shown.url.origin, shown.status, answerOf(shown).code], [service.baseUrl, 400, undefined], redirect_uri);
      const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: redirect_uri });
      const out = await new UserAgent(service.baseUrl).send(`${service.issuer('default')}/logout?${query}`);
      assert.deepEqual([out.status, out.headers.get('location')], [400, null], redirect_uri);
    }
  }
});

test('no answer to a form makes a browser send it again elsewhere: 303 or 302, never 307 or 308 (RFC 9700 section 4.12)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(authorizeUrl(service, 'default', { client_id: clientId }));
  const statuses: number[] = [];
  const headers = { origin: service.baseUrl };
  const form = (more: Record<string, string>) => ({ method: 'POST', headers, body: new URLSearchParams(more) });
  const hop = async (address: string, init: RequestInit = {}): Promise<Received> => {
    const response = await browser.send(address, init);
    if (response.headers.has('location')) statuses.push(response.status);
    return response;
  };
  const sent = await hop(`${page.url.pathname}/login`, form({ username: user.login, password: user.password }));
  await hop(sent.headers.get('location') ?? '');
  await hop(
    `${service.issuer('default')}/authorize`,
    form(Object.fromEntries(authorizeUrl(service, 'default', { client_id: clientId }).searchParams)),
  );
  const asked = await browser.visit(`${service.issuer('default')}/logout`);
  const confirm = /name="confirm" value="([^"]*)"/.exec(asked.text)?.[1] ?? '';
  await hop(`${service.issuer('default')}/logout`, form({ confirm }));
  assert.ok(statuses.length >= 4, `${statuses}`);
  for (const status of statuses) assert.ok(status === 302 || status === 303, `${statuses}`);
});

test('a request makes the service ask nobody (server-side request forgery: OWASP ASVS 5.0 V1.3.6; RFC 9700 section 4.11, OpenID Connect Core section 6.2)', async (t) => {
  const asked: string[] = [];
  const inside = await listen(t, '127.0.0.1', (req, res) => {
    asked.push(`${req.method} ${req.url}`);
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  // The network is open: what is not asked now is asked by no request at all.
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const at = (path: string) => `${inside}/${path}`;
  const settings = {
    redirect_uris: [CALLBACK],
    logo_uri: at('logo'),
    client_uri: at('client'),
    policy_uri: at('policy'),
    tos_uri: at('tos'),
  };
  const { clientId } = await service.createApp(settings);
  for (const [field, value] of [
    ['sector_identifier_uri', at('sector')],
    ['request_uris', [at('request')]],
    ['initiate_login_uri', at('initiate')],
    ['software_statement', 'x'],
  ]) {
    const oauthClient = { ...settings, [field as string]: value };
    const { status } = await service.api('POST', '/apps', {
      name: 'oidc_client',
      label: 'x',
      signOnMode: 'OPENID_CONNECT',
      settings: { oauthClient },
    });
    assert.equal(status, 400, String(field));
  }
  const browser = new UserAgent(service.baseUrl);
  for (const more of [
    { request_uri: at('request') },
    { request_uri: `${inside}/request#x`, request: 'x' },
    { registration: JSON.stringify({ jwks_uri: at('jwks') }) },
    { claims: JSON.stringify({ _claim_sources: { a: { endpoint: at('claims') } } }) },
    { id_token_hint: at('hint') },
    { login_hint: at('hint') },
    { idp: at('idp') },
    { resource: at('resource') },
  ]) {
    await browser.visit(authorizeUrl(service, 'default', { client_id: clientId, ...more }));
  }
  await browser.visit(authorizeUrl(service, 'default', { client_id: at('client-id-metadata') }));
  const client = await createClient(service, { grant_types: ['authorization_code', 'client_credentials'] });
  await post(service, 'default', 'token', client, {
    grant_type: 'client_credentials',
    resource: at('resource'),
    client_assertion: at('x'),
  });
  await service.api('POST', '/users', { profile: { login: 'x', profileUrl: at('profile') } });
  await service.api('PUT', '/settings/branding', { name: 'x', logoUrl: 'https://127.0.0.1/logo' });
  assert.deepEqual(asked, []);
});

test('a host that would end a directive of the content security policy is not registered (CSP level 3 section 2.3.1)', async (t) => {
  const { api } = await startService(t);
  const register = (oauthClient: object) =>
    api('POST', '/apps', {
      ...{ name: 'oidc_client', label: 'x', signOnMode: 'OPENID_CONNECT' },
      settings: {
        oauthClient: { redirect_uris: [CALLBACK], grant_types: ['authorization_code'], response_types: ['code'], ...oauthClient },
      },
    });
  for (const host of ['a;b.example', 'x,y.example']) {
    for (const oauthClient of [{ redirect_uris: [`https://${host}/cb`] }, { allowed_origins: [`https://${host}`] }]) {
      const { status, body } = await register(oauthClient);
      assert.equal(status, 400, host);
      assert.match(JSON.stringify(body.errorCauses), /host name of letters, digits, hyphens and periods/);
    }
  }
  assert.equal((await register({ redirect_uris: ['https://[2001:db8::1]/cb', 'https://xn--bcher-kva.example/cb'] })).status, 200);
});

test('a public application must rotate its refresh tokens (RFC 9700 section 2.2.2)', async (t) => {
  const { api } = await startService(t);
  const { status, body } = await api('POST', '/apps', {
    ...{ name: 'oidc_client', label: 'x', signOnMode: 'OPENID_CONNECT' },
    settings: {
      oauthClient: { application_type: 'native', redirect_uris: ['com.example:/cb'], refresh_token: { rotation_type: 'STATIC' } },
    },
  });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body.errorCauses), /refresh_token: must have rotation_type ROTATE/);
});
