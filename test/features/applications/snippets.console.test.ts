/** The snippets of the tab Connect, run as they are shown, against the service that shows them. Spring Boot, Authlib and mod_auth_openidc need a platform of their own, and are run by hand when they change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JSONWebKeySet, jwtVerify } from 'jose';
import QRCode from 'qrcode';
import type { Facts } from '../../../src/features/applications/snippets/snippet.ts';
import { snippetsFor } from '../../../src/features/applications/snippets/snippets.ts';
import { enter } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { listen } from '../../support/listen.ts';
import { freePort } from '../../support/process.ts';
import { type ServiceCalls, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { createApplication, filesIn, layDown, run } from './console-applications.ts';

/** Goes from an application on another port to the service, signs in, and comes back. */
async function signInBehind(start: string, service: ServiceCalls, user: { login: string; password: string }) {
  const application = new UserAgent(new URL(start).origin);
  const { url: request } = await application.visit(start);
  assert.equal(request.origin, service.baseUrl, String(request));
  const agent = new UserAgent(service.baseUrl);
  const { url: response } = await agent.signIn(await agent.visit(request), user);
  return { application, response };
}

/** Is it an access token of this server? @returns its claims */
async function verified(service: ServiceCalls, serverId: string, token: string) {
  const keys = (await (await fetch(`${service.issuer(serverId)}/keys`)).json()) as JSONWebKeySet;
  return (await jwtVerify(token, createLocalJWKSet(keys), { issuer: service.issuer(serverId) })).payload;
}

for (const serverId of ['default', 'built-in']) {
  test(`curl: the authorization code flow by hand, at ${serverId} (RFC 6749 section 4.1, RFC 7636)`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser({ email: 'ada@example.com' });
    const { agent } = await enter(service);
    // Characters that a shell would take for its own.
    const redirectUri = `http://localhost:${await freePort()}/call'back$(x)`;
    const { id, secret } = await createApplication(agent, 'web', { label: 'Shell', redirect_uris: redirectUri });
    const files = filesIn(await agent.visit(`/admin/applications/${id}?with=curl&server=${serverId}`));
    const directory = await layDown(t, files);
    const { process: child, said, ended } = run(t, directory, 'sh', ['sign-in.sh'], secret);
    const [address = ''] = /http:\S+authorize\S+/.exec(await said(/Address: $/)) ?? [];
    const browser = new UserAgent(service.baseUrl);
    const { url } = await browser.signIn(await browser.visit(address), user);
    child.stdin.end(`${url}\n`);
    const { code, output } = await ended;
    assert.equal(code, 0, output);
    assert.match(output, /"id_token":"ey/);
    assert.ok(output.includes(`"sub":"${user.id}"`), output);
    assert.match(output, /"email":"ada@example.com"/);

    const forged = run(t, directory, 'sh', ['sign-in.sh'], secret);
    await forged.said(/Address: $/);
    forged.process.stdin.end(`${url}\n`);
    assert.deepEqual((await forged.ended).code, 1, 'the answer to another sign-in is not taken');
  });
}

test('curl: without a secret, and with the secret in the form (RFC 6749 section 2.3.1)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const redirectUri = 'com.example.shell:/callback';
  const native = await service.createApp({ application_type: 'native', redirect_uris: [redirectUri] });
  const posting = await service.createApp(
    { redirect_uris: ['http://localhost/callback'] },
    { token_endpoint_auth_method: 'client_secret_post' },
  );
  for (const { clientId, clientSecret } of [native, posting]) {
    const directory = await layDown(t, filesIn(await agent.visit(`/admin/applications/${clientId}?with=curl`)));
    const { process: child, said, ended } = run(t, directory, 'sh', ['sign-in.sh'], clientSecret);
    const [address = ''] = /http:\S+authorize\S+/.exec(await said(/Address: $/)) ?? [];
    const browser = new UserAgent(service.baseUrl);
    const { url } = await browser.signIn(await browser.visit(address), user);
    child.stdin.end(`${url}\n`);
    const { output } = await ended;
    assert.ok(output.includes(`"sub":"${user.id}"`), output);
  }
});

test('a machine gets a token for an API, with a scope that asks nobody: curl and openid-client (RFC 6749 section 4.4)', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers/default/scopes', { name: 'orders:delete', consent: 'REQUIRED' });
  await service.api('POST', '/authorizationServers/default/scopes', { name: 'orders:read' });
  const { agent } = await enter(service);
  const { id, secret } = await createApplication(agent, 'service', { label: 'Nightly job' });
  for (const [snippet, command, file] of [
    ['curl', 'sh', 'machine.sh'],
    ['openid-client', process.execPath, 'app.mjs'],
  ] as const) {
    const directory = await layDown(t, filesIn(await agent.visit(`/admin/applications/${id}?with=${snippet}`)));
    const { code, output } = await run(t, directory, command, [file], secret).ended;
    assert.equal(code, 0, output);
    const claims = await verified(service, 'default', /ey[\w.-]+/.exec(output)?.[0] ?? '');
    assert.equal(claims.sub, id);
    assert.equal(claims.scope, 'orders:read', snippet);
  }
});

test('a device shows its code as a QR code, and gets tokens when its user has confirmed it (RFC 8628)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const grant_types = ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'];
  const native = await service.createApp({ application_type: 'native', grant_types });
  const confidential = await service.createApp({ application_type: 'service', grant_types });
  for (const { clientId, clientSecret } of [native, confidential]) {
    const directory = await layDown(t, filesIn(await agent.visit(`/admin/applications/${clientId}`)));
    const { said, ended } = run(t, directory, process.execPath, ['device.mjs'], clientSecret);
    const shown = await said(/Scan the QR code, or open \S+ and type \S+/);
    const [, address = '', code = ''] = /open (\S+) and type (\S+)/.exec(shown) ?? [];
    const link = `${address}?user_code=${code}`;
    assert.ok(shown.includes(await QRCode.toString(link, { type: 'terminal', small: true })), 'the QR code is the link');
    const browser = new UserAgent(service.baseUrl);
    const confirmed = await browser.submit(await browser.visit(link), 'device-form', { confirm: 'yes' });
    await browser.signIn(confirmed, user);
    const { code: status, output } = await ended;
    assert.deepEqual([status, /Signed in as (\S+)/.exec(output)?.[1]], [0, user.id], output);
  }
});

test('openid-client signs people in by every way in which an application proves itself (OpenID Connect Core 1.0 section 9)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { kid: 'one', alg: 'ES256', use: 'sig' };
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), ...key }] };
  for (const [method, settings] of [
    ['client_secret_basic', {}],
    ['client_secret_post', {}],
    ['client_secret_jwt', {}],
    ['private_key_jwt', { jwks }],
    ['none', { application_type: 'native' }],
  ] as const) {
    const origin = `http://localhost:${await freePort()}`;
    const { clientId, clientSecret } = await service.createApp(
      { redirect_uris: [`${origin}/callback`], ...settings },
      { token_endpoint_auth_method: method, pkce_required: true },
    );
    const shown = filesIn(await agent.visit(`/admin/applications/${clientId}?with=openid-client`));
    const directory = await layDown(
      t,
      new Map([...shown, ['private-key.json', JSON.stringify({ ...(await exportJWK(privateKey)), ...key })]]),
    );
    await run(t, directory, process.execPath, ['app.mjs'], clientSecret).said(/^Open /);
    const { application, response } = await signInBehind(origin, service, user);
    const { status, text } = await application.visit(response);
    assert.equal(status, 200, `${method}: ${text}`);
    assert.equal(JSON.parse(text).sub, user.id, method);
    assert.equal((await application.visit(response)).status, 400, 'an answer counts once');
    const stranger = new UserAgent(origin);
    assert.equal((await stranger.visit(response)).status, 400, 'and in the browser alone that asked');
  }
});

test(
  'oidc-client-ts signs people in on a page of its own, and out (OAuth 2.0 for Browser-Based Applications)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { agent } = await enter(service);
    const { files, serve } = { files: new Map<string, string>(), serve: await moduleFiles() };
    const origin = await listen(t, 'localhost', (req, res) => {
      const { pathname } = new URL(req.url ?? '/', 'http://localhost');
      const script = serve.get(pathname) ?? files.get(pathname.slice(1));
      res.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
      res.end(script ?? PAGE);
    });
    const { id, secret } = await createApplication(agent, 'browser', {
      label: 'Single page',
      redirect_uris: `${origin}/callback`,
      post_logout_redirect_uris: `${origin}/`,
    });
    assert.equal(secret, undefined);
    const page = await agent.visit(`/admin/applications/${id}`);
    assert.match(page.text, /With oidc-client-ts/, 'it is the first one for its kind');
    for (const [name, text] of filesIn(page)) files.set(name, text);

    const window = await openWindow(browser);
    const tab = await window.open();
    await tab.goto(`${origin}/`);
    await tab.click('text=Sign in');
    await signIn(tab, user);
    await tab.waitForURL(`${origin}/`);
    await tab.waitForSelector(`text=${user.id}`);
    await tab.reload();
    await tab.waitForSelector(`text=${user.id}`);
    await tab.click('text=Sign out');
    await tab.waitForURL(`${origin}/`);
    await tab.waitForSelector('text=Sign in');
  }),
);

/** What a bundler would do: the library found by its name. */
const PAGE = `<!doctype html><html lang="en"><title>Single page</title><link rel="icon" href="data:,">
<script type="importmap">{"imports":{"oidc-client-ts":"/oidc-client-ts.js","jwt-decode":"/jwt-decode.js"}}</script>
<main id="app"></main><script type="module" src="/app.js"></script></html>`;

async function moduleFiles(): Promise<ReadonlyMap<string, string>> {
  const { readFile } = await import('node:fs/promises');
  const read = (file: string) => readFile(new URL(`../../../../node_modules/${file}`, import.meta.url), 'utf8');
  return new Map([
    ['/oidc-client-ts.js', await read('oidc-client-ts/dist/esm/oidc-client-ts.js')],
    ['/jwt-decode.js', await read('jwt-decode/build/esm/index.js')],
  ]);
}

test('an application is offered the snippets that fit, those for its kind first; none holds a secret', () => {
  const facts: Facts = {
    kind: 'web',
    clientId: 'app_1',
    authentication: 'client_secret_basic',
    grants: ['authorization_code'],
    responseTypes: ['code'],
    redirectUri: 'https://app.example/callback',
    postLogoutRedirectUri: undefined,
    issuer: 'https://id.example/oauth/v1/default',
    scope: 'openid',
    machineScope: '',
  };
  const offered = (changed: Partial<Facts>): string[] => snippetsFor({ ...facts, ...changed }).map(({ id }) => id);
  assert.deepEqual(offered({}), ['openid-client', 'spring-boot', 'authlib', 'mod-auth-openidc', 'curl']);
  assert.deepEqual(offered({ kind: 'browser', authentication: 'none' }), ['oidc-client-ts', 'curl']);
  assert.deepEqual(offered({ kind: 'native', authentication: 'none', redirectUri: 'com.example:/cb' }), ['curl']);
  assert.deepEqual(offered({ kind: 'service', grants: ['client_credentials'], responseTypes: [], redirectUri: undefined }), [
    'openid-client',
    'authlib',
    'curl',
  ]);
  assert.deepEqual(offered({ authentication: 'private_key_jwt' }), ['openid-client']);
  assert.deepEqual(offered({ grants: ['implicit'], responseTypes: ['id_token'] }), []);
});
