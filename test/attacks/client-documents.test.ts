/** What strangers can make the service do by a client ID that is a URL (draft-ietf-oauth-client-id-metadata-document section 8; OWASP SSRF Prevention). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Response } from 'undici';
import { ClientDocuments } from '../../src/features/client-documents/client-documents.service.ts';
import { timings } from '../../src/platform/clock/timings.ts';
import { authorizeUrl, createClient, post } from '../protocol/servers/relying-party.ts';
import { documentHost, listenSecurely } from '../support/https-host.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

async function start(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const service = await startService(t, { env });
  await service.api('PUT', '/authorizationServers/default', { name: 'Default', clientIdMetadata: { enabled: true } });
  const browser = new UserAgent(service.baseUrl);
  const visit = async (clientId: string) => (await browser.visit(authorizeUrl(service, 'default', { client_id: clientId }))).text;
  return { service, visit };
}

test('no document is fetched from a private address, whatever name leads there; all are refused with the same words', async (t) => {
  const { visit } = await start(t);
  const host = await documentHost(t);
  host.publish('/client.json');
  const port = new URL(host.origin).port;
  for (const name of ['localhost', '127.0.0.1', '10.0.0.1', '169.254.169.254', '100.100.100.200', '192.168.0.1']) {
    const page = await visit(`https://${name}:${port}/client.json`);
    assert.match(page, /invalid_client/, name);
    assert.match(page, /the document cannot be fetched/, name);
  }
  assert.equal(host.asked('/client.json'), 0);
});

test('a jwks_uri of a document is fetched by the same guarded client', async (t) => {
  const { service, visit } = await start(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const host = await documentHost(t);
  for (const address of ['http://169.254.169.254/keys', 'https://168.63.129.16/keys', `${host.origin}/redirect`]) {
    host.publish('/redirect', {}, { status: 302, headers: { location: `${host.origin}/keys` } });
    const id = host.publish('/client.json', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: address });
    assert.doesNotMatch(await visit(id), /cannot be fetched/);
    const header = Buffer.from('{"alg":"ES256"}').toString('base64url');
    const claims = Buffer.from(
      JSON.stringify({ iss: id, sub: id, aud: service.issuer('default'), jti: address, exp: Date.now() / 1000 + 60 }),
    );
    const { status, body } = await post(
      service,
      'default',
      'token',
      { clientId: id, clientSecret: undefined },
      {
        grant_type: 'authorization_code',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: `${header}.${claims.toString('base64url')}.${'A'.repeat(86)}`,
      },
    );
    assert.ok(status === 400 || status === 401, `${status} ${JSON.stringify(body)}`);
    assert.equal(host.asked('/keys'), 0);
  }
});

test('a slow and an endless document are given up in time', async (t) => {
  const { visit } = await start(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const { outbound } = timings;
  timings.outbound = 500;
  t.after(() => {
    timings.outbound = outbound;
  });
  const origin = await listenSecurely(t, async (req, res) => {
    if (req.url === '/silent.json') return;
    res.writeHead(200, { 'content-type': 'application/json' });
    for (let turn = 0; turn < 200 && !res.destroyed; turn += 1) {
      res.write('{');
      await delay(100);
    }
  });
  assert.match(await visit(`${origin}/silent.json`), /cannot be fetched/);
  assert.match(await visit(`${origin}/slow.json`), /could not be read in time/);
});

test('many requests for one client fetch its document once; one network can introduce sixty in ten minutes', async (t) => {
  const { visit } = await start(t, { ALLOW_PRIVATE_NETWORK: 'true', RATE_LIMITS: 'true' });
  const host = await documentHost(t);
  const id = host.publish('/popular.json');
  await Promise.all(Array.from({ length: 20 }, () => visit(id)));
  assert.equal(host.asked('/popular.json'), 1);
  const results: boolean[] = [];
  for (let turn = 0; turn < 62; turn += 1)
    results.push((await visit(host.publish(`/${turn}.json`))).includes('too many clients were introduced'));
  assert.deepEqual([results.indexOf(true), results.filter(Boolean).length], [59, 3]);
  assert.doesNotMatch(await visit(id), /invalid_client/, 'clients that are known go on');
});

test('10,000 different clients are kept within bounds', async () => {
  const padding = 'x'.repeat(1500);
  const documents = new ClientDocuments({
    rateLimits: false,
    outbound: async (url) => {
      const body = JSON.stringify({
        client_id: url,
        redirect_uris: ['https://app.example/callback'],
        client_uri: `https://app.example/${padding}`,
      });
      return new Response(body, { headers: { 'content-type': 'application/json', 'cache-control': 'max-age=86400' } });
    },
  });
  for (let turn = 0; turn < 10_000; turn += 1) await documents.find(`https://host${turn}.example/client.json`, { network: 'n' });
  assert.ok(documents.size > 500 && documents.size < 2000, `${documents.size} are kept`);
});

test('a client that is a URL has no secret, no other grant, and no way around its consent', async (t) => {
  const { service } = await start(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const host = await documentHost(t);
  const id = host.publish('/client.json', { grant_types: ['authorization_code', 'client_credentials', 'password', 'implicit'] });
  const user = await service.createUser();
  const client = { clientId: id, clientSecret: undefined };
  for (const form of [
    { grant_type: 'client_credentials' },
    { grant_type: 'password', username: user.login, password: user.password, scope: 'openid' },
  ])
    assert.equal((await post(service, 'default', 'token', client, form)).body.error, 'unauthorized_client');
  assert.equal((await post(service, 'default', 'introspect', client, { token: 'x' })).body.active ?? false, false);
  const { clientId } = await createClient(service);
  const { status } = await service.api('POST', '/apps', { label: 'x', credentials: { oauthClient: { client_id: 'https://a.example/' } } });
  assert.equal(status, 400, `no application of ours can take the name of one (${clientId})`);
});
