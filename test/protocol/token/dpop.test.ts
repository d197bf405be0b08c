/** Tokens that are bound to a key (DPoP, RFC 9449): by two libraries, at every endpoint, and what a thief of each part can do. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { calculateJwkThumbprint, decodeJwt, exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { moveClock, stopClock } from '../../support/clock.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  type TestClient,
  verifier,
} from '../servers/relying-party.ts';

interface Key extends GenerateKeyPairResult {
  readonly jwk: JWK;
  readonly jkt: string;
}

async function newKey(alg = 'ES256'): Promise<Key> {
  const pair = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  return { ...pair, jwk, jkt: await calculateJwkThumbprint(jwk) };
}

interface ProofParts {
  readonly htm?: string;
  readonly token?: string;
  readonly nonce?: string;
  readonly jti?: string;
  readonly iat?: number;
  readonly alg?: string;
  readonly typ?: string;
}

const now = () => Math.floor(Date.now() / 1000);

const proofOf = (
  key: Key,
  htu: string,
  { htm = 'POST', token, nonce, jti = randomUUID(), iat = now(), alg = 'ES256', typ = 'dpop+jwt' }: ProofParts = {},
) =>
  new SignJWT({
    htm,
    htu,
    jti,
    iat,
    ...(nonce && { nonce }),
    ...(token && { ath: createHash('sha256').update(token).digest('base64url') }),
  })
    .setProtectedHeader({ alg, typ, jwk: key.jwk })
    .sign(key.privateKey);

/** Posts a form with a proof; @param at where the service is reached */
async function post(
  service: Service,
  serverId: string,
  endpoint: string,
  by: TestClient,
  form: Record<string, string>,
  proof?: string,
): Promise<JsonAnswer> {
  const { clientId, clientSecret } = by;
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (proof !== undefined) headers.dpop = proof;
  if (clientSecret !== undefined) headers.authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const body = new URLSearchParams(clientSecret === undefined ? { client_id: clientId, ...form } : form).toString();
  const response = await fetch(`${service.issuer(serverId)}/${endpoint}`, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

async function userinfo(service: Service, serverId: string, scheme: string, token: string, proof?: string): Promise<JsonAnswer> {
  const headers = { authorization: `${scheme} ${token}`, ...(proof && { dpop: proof }) };
  const response = await fetch(`${service.issuer(serverId)}/userinfo`, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function withCode(service: Service, by: TestClient, serverId: string, more: Record<string, string> = {}) {
  const user = await service.createUser({ displayName: 'Grace Hopper' });
  const proof = verifier();
  const parameters = { client_id: by.clientId, scope: 'openid profile offline_access', code_challenge: challengeOf(proof), ...more };
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit(authorizeUrl(service, serverId, parameters)), user);
  return { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK, code_verifier: proof };
}

const bound = { dpop_bound_access_tokens: true };

for (const serverId of ['built-in', 'default']) {
  test(`openid-client binds its tokens, from the pushed request to userinfo and refresh: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser({ displayName: 'Grace Hopper' });
    const { clientId, clientSecret } = await createClient(service, bound);
    const issuer = new URL(service.issuer(serverId));
    const execute = [client.allowInsecureRequests];
    const config = await client.discovery(issuer, clientId, undefined, client.ClientSecretBasic(clientSecret ?? ''), { execute });
    assert.deepEqual(config.serverMetadata().dpop_signing_alg_values_supported, ['ES256', 'PS256', 'Ed25519', 'EdDSA']);
    const keys = await client.randomDPoPKeyPair('ES256', { extractable: true });
    const DPoP = client.getDPoPHandle(config, keys);
    const jkt = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    const parameters = {
      redirect_uri: CALLBACK,
      scope: 'openid profile offline_access',
      state: expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    };
    const url = await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP });
    const browser = new UserAgent(service.baseUrl);
    const arrived = await browser.signIn(await browser.visit(url), user);
    const tokens = await client.authorizationCodeGrant(config, arrived.url, { pkceCodeVerifier, expectedState }, undefined, { DPoP });
    assert.equal(tokens.token_type, 'dpop');
    assert.equal((await client.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })).name, 'Grace Hopper');
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
    assert.equal(refreshed.token_type, 'dpop');
    const told = await client.tokenIntrospection(config, refreshed.access_token);
    assert.deepEqual([told.active, told.token_type, told.cnf?.jkt], [true, 'DPoP', jkt]);
    if (serverId === 'default') assert.deepEqual(decodeJwt(refreshed.access_token).cnf, { jkt });
    await client.tokenRevocation(config, refreshed.access_token);
    await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, user.id, { DPoP }));
  });
}

test('oauth4webapi: client credentials with a proof and a nonce of the server', async (t) => {
  const service = await startService(t);
  const created = await service.createApp({ application_type: 'service', ...bound });
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer('default'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const rp: oauth.Client = { client_id: created.clientId };
  const keys = await oauth.generateKeyPair('ES256', { extractable: true });
  const DPoP = oauth.DPoP(rp, keys);
  const authentication = oauth.ClientSecretBasic(created.clientSecret ?? '');
  const ask = () => oauth.clientCredentialsGrantRequest(server, rp, authentication, new URLSearchParams(), { ...insecure, DPoP });
  for (let n = 0; n < 2; n += 1) {
    const response = await ask();
    const { access_token: token, token_type: type } = await oauth.processClientCredentialsResponse(server, rp, response);
    assert.equal(type, 'dpop');
    const request = new Request('https://api.example/orders', {
      headers: {
        authorization: `DPoP ${token}`,
        dpop: await proofOf({ ...keys, jwk: await exportJWK(keys.publicKey), jkt: '' }, 'https://api.example/orders', {
          htm: 'GET',
          token,
        }),
      },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, 'api://default', insecure);
    assert.equal((claims.cnf as { jkt: string }).jkt, await calculateJwkThumbprint(await exportJWK(keys.publicKey)));
  }
});

test('a bound access token without the key opens nothing: bearer, other key, wrong htu, htm, ath and nonce, old proof', async (t) => {
  stopClock(t);
  for (const serverId of ['built-in', 'default']) {
    const service = await startService(t);
    const one = await createClient(service, bound);
    const [key, other] = [await newKey(), await newKey()];
    const issuer = service.issuer(serverId);
    const { body: tokens } = await post(
      service,
      serverId,
      'token',
      one,
      await withCode(service, one, serverId),
      await proofOf(key, `${issuer}/token`),
    );
    const token = String(tokens.access_token);
    const at = `${issuer}/userinfo`;
    const good = { htm: 'GET', token };
    assert.equal((await userinfo(service, serverId, 'DPoP', token, await proofOf(key, at, good))).status, 200);
    assert.equal(
      (await userinfo(service, serverId, 'DPoP', token, await proofOf(key, `${at}?a=b#c`, good))).status,
      200,
      'query and fragment do not count',
    );
    const bad: [what: string, scheme: string, proof: string | undefined][] = [
      ['as a bearer token', 'Bearer', undefined],
      ['without a proof', 'DPoP', undefined],
      ['as a bearer token, with a proof', 'Bearer', await proofOf(key, at, good)],
      ['of another key', 'DPoP', await proofOf(other, at, good)],
      ['another method', 'DPoP', await proofOf(key, at, { ...good, htm: 'POST' })],
      ['another endpoint', 'DPoP', await proofOf(key, `${issuer}/token`, good)],
      ['another host', 'DPoP', await proofOf(key, 'https://evil.example/userinfo', good)],
      ['another token', 'DPoP', await proofOf(key, at, { ...good, token: 'another' })],
      ['no token', 'DPoP', await proofOf(key, at, { htm: 'GET' })],
      ['a nonce that was made up', 'DPoP', await proofOf(key, at, { ...good, nonce: 'x'.repeat(43) })],
      ['too old', 'DPoP', await proofOf(key, at, { ...good, iat: now() - 301 })],
      ['of the future', 'DPoP', await proofOf(key, at, { ...good, iat: now() + 302 })],
      ['more than a minute ahead', 'DPoP', await proofOf(key, at, { ...good, iat: now() + 61 })],
      ['of another type', 'DPoP', await proofOf(key, at, { ...good, typ: 'JWT' })],
      ['no JWT', 'DPoP', 'nonsense'],
    ];
    for (const [what, scheme, proof] of bad) {
      const { status, body, headers } = await userinfo(service, serverId, scheme, token, proof);
      assert.ok(status === 400 || status === 401, `${what}: ${status} ${JSON.stringify(body)}`);
      assert.ok(body.error, what);
      assert.match(headers.get('www-authenticate') ?? '', /^(DPoP|Bearer) error=/, what);
    }
    const nonced = await userinfo(service, serverId, 'DPoP', token, await proofOf(key, at, { ...good, nonce: 'x'.repeat(43) }));
    assert.deepEqual([nonced.status, nonced.body.error], [401, 'use_dpop_nonce']);
    assert.match(nonced.headers.get('www-authenticate') ?? '', /^DPoP error="use_dpop_nonce".*algs="ES256 PS256/);
    const nonce = nonced.headers.get('dpop-nonce') ?? '';
    assert.equal(
      (await userinfo(service, serverId, 'DPoP', token, await proofOf(key, at, { ...good, nonce, iat: 1 }))).status,
      200,
      'by a nonce the clock does not matter',
    );
    const ahead = await proofOf(key, at, { ...good, nonce, iat: now() + 200 });
    assert.equal((await userinfo(service, serverId, 'DPoP', token, ahead)).status, 200, 'nor does one that is ahead');
    const replayed = await proofOf(key, at, good);
    assert.equal((await userinfo(service, serverId, 'DPoP', token, replayed)).status, 200);
    assert.deepEqual((await userinfo(service, serverId, 'DPoP', token, replayed)).body.error, 'invalid_token');
  }
});

test('the token endpoint demands a proof where tokens must be bound, and binds on request', async (t) => {
  const service = await startService(t);
  const at = `${service.issuer('built-in')}/token`;
  const [one, free] = [await createClient(service, bound), await createClient(service)];
  const key = await newKey();
  const code = await withCode(service, one, 'built-in');
  const without = await post(service, 'built-in', 'token', one, code);
  assert.deepEqual([without.status, without.body.error], [400, 'invalid_grant']);
  assert.match(without.body.error_description, /dpop_bound_access_tokens/);
  const used = await proofOf(key, at);
  const first = await post(service, 'built-in', 'token', one, code, used);
  assert.deepEqual([first.status, first.body.token_type], [200, 'DPoP'], 'the refusal used no code up');
  const replay = await post(
    service,
    'built-in',
    'token',
    one,
    { grant_type: 'refresh_token', refresh_token: first.body.refresh_token },
    used,
  );
  assert.deepEqual([replay.status, replay.body.error], [400, 'invalid_grant']);
  assert.match(replay.body.error_description, /already used/);
  const down = await post(service, 'built-in', 'token', one, { grant_type: 'refresh_token', refresh_token: first.body.refresh_token });
  assert.deepEqual([down.status, down.body.error], [400, 'invalid_grant'], 'no downgrade to a bearer token');
  const up = await post(
    service,
    'built-in',
    'token',
    one,
    { grant_type: 'refresh_token', refresh_token: first.body.refresh_token },
    await proofOf(key, at),
  );
  assert.equal(up.body.token_type, 'DPoP');

  const plain = await post(service, 'built-in', 'token', free, await withCode(service, free, 'built-in'));
  assert.equal(plain.body.token_type, 'Bearer');
  const asked = await post(service, 'built-in', 'token', free, await withCode(service, free, 'built-in'), await proofOf(key, at));
  assert.equal(asked.body.token_type, 'DPoP');
});

test('the refresh token of a public client is bound: stolen, it is worth nothing without the key', async (t) => {
  const service = await startService(t);
  const spa = await createClient(service, { application_type: 'browser' });
  const at = `${service.issuer('built-in')}/token`;
  const [key, thief] = [await newKey(), await newKey()];
  const { body } = await post(service, 'built-in', 'token', spa, await withCode(service, spa, 'built-in'), await proofOf(key, at));
  const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
  for (const proof of [undefined, await proofOf(thief, at)]) {
    const stolen = await post(service, 'built-in', 'token', spa, refresh, proof);
    assert.deepEqual([stolen.status, stolen.body.error], [400, 'invalid_grant']);
    assert.match(stolen.body.error_description, /bound to a key/);
  }
  assert.equal(
    (await post(service, 'built-in', 'token', spa, refresh, await proofOf(key, at))).status,
    200,
    'the attempts have not ended it',
  );
});

test('dpop_jkt binds the code: stolen, it is worth nothing without the key; with par the proof of the push does', async (t) => {
  const service = await startService(t);
  const one = await createClient(service);
  const issuer = service.issuer('built-in');
  const [key, thief] = [await newKey(), await newKey()];
  const code = await withCode(service, one, 'built-in', { dpop_jkt: key.jkt });
  for (const proof of [undefined, await proofOf(thief, `${issuer}/token`)]) {
    assert.equal((await post(service, 'built-in', 'token', one, code, proof)).body.error, 'invalid_grant');
  }
  assert.equal((await post(service, 'built-in', 'token', one, code, await proofOf(key, `${issuer}/token`))).status, 200);

  const bad = answerOf(
    await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: one.clientId, dpop_jkt: 'short' })),
  );
  assert.equal(bad.error, 'invalid_request');
  const request = { client_id: one.clientId, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 's' };
  const mismatch = await post(service, 'built-in', 'par', one, { ...request, dpop_jkt: thief.jkt }, await proofOf(key, `${issuer}/par`));
  assert.deepEqual([mismatch.status, mismatch.body.error], [400, 'invalid_request']);
  const pushed = await post(service, 'built-in', 'par', one, request, await proofOf(key, `${issuer}/par`));
  const url = `${issuer}/authorize?${new URLSearchParams({ client_id: one.clientId, request_uri: pushed.body.request_uri })}`;
  const browser = new UserAgent(service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(url), await service.createUser());
  const exchange = { grant_type: 'authorization_code', code: answerOf(arrived).code ?? '', redirect_uri: CALLBACK };
  assert.equal(
    (await post(service, 'built-in', 'token', one, exchange, await proofOf(thief, `${issuer}/token`))).body.error,
    'invalid_grant',
  );
  assert.equal((await post(service, 'built-in', 'token', one, exchange, await proofOf(key, `${issuer}/token`))).status, 200);
});

async function twoProcesses(t: TestContext) {
  const [first, second] = await startTwo(t);
  const machine = await first.createApp({ application_type: 'service', ...bound });
  // What a proof names is the public address, wherever the request arrives.
  const htu = `${first.issuer('built-in')}/token`;
  const ask = (at: Service, proof: string) => post(at, 'built-in', 'token', machine, { grant_type: 'client_credentials' }, proof);
  return { first, second, htu, ask };
}

test('at two processes: a proof is used once, also by forty at once; a nonce of one is good at the other; htu is the public address', async (t) => {
  const { first, second, htu, ask } = await twoProcesses(t);
  const key = await newKey();
  const proof = await proofOf(key, htu);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? first : second, proof)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.deepEqual(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error)), new Set(['invalid_grant']));
  const nonce = answers.find(({ status }) => status === 200)?.headers.get('dpop-nonce') ?? '';
  assert.equal((await ask(second, await proofOf(key, htu, { nonce }))).status, 200);
  assert.equal((await ask(first, await proofOf(key, htu, { nonce }))).status, 200);
  const inner = await ask(second, await proofOf(key, `${second.listensAt}/oauth/v1/token`));
  assert.deepEqual([inner.status, inner.body.error], [400, 'invalid_dpop_proof']);
});

test('behind a proxy htu is BASE_URL, whatever Host and the forwarding headers say', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example', TRUST_PROXY: '1' } });
  const local = await service.api('POST', '/apps', {
    name: 'oidc_client',
    label: 'Machine',
    signOnMode: 'OPENID_CONNECT',
    settings: { oauthClient: { application_type: 'service', ...bound } },
  });
  const { client_id: id, client_secret: secret } = local.body.credentials.oauthClient;
  const key = await newKey();
  const ask = async (htu: string) =>
    (
      await fetch(`${service.listensAt}/oauth/v1/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
          dpop: await proofOf(key, htu),
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'https',
        },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
    ).status;
  assert.equal(await ask('https://id.example/oauth/v1/token'), 200);
  assert.equal(await ask('https://evil.example/oauth/v1/token'), 400);
  assert.equal(await ask(`${service.listensAt}/oauth/v1/token`), 400);
});

test('a proof of the future is remembered until it is over', async (t) => {
  stopClock(t);
  const { first, second, htu, ask } = await twoProcesses(t);
  const key = await newKey();
  const proof = await proofOf(key, htu, { iat: now() + 59 });
  assert.equal((await ask(first, proof)).status, 200);
  moveClock(t, 350);
  assert.equal((await ask(second, proof)).body.error, 'invalid_grant');
});

test('introspection and revocation take a proof of the token’s key alone; the fast way leaves bound tokens to the library', async (t) => {
  const service = await startService(t);
  const issuer = service.issuer('built-in');
  const machine = await service.createApp({ application_type: 'service', ...bound });
  const [key, other] = [await newKey(), await newKey()];
  const { body } = await post(
    service,
    'built-in',
    'token',
    machine,
    { grant_type: 'client_credentials' },
    await proofOf(key, `${issuer}/token`),
  );
  const token = String(body.access_token);
  const told = await post(service, 'built-in', 'introspect', machine, { token });
  assert.deepEqual([told.body.active, told.body.token_type, told.body.cnf], [true, 'DPoP', { jkt: key.jkt }]);
  for (const endpoint of ['introspect', 'revoke']) {
    const wrong = await post(service, 'built-in', endpoint, machine, { token }, await proofOf(other, `${issuer}/${endpoint}`));
    assert.deepEqual([wrong.status, wrong.body?.error], [400, 'invalid_dpop_proof'], endpoint);
  }
  assert.equal(
    (await post(service, 'built-in', 'introspect', machine, { token }, await proofOf(key, `${issuer}/introspect`))).body.active,
    true,
  );
  assert.equal((await post(service, 'built-in', 'revoke', machine, { token }, await proofOf(key, `${issuer}/revoke`))).status, 200);
  assert.equal((await post(service, 'built-in', 'introspect', machine, { token })).body.active, false);
});

test('the password grant binds as the others do', async (t) => {
  const service = await startService(t);
  const one = await createClient(service, { grant_types: ['password', 'refresh_token'], response_types: [], ...bound });
  const { login: username, password } = await service.createUser();
  const at = `${service.issuer('built-in')}/token`;
  const grant = { grant_type: 'password', username, password, scope: 'openid offline_access' };
  assert.equal((await post(service, 'built-in', 'token', one, grant)).body.error, 'invalid_grant');
  const key = await newKey('PS256');
  const { status, body } = await post(service, 'built-in', 'token', one, grant, await proofOf(key, at, { alg: 'PS256' }));
  assert.deepEqual([status, body.token_type], [200, 'DPoP'], JSON.stringify(body));
});

test('an application whose tokens are bound cannot get tokens from the authorize endpoint', async (t) => {
  const service = await startService(t);
  const refused = await service.api('POST', '/apps', {
    name: 'oidc_client',
    label: 'Both',
    signOnMode: 'OPENID_CONNECT',
    settings: { oauthClient: { redirect_uris: [CALLBACK], response_types: ['code token'], ...bound } },
  });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.body), /dpop_bound_access_tokens/);
});
