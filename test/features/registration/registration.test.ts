/** Dynamic client registration (RFC 7591) and its management (RFC 7592). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { pino } from 'pino';
import { deleteExpiredApplications } from '../../../src/features/applications/expired-applications.service.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, post, userinfo, verifier } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what the endpoint answers is asserted field by field
  readonly body: any;
}

const settle = async (service: Service, registration: Record<string, unknown>) => {
  const { status, body } = await service.api('PUT', '/authorizationServers/default', { name: 'Default', registration });
  assert.equal(status, 200, JSON.stringify(body));
};

async function start(t: TestContext, registration: Record<string, unknown> = { mode: 'OPEN' }, env: Record<string, string> = {}) {
  const service = await startService(t, { env });
  await settle(service, registration);
  return service;
}

async function call(method: string, address: string, token?: string, body?: unknown): Promise<JsonAnswer> {
  const response = await fetch(address, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const rows = (service: Service, table: string): Promise<string> =>
  onServer(service.database.url, async (client) => JSON.stringify((await client.query(`SELECT * FROM ${table}`)).rows));

async function opened(t: TestContext, service: Service) {
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  return database;
}

const METADATA = { client_name: 'Robot', redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'] };
const register = (service: Service, metadata: unknown = METADATA, token?: string) =>
  call('POST', `${service.issuer('default')}/register`, token, metadata);

test('a client registers itself, signs a user in, and is an application like others', async (t) => {
  const service = await start(t);
  const { status, headers, body } = await register(service, {
    ...METADATA,
    scope: 'openid',
    contacts: ['a@example.com'],
    software_id: 'x',
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.deepEqual(
    [
      body.client_name,
      body.redirect_uris,
      body.grant_types,
      body.response_types,
      body.token_endpoint_auth_method,
      body.client_secret_expires_at,
    ],
    ['Robot', [CALLBACK], ['authorization_code', 'refresh_token'], ['code'], 'client_secret_basic', 0],
  );
  assert.equal(body.registration_client_uri, `${service.issuer('default')}/register/${body.client_id}`);
  const client = { clientId: body.client_id as string, clientSecret: body.client_secret as string };

  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const proof = verifier();
  const url = authorizeUrl(service, 'default', {
    client_id: client.clientId,
    scope: 'openid email offline_access',
    state: undefined,
    code_challenge: challengeOf(proof),
  });
  const asked = await browser.signIn(await browser.visit(url), user);
  assert.match(asked.text, /id="unchecked">Robot is not verified by this service\. It comes from app\.example\./);
  const allowed = await browser.submit(asked, 'consent', { decision: 'allow' });
  const tokens = await post(service, 'default', 'token', client, {
    grant_type: 'authorization_code',
    code: answerOf(allowed).code ?? '',
    redirect_uri: CALLBACK,
    code_verifier: proof,
  });
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  assert.equal((await userinfo(service, 'default', tokens.body.access_token)).status, 200);
  assert.match((await browser.visit(url)).text, /id="consent"/, 'asked each time');

  const { body: apps } = await service.api('GET', `/apps?filter=${encodeURIComponent('origin eq "REGISTERED"')}`);
  assert.deepEqual(
    apps.map((app: { id: string; label: string }) => [app.id, app.label]),
    [[client.clientId, 'Robot']],
  );
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "application.lifecycle.create"');
  assert.deepEqual(events.at(-1).actor, { ...events.at(-1).actor, id: client.clientId, type: 'PublicClientApp' });
});

test('what a client says of DPoP, pushed and signed requests, signed responses and certificates holds, and is told again', async (t) => {
  const service = await start(t);
  const metadata = {
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
    require_signed_request_object: true,
    authorization_signed_response_alg: 'ES256',
    request_object_signing_alg: 'HS512',
  };
  const { body, status } = await register(service, { ...METADATA, ...metadata });
  assert.equal(status, 201, JSON.stringify(body));
  const told = (answer: Record<string, unknown>, names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, answer[name]]));
  assert.deepEqual(told(body, metadata), metadata);
  const { settings } = (await service.api('GET', `/apps/${body.client_id}`)).body;
  assert.deepEqual(told(settings.oauthClient, metadata), metadata);
  const browser = new UserAgent(service.baseUrl);
  const unpushed = await browser.visit(
    authorizeUrl(service, 'default', { client_id: body.client_id, scope: 'openid', code_challenge: challengeOf(verifier()) }),
  );
  assert.match(unpushed.text + unpushed.url, /push/i);

  const certificate = {
    token_endpoint_auth_method: 'tls_client_auth',
    tls_client_auth_subject_dn: 'CN=robot,O=Example',
    tls_client_certificate_bound_access_tokens: true,
  };
  const bound = await register(service, { ...METADATA, ...certificate });
  assert.equal(bound.status, 201, JSON.stringify(bound.body));
  assert.deepEqual(told(bound.body, certificate), certificate);
  assert.equal(bound.body.client_secret, undefined);
  const without = await register(service, { ...METADATA, token_endpoint_auth_method: 'tls_client_auth' });
  assert.deepEqual([without.status, without.body.error], [400, 'invalid_client_metadata']);
  assert.match(without.body.error_description, /tls_client_auth_subject_dn/);
});

test('signed and encrypted responses and pairwise subjects, as OpenID Connect registration names them', async (t) => {
  const service = await start(t);
  const { publicKey } = await generateKeyPair('RSA-OAEP-256');
  const metadata = {
    userinfo_signed_response_alg: 'ES256',
    id_token_encrypted_response_alg: 'RSA-OAEP-256',
    id_token_encrypted_response_enc: 'A256GCM',
    introspection_signed_response_alg: 'ES256',
    subject_type: 'pairwise',
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'enc', use: 'enc', alg: 'RSA-OAEP-256' }] },
  };
  const { body: client, status } = await register(service, { ...METADATA, ...metadata });
  assert.equal(status, 201, JSON.stringify(client));
  assert.deepEqual({ ...client, ...metadata }, client);

  const browser = new UserAgent(service.baseUrl);
  const user = await service.createUser();
  const proof = verifier();
  const asked = await browser.signIn(
    await browser.visit(
      authorizeUrl(service, 'default', { client_id: client.client_id, scope: 'openid', code_challenge: challengeOf(proof) }),
    ),
    user,
  );
  const { code } = answerOf(await browser.submit(asked, 'consent', { decision: 'allow' }));
  const tokens = await post(
    service,
    'default',
    'token',
    { clientId: client.client_id, clientSecret: client.client_secret },
    { grant_type: 'authorization_code', code: code ?? '', redirect_uri: CALLBACK, code_verifier: proof },
  );
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  assert.deepEqual(decodeProtectedHeader(tokens.body.id_token), {
    ...decodeProtectedHeader(tokens.body.id_token),
    alg: 'RSA-OAEP-256',
    enc: 'A256GCM',
  });
  const answer = await fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${tokens.body.access_token}` } });
  const signed = await answer.text();
  assert.equal(decodeProtectedHeader(signed).alg, 'ES256');
  assert.notEqual(decodeJwt(signed).sub, user.id);

  for (const [wrong, why] of [
    [{ subject_type: 'everybody' }, /subject_type/],
    [{ subject_type: 'pairwise', redirect_uris: [CALLBACK, 'https://other.example/'] }, /sector_identifier_uri/],
    [{ subject_type: 'pairwise', sector_identifier_uri: 'https://sector.invalid/list' }, /sector_identifier_uri: must be a public URL/],
    [{ userinfo_signed_response_alg: 'HS256' }, /userinfo_signed_response_alg/],
    [{ userinfo_encrypted_response_alg: 'RSA-OAEP-256' }, /jwks/],
    [{ request_object_signing_alg: 'none' }, /request_object_signing_alg/],
    [{ request_object_signing_alg: 'ES256' }, /request_object_signing_alg: requires jwks or jwks_uri/],
    [
      { token_endpoint_auth_signing_alg: 'ES256' },
      /token_endpoint_auth_signing_alg: cannot be used with token_endpoint_auth_method client_secret_basic/,
    ],
    [{ token_endpoint_auth_method: 'client_secret_jwt', token_endpoint_auth_signing_alg: 'HS384' }, /token_endpoint_auth_signing_alg/],
  ] as const) {
    const refused = await register(service, { ...METADATA, ...wrong });
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_client_metadata'], JSON.stringify(refused.body));
    assert.match(refused.body.error_description, why);
  }
});

test('at other servers of the service it is no client, and the simulator says so', async (t) => {
  const service = await start(t, { mode: 'OPEN', allowedScopes: ['openid'] });
  const { body } = await register(service);
  const browser = new UserAgent(service.baseUrl);
  const beginning = (serverId: string) => browser.visit(authorizeUrl(service, serverId, { client_id: body.client_id, scope: 'openid' }));
  assert.match((await beginning('built-in')).text, /invalid_client/);
  const client = { clientId: body.client_id as string, clientSecret: body.client_secret as string };
  const form = { grant_type: 'refresh_token', refresh_token: 'x' };
  assert.equal((await post(service, 'built-in', 'token', client, form)).body.error, 'invalid_client');
  assert.equal((await post(service, 'default', 'token', client, form)).body.error, 'invalid_grant');
  const { body: made } = await service.api('POST', '/authorizationServers', { name: 'Closed', audiences: ['https://closed.example'] });
  assert.match((await beginning(made.id)).text, /invalid_client/);
  const user = await service.createUser();
  const asked = { client_id: body.client_id, grant_type: 'authorization_code', scopes: ['openid'], user: user.login };
  const told = await service.api('POST', `/authorizationServers/${made.id}/simulate`, asked);
  assert.deepEqual([told.status, told.body.refusal?.error], [200, 'invalid_client'], JSON.stringify(told.body));
});

test('one that an administrator gave the device grant asks for consent on a device, too', async (t) => {
  const service = await start(t);
  await onDevice(service, [CALLBACK], /It comes from app\.example\./);
  await onDevice(
    service,
    ['http://localhost/callback', 'http://127.0.0.1/callback'],
    /It is a program on the device that shows the code\./,
  );
});

async function onDevice(service: Service, redirectUris: readonly string[], words: RegExp): Promise<void> {
  const { body } = await register(service, { ...METADATA, redirect_uris: redirectUris, token_endpoint_auth_method: 'none' });
  const path = `/apps/${body.client_id}`;
  const { body: app } = await service.api('GET', path);
  const grants = [...app.settings.oauthClient.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'];
  const settings = { ...app.settings, oauthClient: { ...app.settings.oauthClient, grant_types: grants } };
  const changed = await service.api('PUT', path, { ...app, settings });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const client = { clientId: body.client_id as string, clientSecret: undefined };
  const { body: asked } = await post(service, 'default', 'device_authorization', client, { scope: 'openid' });
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(`/activate?user_code=${asked.user_code}`);
  const consent = await browser.signIn(await browser.submit(page, 'device-form', { confirm: 'yes' }), await service.createUser());
  assert.match(consent.text, words);
}

test('its registration access token reads, replaces and removes it, and changes with every update', async (t) => {
  const service = await start(t);
  const { body: made } = await register(service);
  const address = made.registration_client_uri as string;
  const first = made.registration_access_token as string;
  const read = await call('GET', address, first);
  assert.deepEqual([read.status, read.body.client_name, read.body.registration_access_token], [200, 'Robot', first]);
  assert.equal(read.body.client_secret, undefined, 'a secret is told once');
  assert.ok(!(await rows(service, 'applications')).includes(first), 'stored as a digest');

  const changed = { ...METADATA, client_id: made.client_id, client_secret: made.client_secret, client_name: 'Robot 2' };
  const results = await Promise.all([1, 2, 3, 4].map(() => call('PUT', address, first, changed)));
  assert.deepEqual(results.map(({ status }) => status).sort(), [200, 401, 401, 401], 'of updates with one token one is carried out');
  const { body: updated } = results.find(({ status }) => status === 200) ?? { body: {} };
  assert.equal(updated.client_name, 'Robot 2');
  const second = updated.registration_access_token as string;
  assert.notEqual(second, first);
  assert.deepEqual([(await call('GET', address, first)).status, (await call('GET', address, second)).status], [401, 200]);
  assert.equal((await call('PUT', address, second, { ...changed, client_id: 'another' })).body.error, 'invalid_client_metadata');
  const refusedUpdate = await call('PUT', address, second, { ...changed, redirect_uris: ['http://app.example/'] });
  assert.equal(refusedUpdate.body.error, 'invalid_redirect_uri');
  assert.equal((await call('GET', address, second)).status, 200, 'a refused update changes no token');

  const { body: other } = await register(service);
  for (const [token, at] of [
    [other.registration_access_token, address],
    [second, other.registration_client_uri],
    [second, address.replace('/default/', '/')],
    [undefined, address],
  ] as const)
    for (const method of ['GET', 'DELETE']) assert.equal((await call(method, at, token)).status, 401, `${method} ${at}`);
  assert.match((await call('GET', address)).headers.get('www-authenticate') ?? '', /^Bearer error="invalid_token"/);

  assert.equal((await service.api('POST', `/apps/${made.client_id}/lifecycle/deactivate`)).status, 204);
  assert.equal((await call('GET', address, second)).status, 401, 'a deactivated one manages nothing');
  assert.equal((await service.api('POST', `/apps/${made.client_id}/lifecycle/activate`)).status, 204);
  assert.equal((await call('DELETE', address, second)).status, 204);
  assert.equal((await service.api('GET', `/apps/${made.client_id}`)).status, 404);
  assert.equal((await call('DELETE', address, second)).status, 401);
});

test('initial access tokens: by API, hashed, for one or many registrations, with an end', async (t) => {
  const service = await start(t, { mode: 'TOKEN' });
  const path = '/authorizationServers/default/registrationTokens';
  const { status, body: once } = await service.api('POST', path, { name: 'Partner' });
  assert.deepEqual([status, once.singleUse, once.uses], [201, true, 0]);
  const days = (Date.parse(once.expiresAt) - Date.parse(once.created)) / 86_400_000;
  assert.ok(Math.abs(days - 7) < 0.01, `without an end it lasts seven days, not ${days}`);
  const { body: endless } = await service.api('POST', path, { name: 'Endless', expiresAt: null });
  assert.equal(endless.expiresAt, null, 'only who asks for it gets one that never expires');
  assert.equal((await service.api('DELETE', `${path}/${endless.id}`)).status, 204);
  const { body: often } = await service.api('POST', path, {
    name: 'Fleet',
    singleUse: false,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const stored = await rows(service, 'registration_tokens');
  assert.ok(!stored.includes(once.token) && !stored.includes(often.token), 'stored as digests');
  const { body: listed } = await service.api('GET', path);
  assert.deepEqual(
    listed.map(({ name, token }: { name: string; token?: string }) => [name, token]),
    [
      ['Partner', undefined],
      ['Fleet', undefined],
    ],
  );

  for (const wrong of [undefined, 'wrong', `${once.token}x`]) {
    const refused = await register(service, METADATA, wrong);
    assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_token']);
  }
  assert.equal((await register(service, { redirect_uris: [] }, once.token)).status, 400, 'a refused registration uses no token up');
  const raced = await Promise.all([1, 2, 3, 4, 5].map(() => register(service, METADATA, once.token)));
  assert.deepEqual(raced.map((answer) => answer.status).sort(), [201, 401, 401, 401, 401]);
  for (const turn of [1, 2, 3]) assert.equal((await register(service, METADATA, often.token)).status, 201, `${turn}`);
  assert.equal((await service.api('GET', `${path}/${often.id}`)).body.uses, 3);
  await service.api('PUT', '/authorizationServers/default', { name: 'Default', registration: { mode: 'TOKEN' } });
  const elsewhere = await call('POST', `${service.issuer('built-in')}/register`, often.token, METADATA);
  assert.equal(elsewhere.status, 404, 'another server takes none');
  moveClock(t, 3601);
  assert.equal((await register(service, METADATA, often.token)).status, 401, 'it has expired');
  assert.equal((await service.api('DELETE', `${path}/${once.id}`)).status, 204);
  for (const [type, name] of [
    ['create', 'Fleet'],
    ['revoke', 'Partner'],
  ] as const) {
    const { body: events } = await service.api('GET', `/logs?filter=eventType eq "app.oauth2.registration_token.${type}"`);
    assert.equal(events.at(-1).target[0].displayName, name);
  }
  const database = await opened(t, service);
  await removeExpired(database, 100);
  assert.deepEqual((await service.api('GET', path)).body, [], 'what has expired is swept');
});

test('what a client may not register is refused, by the rules of the API and of the server', async (t) => {
  const service = await start(t, {
    mode: 'OPEN',
    allowedRedirectHosts: ['app.example', '*.trusted.example', 'localhost'],
    allowedScopes: ['openid', 'email'],
  });
  const cases: readonly (readonly [metadata: Record<string, unknown>, error: string, why: RegExp])[] = [
    [{ redirect_uris: undefined }, 'invalid_redirect_uri', /redirect_uris/],
    [{ redirect_uris: ['https://foreign.example/'] }, 'invalid_redirect_uri', /a host that/],
    [{ redirect_uris: ['https://trusted.example/'] }, 'invalid_redirect_uri', /a host that/],
    [{ redirect_uris: ['http://app.example/'] }, 'invalid_redirect_uri', /https/],
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri', /scheme/],
    [{ grant_types: ['authorization_code', 'password'] }, 'invalid_client_metadata', /must not contain password/],
    [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata', /must not contain client_credentials/],
    [{ response_types: ['token'] }, 'invalid_client_metadata', /response_types/],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata', /jwks/],
    [{ jwks_uri: 'http://app.example/keys' }, 'invalid_client_metadata', /jwks_uri/],
    [{ client_name: 'A\u202eB' }, 'invalid_client_metadata', /client_name/],
  ];
  for (const [metadata, error, why] of cases) {
    const { status, body } = await register(service, { ...METADATA, ...metadata });
    assert.deepEqual([status, body.error], [400, error], JSON.stringify(metadata));
    assert.match(body.error_description, why);
  }
  const { status, body: made } = await register(service, {
    redirect_uris: ['https://a.trusted.example/cb', 'http://localhost:3000/cb'],
    token_endpoint_auth_method: 'none',
  });
  assert.deepEqual([status, made.client_secret, made.client_name, made.scope], [201, undefined, 'a.trusted.example', 'openid email']);
  const browser = new UserAgent(service.baseUrl);
  const ask = async (scope: string) =>
    answerOf(
      await browser.visit(
        authorizeUrl(service, 'default', {
          client_id: made.client_id,
          redirect_uri: 'https://a.trusted.example/cb',
          scope,
          code_challenge: challengeOf(verifier()),
        }),
      ),
    );
  assert.equal((await ask('openid profile')).error, 'invalid_scope');
  assert.equal((await ask('openid email')).error, undefined);
  const native = await register(service, { redirect_uris: ['http://localhost:3000/cb'], token_endpoint_auth_method: 'none' });
  assert.equal(native.body.application_type, 'native');

  const at = `${service.issuer('default')}/register`;
  const raw = (body: string, type: string) => fetch(at, { method: 'POST', headers: { 'content-type': type }, body });
  assert.equal((await raw('{', 'application/json')).status, 400);
  assert.equal((await raw('{}', 'text/plain')).status, 400);
  assert.equal((await raw(JSON.stringify({ ...METADATA, x: 'y'.repeat(40_000) }), 'application/json')).status, 413);
  assert.equal((await fetch(at)).status, 405);
  const preflight = await fetch(at, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
  });
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, '*']);

  await settle(service, { mode: 'OFF' });
  assert.equal((await register(service)).status, 404);
  const discovery = async () =>
    (await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  assert.equal((await discovery()).registration_endpoint, undefined);
  await settle(service, { mode: 'TOKEN' });
  assert.equal((await discovery()).registration_endpoint, at);
});

test('clients that nobody signs in to are removed after their days; a sign-in prolongs them', async (t) => {
  const service = await start(t, { mode: 'OPEN', expiresAfterDays: 10 });
  const [idle, used] = await Promise.all([register(service), register(service)]).then((made) =>
    made.map(({ body }) => body.client_id as string),
  );
  assert.ok(idle !== undefined && used !== undefined);
  moveClock(t, 8 * 86_400);
  const browser = new UserAgent(service.baseUrl);
  const user = await service.createUser();
  await browser.signIn(
    await browser.visit(authorizeUrl(service, 'default', { client_id: used, code_challenge: challengeOf(verifier()) })),
    user,
  );
  const { body: prolonged } = await service.api('GET', `/apps/${used}`);
  assert.ok(Date.parse(prolonged.expiresAt) > Date.now() + 9 * 86_400_000);
  moveClock(t, 3 * 86_400);
  const notifications = { publish: async () => {}, announce: () => {} };
  const services = { database: await opened(t, service), notifications, log: pino({ level: 'silent' }) } as unknown as Services;
  assert.equal(await deleteExpiredApplications(services), 1);
  assert.deepEqual([(await service.api('GET', `/apps/${idle}`)).status, (await service.api('GET', `/apps/${used}`)).status], [404, 200]);
});

test('one network registers twenty clients an hour', async (t) => {
  const service = await start(t, { mode: 'OPEN' }, { RATE_LIMITS: 'true' });
  const statuses: number[] = [];
  for (let turn = 0; turn < 22; turn += 1) statuses.push((await register(service)).status);
  assert.deepEqual(statuses, [...Array(20).fill(201), 429, 429]);
  const { headers, body } = await register(service);
  assert.equal(body.error, 'temporarily_unavailable');
  assert.ok(Number(headers.get('retry-after')) > 3000);
});
