/** The profile fapi2: FAPI 2.0 Security Profile Final, section 5.3.2 (authorization servers) and 5.4 (cryptography); docs/reference/fapi2.md lists its statements. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type CryptoKey, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import * as client from 'openid-client';
import { moveClock, stopClock } from '../../support/clock.ts';
import { listen } from '../../support/listen.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { GRANT as CIBA, reviewed, signedIn } from '../ciba/sign-in-requests.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post as postForm } from './relying-party.ts';

const now = () => Math.floor(Date.now() / 1000);

interface Bank {
  readonly service: Service;
  readonly clientId: string;
  readonly key: CryptoKey;
  readonly config: client.Configuration;
  readonly DPoP: client.DPoPHandle;
  readonly issuer: string;
}

/** A server of the profile, or an ordinary one with an application of the profile. */
async function bank(t: TestContext, { byServer = true, settings = {} as Record<string, unknown> } = {}): Promise<Bank> {
  const service = await startService(t);
  const server = { id: 'bank', name: 'Bank', description: '', audiences: ['https://api.bank.example'] };
  const created = await service.api('POST', '/authorizationServers', {
    ...server,
    ...(byServer ? { profile: 'fapi2', signingAlg: 'ES256' } : {}),
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const own = byServer ? {} : { profile: 'fapi2' };
  return bankAt(service, 'bank', { ...own, ...settings });
}

/** @param alg of what the server signs for the application */
async function bankAt(service: Service, serverId: string, settings: Record<string, unknown>, alg = 'ES256'): Promise<Bank> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const jwks = { keys: [{ kty, crv, x, y, kid: 'key', alg: 'ES256', use: 'sig' }] };
  const { clientId } = await createClient(
    service,
    { jwks, dpop_bound_access_tokens: true, ...settings },
    { token_endpoint_auth_method: 'private_key_jwt' },
  );
  const issuer = service.issuer(serverId);
  const metadata = { id_token_signed_response_alg: alg, authorization_signed_response_alg: alg };
  const authentication = client.PrivateKeyJwt({ key: privateKey, kid: 'key' });
  const config = await client.discovery(new URL(issuer), clientId, metadata, authentication, { execute: [client.allowInsecureRequests] });
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'));
  return { service, clientId, key: privateKey, config, DPoP, issuer };
}

async function begin({ config, DPoP }: Bank, extra: Record<string, string> = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const parameters = {
    redirect_uri: CALLBACK,
    scope: 'openid offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...extra,
  };
  return { url: await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP }), pkceCodeVerifier };
}

/** Posts a form with an assertion of the client's key. */
async function post(
  { clientId, key, issuer }: Bank,
  endpoint: string,
  form: Record<string, string>,
  claims: object = {},
  header = { alg: 'ES256', kid: 'key' },
  by = key,
  headers: Record<string, string> = {},
) {
  const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), ...claims })
    .setProtectedHeader(header)
    .setIssuedAt((claims as { iat?: number }).iat)
    .setExpirationTime((claims as { exp?: number }).exp ?? '1m')
    .sign(by);
  const proof = { client_assertion: assertion, client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
  const response = await fetch(`${issuer}/${endpoint}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ client_id: clientId, ...proof, ...form }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, string> };
}

const REQUEST = {
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'openid',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};

for (const byServer of [true, false]) {
  test(`the whole flow with openid-client: PAR, PKCE, DPoP, private_key_jwt, iss, ES256, no rotation; ${byServer ? 'a server' : 'an application'} of the profile`, async (t) => {
    const one = await bank(t, { byServer });
    const user = await one.service.createUser();
    const nonce = 'n'.repeat(64);
    const { url, pkceCodeVerifier } = await begin(one, { nonce });
    const browser = new UserAgent(one.service.baseUrl);
    const arrived = await browser.signIn(await browser.visit(url), user);
    assert.equal(answerOf(arrived).iss, one.issuer);
    assert.equal(answerOf(arrived).state, undefined, 'state is optional');
    const tokens = await client.authorizationCodeGrant(one.config, arrived.url, { pkceCodeVerifier, expectedNonce: nonce }, undefined, {
      DPoP: one.DPoP,
    });
    assert.equal(tokens.token_type, 'dpop');
    assert.equal(decodeProtectedHeader(tokens.id_token ?? '').alg, 'ES256');
    assert.equal(decodeProtectedHeader(tokens.access_token).alg, 'ES256');
    assert.ok((decodeJwt(tokens.access_token).cnf as { jkt?: string }).jkt);
    const refreshed = await client.refreshTokenGrant(one.config, tokens.refresh_token ?? '', undefined, { DPoP: one.DPoP });
    assert.equal(refreshed.refresh_token ?? tokens.refresh_token, tokens.refresh_token, 'refresh tokens are not rotated');
    assert.equal((await client.fetchUserInfo(one.config, refreshed.access_token, user.id, { DPoP: one.DPoP })).sub, user.id);
  });

  test(`what the profile forbids is refused with the rule; ${byServer ? 'a server' : 'an application'} of the profile`, async (t) => {
    const one = await bank(t, { byServer });
    const browser = new UserAgent(one.service.baseUrl);
    const plain = answerOf(
      await browser.visit(authorizeUrl(one.service, 'bank', { client_id: one.clientId, code_challenge: 'a'.repeat(43) })),
    );
    assert.equal(plain.error, 'invalid_request');
    assert.match(plain.error_description ?? '', /PAR endpoint/);
    assert.equal((await post(one, 'par', REQUEST)).status, 201);
    for (const [what, form, error] of [
      ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
      ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['an implicit response', { response_type: 'id_token', nonce: 'n' }, 'unauthorized_client'],
      ['no redirect_uri', { redirect_uri: '' }, 'invalid_request'],
    ] as const) {
      const { status, body } = await post(one, 'par', { ...REQUEST, ...form });
      assert.deepEqual([status, body.error], [400, error], what);
    }
    for (const [what, claims] of [
      ['the token endpoint', { aud: `${one.issuer}/token` }],
      ['the issuer in an array', { aud: [one.issuer] }],
    ] as const) {
      const { status, body } = await post(one, 'par', REQUEST, claims);
      assert.deepEqual([status, body.error], [401, 'invalid_client'], what);
    }
    const bearer = await post(one, 'token', { grant_type: 'client_credentials' });
    assert.equal(bearer.status, 400, 'neither grant nor token without a proof');
    const password = await post(one, 'token', { grant_type: 'password', username: 'a', password: 'b' });
    assert.deepEqual([password.status, password.body.error], [400, 'unauthorized_client']);
  });
}

test('an assertion signed by RS256 is refused, and so are applications of other settings: by the server, naming the setting', async (t) => {
  const one = await bank(t);
  const rsa = await generateKeyPair('RS256', { extractable: true });
  const { kty, n, e } = await exportJWK(rsa.publicKey);
  const pss = (await importJWK(await exportJWK(rsa.privateKey), 'PS256')) as CryptoKey;
  const both = { jwks: { keys: [{ kty, n, e, kid: 'rsa' }] }, dpop_bound_access_tokens: true };
  const weak = await createClient(one.service, both, { token_endpoint_auth_method: 'private_key_jwt' });
  const byRsa = await post({ ...one, clientId: weak.clientId }, 'par', REQUEST, {}, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey);
  assert.deepEqual([byRsa.status, byRsa.body.error], [401, 'invalid_client']);
  const byPss = await post({ ...one, clientId: weak.clientId }, 'par', REQUEST, {}, { alg: 'PS256', kid: 'rsa' }, pss);
  assert.equal(byPss.status, 201, JSON.stringify(byPss.body));

  const ordinary = await createClient(one.service);
  const response = await fetch(`${one.issuer}/par`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${ordinary.clientId}:${ordinary.clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ client_id: ordinary.clientId, ...REQUEST }),
  });
  const body = (await response.json()) as Record<string, string>;
  assert.deepEqual([response.status, body.error], [400, 'unauthorized_client']);
  assert.match(body.error_description ?? '', /FAPI 2\.0: token_endpoint_auth_method must be private_key_jwt/);
});

for (const alg of ['PS256', 'EdDSA'] as const) {
  test(`a server of the profile can sign with ${alg}; an application chooses among what the profile allows`, async (t) => {
    const service = await startService(t);
    const server = { id: 'bank', name: 'Bank', audiences: ['https://api.bank.example'], profile: 'fapi2', signingAlg: alg };
    assert.equal((await service.api('POST', '/authorizationServers', server)).status, 201);
    const document = (await (await fetch(`${service.issuer('bank')}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
    for (const kind of ['id_token', 'userinfo', 'introspection', 'authorization'])
      assert.deepEqual((document[`${kind}_signing_alg_values_supported`] as string[]).toSorted(), ['ES256', alg].toSorted());
    for (const [chosen, expected] of [
      [undefined, alg],
      ['RS256', alg],
      ['ES256', 'ES256'],
    ] as const) {
      const one = await bankAt(service, 'bank', { id_token_signed_response_alg: chosen }, expected);
      const user = await service.createUser();
      const { url, pkceCodeVerifier } = await begin(one);
      const browser = new UserAgent(service.baseUrl);
      const arrived = await browser.signIn(await browser.visit(url), user);
      const tokens = await client.authorizationCodeGrant(one.config, arrived.url, { pkceCodeVerifier }, undefined, { DPoP: one.DPoP });
      assert.equal(decodeProtectedHeader(tokens.id_token ?? '').alg, expected);
      assert.equal(decodeProtectedHeader(tokens.access_token).alg, alg);
    }
  });
}

test('clocks (section 5.3.2.1): times up to 10 seconds ahead are accepted, more than 60 refused, in assertions and proofs; an end is an end', async (t) => {
  stopClock(t);
  const one = await bank(t);
  for (const [what, claims, status] of [
    ['nbf now', { nbf: now() }, 201],
    ['nbf in 10 seconds', { nbf: now() + 10 }, 201],
    ['nbf in 61 seconds', { nbf: now() + 61 }, 401],
    ['iat in 10 seconds', { iat: now() + 10 }, 201],
    ['iat in 61 seconds', { iat: now() + 61 }, 401],
    ['exp a second ago', { exp: now() - 1 }, 401],
    ['exp now', { exp: now() }, 401],
    ['exp in a second', { exp: now() + 1 }, 201],
  ] as const) {
    const { status: answered, body } = await post(one, 'par', REQUEST, claims);
    assert.equal(answered, status, `${what}: ${JSON.stringify(body)}`);
  }
  const key = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y } = await exportJWK(key.publicKey);
  const push = async (ahead: number, nonce?: string) => {
    const proof = await new SignJWT({
      htm: 'POST',
      htu: `${one.issuer}/par`,
      jti: randomUUID(),
      iat: now() + ahead,
      ...(nonce && { nonce }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } as JWK })
      .sign(key.privateKey);
    return post(one, 'par', REQUEST, {}, undefined, undefined, { dpop: proof });
  };
  const pushed = await push(10);
  assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
  const nonce = pushed.headers.get('dpop-nonce') ?? assert.fail('a nonce is offered');
  for (const given of [undefined, nonce]) {
    const refused = await push(61, given);
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_dpop_proof']);
  }
});

test('a key set of the application with one kid twice: the algorithm decides which key verifies', async (t) => {
  const one = await bank(t);
  const rsa = await generateKeyPair('PS256', { extractable: true });
  const { body: app } = await one.service.api('GET', `/apps/${one.clientId}`);
  const [own] = app.settings.oauthClient.jwks.keys;
  const { kty, n, e } = await exportJWK(rsa.publicKey);
  const keys = [{ kty, n, e, kid: 'key', alg: 'PS256', use: 'sig' }, own];
  Object.assign(app.settings.oauthClient, { jwks: { keys }, grant_types: ['client_credentials', 'authorization_code'] });
  const saved = await one.service.api('PUT', `/apps/${one.clientId}`, app);
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  assert.equal((await post(one, 'par', REQUEST)).status, 201, 'by the second key');
  assert.equal((await post(one, 'par', REQUEST, {}, { alg: 'PS256', kid: 'key' }, rsa.privateKey)).status, 201, 'by the first');
});

test('an RSA key of 1024 bits at a jwks_uri verifies nothing, one of 2048 beside it does (section 5.4)', async (t) => {
  const pairs = { short: generateKeyPairSync('rsa', { modulusLength: 1024 }), long: generateKeyPairSync('rsa', { modulusLength: 2048 }) };
  const keys = Object.entries(pairs).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' }));
  const origin = await listen(t, '127.0.0.1', (_req, res) => res.end(JSON.stringify({ keys })));
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const settings = { application_type: 'service', jwks_uri: `${origin}/keys` };
  const { clientId } = await service.createApp(settings, { token_endpoint_auth_method: 'private_key_jwt' });
  // jose signs by no short key.
  const assertionBy = (kid: string, key: KeyObject): string => {
    const claims = { iss: clientId, sub: clientId, aud: service.issuer('default'), jti: randomUUID(), iat: now(), exp: now() + 60 };
    const parts = [{ alg: 'RS256', kid }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${parts}.${sign('sha256', Buffer.from(parts), key).toString('base64url')}`;
  };
  for (const [kid, status] of [
    ['short', 401],
    ['long', 200],
  ] as const) {
    const form = {
      grant_type: 'client_credentials',
      client_assertion: assertionBy(kid, pairs[kid].privateKey),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    };
    const answer = await postForm(service, 'default', 'token', { clientId, clientSecret: undefined }, form);
    assert.equal(answer.status, status, `${kid}: ${JSON.stringify(answer.body)}`);
  }
});

test('a code lives 60 seconds', async (t) => {
  stopClock(t);
  const one = await bank(t);
  const user = await one.service.createUser();
  for (const [seconds, isGood] of [
    [58, true],
    [61, false],
  ] as const) {
    const { url, pkceCodeVerifier } = await begin(one);
    const browser = new UserAgent(one.service.baseUrl);
    const arrived = await browser.signIn(await browser.visit(url), user);
    moveClock(t, seconds);
    const { status } = await post(one, 'token', {
      grant_type: 'authorization_code',
      code: answerOf(arrived).code ?? '',
      redirect_uri: CALLBACK,
      code_verifier: pkceCodeVerifier,
    }).then(({ body }) => ({ status: /DPoP|proof/.test(body.error_description ?? '') }));
    assert.equal(status, isGood, `${seconds} seconds: a good code lacks but the proof`);
  }
});

test('message signing: request objects are demanded and count alone; the response is signed', async (t) => {
  const one = await bank(t, { settings: { require_signed_request_object: true } });
  const refused = await post(one, 'par', REQUEST);
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_request']);
  assert.match(refused.body.error_description ?? '', /request object/);
  // Without iat, which FAPI 2.0 Message Signing does not want.
  const signed = (claims: object, alg = 'ES256') =>
    new SignJWT({ iss: one.clientId, aud: one.issuer, client_id: one.clientId, nbf: now(), exp: now() + 60, ...REQUEST, ...claims })
      .setProtectedHeader({ alg, kid: 'key' })
      .sign(one.key);
  for (const claims of [{ nbf: undefined }, { nbf: now() - 3700 }, { exp: now() + 3700 }]) {
    const { status, body } = await post(one, 'par', { request: await signed(claims) });
    assert.deepEqual([status, body.error], [400, 'invalid_request_object'], JSON.stringify(claims));
  }
  const pushed = await post(one, 'par', { request: await signed({ response_mode: 'jwt' }), state: 'of-the-form', nonce: 'of-the-form' });
  assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
  const url = `${one.issuer}/authorize?${new URLSearchParams({ client_id: one.clientId, request_uri: pushed.body.request_uri ?? '', state: 'of-the-query' })}`;
  const browser = new UserAgent(one.service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(url), await one.service.createUser());
  const { response = '' } = answerOf(arrived);
  assert.equal(decodeProtectedHeader(response).alg, 'ES256');
  const { state, iss, code } = decodeJwt(response);
  assert.deepEqual([state, iss, typeof code], [undefined, one.issuer, 'string'], 'what stands beside the request object does not count');
});

test('CIBA under the profile: the key of the client authenticates it, and the tokens are bound to a key', async (t) => {
  const one = await bank(t, { settings: { grant_types: [CIBA, 'authorization_code', 'refresh_token'] } });
  const user = await one.service.createUser();
  const asked = await client.initiateBackchannelAuthentication(one.config, { scope: 'openid offline_access', login_hint: user.login });
  const browser = await signedIn(one.service, user);
  assert.match((await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' })).text, /Allowed/);
  const polling = { ...asked, interval: 0.1 };
  const bare = client.pollBackchannelAuthenticationGrant(one.config, polling);
  await assert.rejects(bare, (error: client.ResponseBodyError) => error.error === 'invalid_grant', 'without a proof');
  const tokens = await client.pollBackchannelAuthenticationGrant(one.config, polling, undefined, { DPoP: one.DPoP });
  assert.deepEqual([tokens.token_type, tokens.claims()?.sub], ['dpop', user.id]);
  assert.equal((await client.refreshTokenGrant(one.config, tokens.refresh_token ?? '', undefined, { DPoP: one.DPoP })).token_type, 'dpop');
});

test('discovery announces the profile and nothing else', async (t) => {
  const { issuer } = await bank(t);
  const document = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  assert.equal(document.require_pushed_authorization_requests, true);
  assert.deepEqual(document.response_types_supported, ['code']);
  assert.deepEqual(document.token_endpoint_auth_methods_supported, ['private_key_jwt']);
  assert.deepEqual(document.id_token_signing_alg_values_supported, ['ES256']);
  assert.deepEqual(document.token_endpoint_auth_signing_alg_values_supported, ['PS256', 'ES256', 'EdDSA', 'Ed25519']);
  assert.ok(!(document.grant_types_supported as string[]).some((grant) => grant === 'implicit' || grant === 'password'));
  assert.equal(document.authorization_response_iss_parameter_supported, true);
});

test('settings: an application of the profile and a server of the profile are saved only if they follow it', async (t) => {
  const service = await startService(t);
  const server = { name: 'Bank', description: '', audiences: ['https://api.bank.example'], profile: 'fapi2' };
  const rs256 = await service.api('POST', '/authorizationServers', server);
  assert.equal(rs256.status, 400);
  assert.match(JSON.stringify(rs256.body), /signingAlg.*must be PS256, ES256 or EdDSA with profile fapi2/);
  const refused = await service.api('POST', '/apps', {
    name: 'oidc_client',
    label: 'Old',
    signOnMode: 'OPENID_CONNECT',
    settings: {
      oauthClient: {
        profile: 'fapi2',
        redirect_uris: ['http://localhost/cb'],
        response_types: ['code', 'id_token'],
        grant_types: ['password'],
      },
    },
  });
  assert.equal(refused.status, 400);
  for (const field of ['token_endpoint_auth_method', 'dpop_bound_access_tokens', 'response_types', 'grant_types', 'redirect_uris'])
    assert.match(JSON.stringify(refused.body), new RegExp(`${field}.*profile fapi2`), field);
});

test('the simulator knows the profile', async (t) => {
  const one = await bank(t);
  const ordinary = await createClient(one.service);
  const user = await one.service.createUser();
  const simulate = async (clientId: string) =>
    (
      await one.service.api('POST', '/authorizationServers/bank/simulate', {
        client_id: clientId,
        user: user.id,
        grant_type: 'authorization_code',
        scopes: ['openid'],
      })
    ).body;
  assert.equal((await simulate(one.clientId)).outcome, 'TOKENS');
  const refused = await simulate(ordinary.clientId);
  assert.equal(refused.outcome, 'REFUSED');
  assert.match(JSON.stringify(refused), /FAPI 2\.0: token_endpoint_auth_method/);
});
