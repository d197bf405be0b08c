/** Clients that introduce themselves by a document (draft-ietf-oauth-client-id-metadata-document): from an https client ID to tokens. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportJWK, SignJWT } from 'jose';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  userinfo,
  verifier,
} from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { documentHost } from '../../support/https-host.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const enable = async (service: Service, clientIdMetadata: Record<string, unknown> = { enabled: true }) => {
  const { status, body } = await service.api('PUT', '/authorizationServers/default', { name: 'Default', clientIdMetadata });
  assert.equal(status, 200, JSON.stringify(body));
};

async function start(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', ...env } });
  await enable(service);
  const host = await documentHost(t);
  const user = await service.createUser();
  return { service, host, user, browser: new UserAgent(service.baseUrl) };
}

const request = (service: Service, clientId: string, parameters: Record<string, string | undefined> = {}): URL =>
  authorizeUrl(service, 'default', {
    client_id: clientId,
    state: undefined,
    nonce: undefined,
    code_challenge: challengeOf(PROOF),
    ...parameters,
  });
const PROOF = verifier();

const isConsent = ({ text }: Page): boolean => text.includes('id="consent"');
const exchange = (service: Service, clientId: string, page: Page, more: Record<string, string> = {}) =>
  post(
    service,
    'default',
    'token',
    { clientId, clientSecret: undefined },
    {
      grant_type: 'authorization_code',
      code: answerOf(page).code ?? '',
      redirect_uri: CALLBACK,
      code_verifier: PROOF,
      ...more,
    },
  );

test('a client introduces itself: the host is shown, consent is always asked, unknown scopes are dropped, state may be absent', async (t) => {
  const { service, host, user, browser } = await start(t);
  const id = host.publish('/agent.json', { grant_types: ['authorization_code', 'refresh_token', 'urn:unknown'] });
  const scope = 'openid email offline_access of-another-server';
  const asked = await browser.signIn(await browser.visit(request(service, id, { scope })), user);
  assert.ok(isConsent(asked), asked.text.slice(0, 500));
  assert.match(asked.text, /id="unchecked">Agent is not verified by this service\. It comes from localhost:\d+\./);
  const allowed = await browser.submit(asked, 'consent', { decision: 'allow' });
  assert.deepEqual([answerOf(allowed).error, answerOf(allowed).state], [undefined, undefined]);
  const { status, body } = await exchange(service, id, allowed);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.scope.split(' ').sort(), ['email', 'offline_access', 'openid']);
  assert.equal((await userinfo(service, 'default', body.access_token)).status, 200);
  const refreshed = await post(
    service,
    'default',
    'token',
    { clientId: id, clientSecret: undefined },
    {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
    },
  );
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));

  assert.ok(isConsent(await browser.visit(request(service, id, { scope }))), 'asked again, though everything was allowed before');
  const silent = await browser.visit(request(service, id, { scope, prompt: 'none' }));
  assert.equal(answerOf(silent).error, 'consent_required');
  assert.equal(host.asked('/agent.json'), 1, 'the document is kept');

  const api = await createClient(service);
  const { body: told } = await post(service, 'default', 'introspect', api, { token: body.access_token });
  assert.deepEqual([told.active, told.client_id], [true, id]);
  const { body: apps } = await service.api('GET', `/apps?filter=${encodeURIComponent('origin eq "INTRODUCED"')}`);
  assert.deepEqual(
    apps.map((app: { id: string; label: string; origin: string }) => [app.id, app.label, app.origin]),
    [[id, 'Agent', 'INTRODUCED']],
  );
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "application.lifecycle.create"&sortOrder=DESCENDING');
  const first = events.filter((event: { target: { id: string }[] }) => event.target[0]?.id === id);
  assert.deepEqual(
    first.map(({ displayMessage }: { displayMessage: string }) => displayMessage),
    ['Client created from its metadata document'],
  );

  assert.equal(
    (await service.api('PUT', `/apps/${encodeURIComponent(id)}`, { label: 'Mine' })).status,
    403,
    'its settings are the document’s',
  );
  assert.equal((await service.api('POST', `/apps/${encodeURIComponent(id)}/lifecycle/deactivate`)).status, 204);
  assert.match((await browser.visit(request(service, id))).text, /invalid_client/, 'an administrator blocks it');
  assert.equal((await post(service, 'default', 'introspect', api, { token: refreshed.body.access_token })).body.active, false);
});

test('a loopback redirect URI counts with any port, every other one as it is written', async (t) => {
  const { service, host, user, browser } = await start(t);
  const id = host.publish('/native.json', {
    redirect_uris: ['http://127.0.0.1/callback', 'http://localhost:3000/callback', 'https://app.example/callback'],
  });
  const page = await browser.signIn(await browser.visit(request(service, id, { redirect_uri: 'http://127.0.0.1:49152/callback' })), user);
  assert.ok(isConsent(page), page.text.slice(0, 300));
  assert.ok(isConsent(await browser.visit(request(service, id, { redirect_uri: 'http://localhost:4711/callback' }))));
  for (const wrong of [
    'http://127.0.0.1:1/other',
    'http://127.0.0.2/callback',
    'https://app.example:444/callback',
    'https://app.example/callback/',
  ])
    assert.match((await browser.visit(request(service, id, { redirect_uri: wrong }))).text, /invalid_redirect_uri/, wrong);
});

test('it proves itself by its key; a changed document counts when the old one has expired', async (t) => {
  const { service, host, user, browser } = await start(t);
  const [first, second] = [0, 1].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  assert.ok(first !== undefined && second !== undefined);
  const publish = async ({ publicKey }: { publicKey: KeyObject }, redirectUri: string) =>
    host.publish(
      '/signing.json',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [await exportJWK(publicKey)] }, redirect_uris: [redirectUri] },
      { headers: { 'cache-control': 'max-age=600' } },
    );
  const assertion = async ({ privateKey }: { privateKey: KeyObject }, clientId: string) => ({
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(service.issuer('default'))
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey),
  });
  const id = await publish(first, CALLBACK);
  const allow = async (page: Page) => browser.submit(page, 'consent', { decision: 'allow' });
  const arrived = await allow(await browser.signIn(await browser.visit(request(service, id)), user));
  const unproven = await exchange(service, id, arrived);
  assert.deepEqual([unproven.status, unproven.body.error], [401, 'invalid_client'], 'not without its key');
  assert.equal((await exchange(service, id, arrived, await assertion(first, id))).status, 200);

  await publish(second, 'https://other.example/callback');
  const before = await allow(await browser.visit(request(service, id)));
  assert.equal(
    (await exchange(service, id, before, await assertion(second, id))).body.error,
    'invalid_client',
    'the new key is not known yet',
  );
  assert.equal(host.asked('/signing.json'), 1);
  moveClock(t, 601);
  assert.match((await browser.visit(request(service, id))).text, /invalid_redirect_uri/, 'the old redirect URI is gone');
  assert.equal(host.asked('/signing.json'), 2);
  assert.equal((await exchange(service, id, before, await assertion(first, id))).body.error, 'invalid_client', 'and so is the old key');
  const after = await browser.visit(request(service, id, { redirect_uri: 'https://other.example/callback' }));
  assert.ok(isConsent(after));
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "application.lifecycle.update"');
  assert.deepEqual(
    events.at(-1).debugContext.after.settings.redirect_uris,
    ['https://other.example/callback'],
    'the change is in the audit log',
  );
});

test('a host that is away leaves its clients in force for a day; one that takes its document back ends them', async (t) => {
  const { service, host, user, browser } = await start(t);
  const id = host.publish('/away.json', {}, { headers: { 'cache-control': 'max-age=60' } });
  assert.ok(isConsent(await browser.signIn(await browser.visit(request(service, id)), user)));
  host.publish('/away.json', {}, { status: 503 });
  moveClock(t, 3600);
  const visit = async () => (await browser.visit(request(service, id))).text;
  assert.doesNotMatch(await visit(), /invalid_client/);
  host.publish('/away.json', {}, { status: 404 });
  moveClock(t, 120);
  assert.match(await visit(), /invalid_client/);
});

test('what is no document of the client is refused, with the reason, and noted', async (t) => {
  const { service, host, browser } = await start(t);
  const cases: readonly (readonly [why: RegExp, metadata: Record<string, unknown>, document?: Record<string, unknown>])[] = [
    [/client_id must be the address/, { client_id: 'https://localhost/other.json' }],
    [/must not contain client_secret/, { client_secret: 'x' }],
    [/token_endpoint_auth_method/, { token_endpoint_auth_method: 'client_secret_basic' }],
    [/redirect_uris/, { redirect_uris: [] }],
    [/redirect_uris/, { redirect_uris: ['http://app.example/callback'] }],
    [/redirect_uris/, { redirect_uris: ['javascript:alert(1)'] }],
    [/jwks/, { token_endpoint_auth_method: 'private_key_jwt' }],
    [/jwks/, { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }],
    [/grant_types/, { grant_types: ['client_credentials'] }],
    [/larger than 5120 bytes/, { client_uri: `https://app.example/${'x'.repeat(5000)}` }],
    [/not a JSON object/, {}, { body: '[]' }],
    [/media type/, {}, { headers: { 'content-type': 'text/html' } }],
    [/cannot be fetched/, {}, { status: 302, headers: { location: 'https://localhost/' } }],
    [/status 404/, {}, { status: 404 }],
  ];
  for (const [index, [why, metadata, document]] of cases.entries()) {
    const id = host.publish(`/${index}.json`, metadata, document);
    const page = await browser.visit(request(service, id));
    assert.match(page.text, why, JSON.stringify(metadata));
    assert.match(page.text, /invalid_client/);
    await browser.visit(request(service, id));
    assert.equal(host.asked(`/${index}.json`), 1, 'a refused document is not fetched again at once');
  }
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "app.oauth2.client_document.refuse"');
  assert.equal(events.length, 1, 'one event for a host in a minute');
  assert.match(events[0].outcome.reason, /client_id must be the address/);
});

test('the server decides whether clients may introduce themselves, and from where; discovery tells it', async (t) => {
  const { service, host, browser } = await start(t);
  const id = host.publish('/client.json');
  const discovery = async (serverId: string) =>
    (await (await fetch(`${service.issuer(serverId)}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  const told = await discovery('default');
  assert.equal(told.client_id_metadata_document_supported, true);
  assert.ok((told.token_endpoint_auth_methods_supported as string[]).includes('none'));
  assert.equal((await discovery('built-in')).client_id_metadata_document_supported, undefined);
  const isKnown = async () => !(await browser.visit(request(service, id))).text.includes('invalid_client');
  for (const [allowedDomains, expected] of [
    [['example.com'], false],
    [['*.localhost'], false],
    [['localhost', 'example.com'], true],
    [[], true],
  ] as const) {
    await enable(service, { enabled: true, allowedDomains });
    assert.equal(await isKnown(), expected, JSON.stringify(allowedDomains));
  }
  await enable(service, { enabled: false, allowedDomains: ['localhost'] });
  assert.equal(await isKnown(), false);
  assert.equal(host.asked('/client.json'), 1);
  const { status } = await service.api('PUT', '/authorizationServers/default', {
    name: 'Default',
    clientIdMetadata: { enabled: true, allowedDomains: ['https://a.example'] },
  });
  assert.equal(status, 400);
  for (const odd of [
    `${host.origin}`,
    `${host.origin}/a/../client.json`,
    `${host.origin}/client.json#x`,
    id.replace('https', 'http'),
    id.replace('://', '://user@'),
  ]) {
    await enable(service);
    assert.match((await browser.visit(request(service, odd))).text, /invalid_client/, odd);
  }
  assert.equal(host.asked('/client.json'), 1, 'none of these was fetched');
});

test('the simulator refuses a client whose documents the server does not accept', async (t) => {
  const { service, host, user, browser } = await start(t);
  const id = host.publish('/simulated.json');
  assert.ok(isConsent(await browser.signIn(await browser.visit(request(service, id)), user)));
  const question = { client_id: id, user: user.login, grant_type: 'authorization_code', scopes: ['openid'] };
  const outcome = async (serverId: string) => {
    const { body } = await service.api('POST', `/authorizationServers/${serverId}/simulate`, question);
    return [body.outcome, body.refusal?.error];
  };
  assert.deepEqual(await outcome('default'), ['CONSENT', undefined]);
  assert.deepEqual(await outcome('built-in'), ['REFUSED', 'invalid_client']);
  for (const [allowedDomains, expected] of [
    [['example.com'], 'REFUSED'],
    [['localhost'], 'CONSENT'],
  ] as const) {
    await enable(service, { enabled: true, allowedDomains });
    assert.equal((await outcome('default'))[0], expected);
  }
});

test('an access policy can name a client before it was seen', async (t) => {
  const { service, host, user, browser } = await start(t);
  const [named, other] = [host.publish('/named.json'), host.publish('/other.json')];
  const { body: policies } = await service.api('GET', '/authorizationServers/default/policies');
  const only = { type: 'OAUTH_AUTHORIZATION_POLICY', name: 'Everything', conditions: { clients: { include: [named] } } };
  assert.equal((await service.api('PUT', `/authorizationServers/default/policies/${policies[0].id}`, only)).status, 200);
  assert.ok(isConsent(await browser.signIn(await browser.visit(request(service, named)), user)));
  assert.equal(answerOf(await browser.visit(request(service, other))).error, 'access_denied');
});
