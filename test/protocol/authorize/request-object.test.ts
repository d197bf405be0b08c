/** The `request` parameter of the authorize endpoint (identity-service.md, "request (JWT) rules"; OpenID Connect Core section 6; RFC 9101). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { listen } from '../../support/listen.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, type TestClient, verifier } from '../servers/relying-party.ts';

type Key = JWK | Uint8Array;
const now = () => Math.floor(Date.now() / 1000);
const SECRET = randomBytes(64).toString('base64url');
const secretKey = new TextEncoder().encode(SECRET);
const EVERYTHING = { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'id_token'] };

test('signed requests at the authorize endpoint', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const rsa = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);
  const ec = await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey);
  const otherEc = await exportJWK((await generateKeyPair('ES256')).publicKey);
  const publicRsa = { kty: 'RSA', n: rsa.n, e: rsa.e };
  const publicEc = { kty: 'EC', crv: ec.crv, x: ec.x, y: ec.y };
  const bySecret = await createClient(service, EVERYTHING, { client_secret: SECRET });
  const ed = await exportJWK((await generateKeyPair('EdDSA', { extractable: true })).privateKey);
  const publicEd = { kty: 'OKP', crv: ed.crv, x: ed.x };
  const jwks = { keys: [publicEd, publicRsa, otherEc, publicEc] };
  const byKey = await createClient(service, { ...EVERYTHING, jwks }, { token_endpoint_auth_method: 'private_key_jwt' });

  interface Making {
    readonly claims?: Record<string, unknown>;
    readonly alg?: string;
    readonly key?: Key;
    readonly client?: TestClient;
    readonly server?: string;
    readonly header?: Record<string, string>;
  }
  const object = async ({
    claims = {},
    alg = 'HS256',
    key = secretKey,
    client = bySecret,
    server = 'built-in',
    header = {},
  }: Making = {}) => {
    const standard = { iss: client.clientId, aud: service.issuer(server), iat: now(), exp: now() + 60 };
    const payload = Object.fromEntries(Object.entries({ ...standard, ...claims }).filter(([, value]) => value !== undefined));
    const signing = key instanceof Uint8Array ? key : await importJWK(key, alg);
    return new SignJWT(payload).setProtectedHeader({ alg, ...header }).sign(signing);
  };
  const ask = async (request: string, query: Record<string, string | undefined> = {}, client = bySecret, server = 'built-in') => {
    const page = await new UserAgent(service.baseUrl).visit(
      authorizeUrl(service, server, { client_id: client.clientId, prompt: 'none', request, ...query }),
    );
    return { page, answer: answerOf(page) };
  };

  const chosen = await createClient(
    service,
    { ...EVERYTHING, jwks, request_object_signing_alg: 'ES256' },
    { token_endpoint_auth_method: 'private_key_jwt' },
  );

  const good: [what: string, make: () => Making, client?: () => TestClient][] = [
    ...['HS256', 'HS384', 'HS512'].map((alg): (typeof good)[number] => [`${alg} with the client secret`, () => ({ alg })]),
    ...['RS256', 'RS384', 'RS512', 'PS256'].map((alg): (typeof good)[number] => [
      `${alg} with a registered key`,
      () => ({ alg, key: rsa, client: byKey }),
      () => byKey,
    ]),
    ['EdDSA with a registered key', () => ({ alg: 'EdDSA', key: ed, client: byKey }), () => byKey],
    ['ES256, whose key is one of two of its kind', () => ({ alg: 'ES256', key: ec, client: byKey }), () => byKey],
    ['the algorithm that the application has chosen', () => ({ alg: 'ES256', key: ec, client: chosen }), () => chosen],
    ['the type of RFC 9101', () => ({ header: { typ: 'oauth-authz-req+jwt' } })],
    ['the type of RFC 9101 in any case', () => ({ header: { typ: 'OautH-auThZ-REQ+jWt' } })],
    ['an nbf a few seconds ahead', () => ({ claims: { nbf: now() + 8 } })],
    ['its application as the subject', () => ({ claims: { sub: bySecret.clientId } })],
    ['claims that are no parameters, of any type', () => ({ claims: { foo: { a: [1] }, bar: ['x'], cnf: { jkt: 'x' }, amr: [] } })],
  ];
  for (const [what, make, client = () => bySecret] of good) {
    await t.test(`takes ${what}: the JWT's parameters are the request's`, async () => {
      const request = await object({ ...make(), claims: { state: 'from-the-jwt', ...make().claims } });
      const { page, answer } = await ask(request, { state: 'from-the-query' }, client());
      assert.equal(page.url.origin + page.url.pathname, CALLBACK, page.text);
      assert.deepEqual([answer.error, answer.state], ['login_required', 'from-the-jwt']);
    });
  }

  const bad: [what: string, make: () => Making | Promise<string>, client?: () => TestClient][] = [
    ['no issuer', () => ({ claims: { iss: undefined } })],
    ['another issuer', () => ({ claims: { iss: byKey.clientId } })],
    ['no audience', () => ({ claims: { aud: undefined } })],
    ['the audience of another server', () => ({ server: 'default' })],
    ['no iat', () => ({ claims: { iat: undefined } })],
    ['an iat of the future', () => ({ claims: { iat: now() + 3600, exp: now() + 7200 } })],
    ['an exp of far away', () => ({ claims: { jti: 'far', exp: 8e12 } })],
    ['no exp', () => ({ claims: { exp: undefined } })],
    ['an exp just over', () => ({ claims: { exp: now() } })],
    ['an nbf to come', () => ({ claims: { nbf: now() + 60 } })],
    ['another client_id than the query', () => ({ claims: { client_id: byKey.clientId } })],
    ['another response_type than the query', () => ({ claims: { response_type: 'id_token' } })],
    ['a request object within', () => ({ claims: { request: 'x' } })],
    ['a request_uri within', () => ({ claims: { request_uri: 'https://app.example/request' } })],
    ['an array for a parameter', () => ({ claims: { scope: ['openid'] } })],
    ['an object for a parameter', () => ({ claims: { state: { a: 1 } } })],
    ['an access token type', () => ({ header: { typ: 'at+jwt' } })],
    ['another secret', () => ({ key: randomBytes(64) })],
    [
      'an RSA key that is not registered',
      async () =>
        object({ alg: 'RS256', key: await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey), client: byKey }),
      () => byKey,
    ],
    ["another application's key", () => ({ alg: 'RS256', key: rsa })],
    [
      'the public key as an HMAC secret (RS to HS)',
      async () => object({ alg: 'HS256', key: new TextEncoder().encode(JSON.stringify(publicRsa)), client: byKey }),
      () => byKey,
    ],
    [
      'an algorithm that is not offered',
      async () =>
        object({ alg: 'ES512', key: await exportJWK((await generateKeyPair('ES512', { extractable: true })).privateKey), client: byKey }),
      () => byKey,
    ],
    ['another algorithm than the application has chosen', () => ({ alg: 'RS256', key: rsa, client: chosen }), () => chosen],
    [
      'alg none',
      async () =>
        new UnsecuredJWT({ iss: bySecret.clientId, aud: service.issuer('built-in') }).setIssuedAt().setExpirationTime('1m').encode(),
    ],
    ['a signature cut off', async () => (await object()).replace(/[^.]+$/, '')],
    [
      'a changed payload',
      async () =>
        (await object()).replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify({ iss: bySecret.clientId })).toString('base64url')}.`),
    ],
    ['no JWT', async () => 'nonsense'],
    ['an encrypted one', async () => 'a.b.c.d.e'],
    ['crit with what nobody knows', async () => `${Buffer.from('{"alg":"HS256","crit":["x"],"x":1}').toString('base64url')}.e30.e30`],
  ];
  for (const [what, make, client = () => bySecret] of bad) {
    await t.test(`refuses ${what} with invalid_request_object, by redirect`, async () => {
      const made = make();
      const { page, answer } = await ask(made instanceof Promise ? await made : await object(made), {}, client());
      assert.equal(page.url.origin + page.url.pathname, CALLBACK, page.text);
      assert.deepEqual([answer.error, answer.state], ['invalid_request_object', 'some-state'], answer.error_description);
    });
  }

  await t.test('refuses a request_uri beside it (RFC 9126 section 2.1)', async () => {
    const { answer } = await ask(await object(), { request_uri: 'https://app.example/request' });
    assert.equal(answer.error, 'invalid_request');
  });

  await t.test('never redirects to an address that is not registered, whichever of the two names it', async () => {
    for (const [request, query] of [
      [await object({ claims: { redirect_uri: 'https://evil.example/' } }), {}],
      ['nonsense', { redirect_uri: 'https://evil.example/' }],
      [await object({ claims: { redirect_uri: 'https://evil.example/' }, key: randomBytes(64) }), { redirect_uri: undefined }],
    ] as const) {
      const { page } = await ask(request, query);
      assert.equal(page.status, 400);
      assert.equal(page.url.origin, service.baseUrl);
    }
    const { answer, page } = await ask(await object({ claims: { redirect_uri: CALLBACK } }), { redirect_uri: 'https://evil.example/' });
    assert.equal(page.url.origin + page.url.pathname, CALLBACK, "the JWT's registered address goes before the query's");
    assert.equal(answer.error, 'login_required');
  });

  await t.test('joins what the JWT carries with what only the query says, in any order of the response type', async () => {
    const user = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    const codeVerifier = verifier();
    const claims = {
      code_challenge: challengeOf(codeVerifier),
      code_challenge_method: 'S256',
      state: 'jwt',
      nonce: 'jwt-nonce',
      max_age: 600,
    };
    const query = {
      client_id: bySecret.clientId,
      state: 'query',
      nonce: 'query',
      code_challenge: challengeOf(verifier()),
      scope: 'openid email',
    };
    const url = authorizeUrl(service, 'built-in', { ...query, request: await object({ claims }) });
    const page = await browser.signIn(await browser.visit(url), user);
    const { code = '', state } = answerOf(page);
    assert.equal(state, 'jwt');
    const form = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code, code_verifier: codeVerifier };
    const { status, body } = await post(service, 'built-in', 'token', bySecret, form);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.scope, 'openid email');
    assert.equal(JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString()).nonce, 'jwt-nonce');
  });

  await t.test('processes a jti once, of twenty at the same moment one; each application has its own', async () => {
    const request = await object({ claims: { jti: 'once' } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(request)));
    assert.deepEqual(answers.map(({ answer }) => answer.error).sort(), [...Array(19).fill('invalid_request_object'), 'login_required']);
    assert.equal((await ask(await object({ claims: { jti: 'once' } }))).answer.error, 'invalid_request_object');
    const others = await object({ claims: { jti: 'once' }, alg: 'RS256', key: rsa, client: byKey });
    assert.equal((await ask(others, {}, byKey)).answer.error, 'login_required');
    const withoutOne = await object();
    for (const _ of [1, 2]) assert.equal((await ask(withoutOne)).answer.error, 'login_required');
  });

  await t.test('reads registered keys from jwks_uri, through the guarded client', async (t) => {
    let asked = 0;
    const keys = { keys: [{ ...publicRsa, kid: 'one' }] };
    const origin = await listen(t, '127.0.0.1', (_req, res) => {
      asked += 1;
      res.setHeader('content-type', 'application/json').end(JSON.stringify(keys));
    });
    const credentials = { token_endpoint_auth_method: 'private_key_jwt' };
    const remote = await createClient(service, { jwks_uri: `${origin}/keys` }, credentials);
    const request = await object({ alg: 'RS256', key: rsa, client: remote, header: { kid: 'one' } });
    assert.equal((await ask(request, {}, remote)).answer.error, 'login_required');
    assert.equal(asked, 1);
    const guarded = await startService(t);
    const there = await createClient(guarded, { jwks_uri: `${origin}/keys` }, credentials);
    const forThere = { iss: there.clientId, aud: guarded.issuer('built-in') };
    const made = await object({ alg: 'RS256', key: rsa, claims: forThere, header: { kid: 'one' } });
    const url = authorizeUrl(guarded, 'built-in', { client_id: there.clientId, prompt: 'none', request: made });
    assert.equal(answerOf(await new UserAgent(guarded.baseUrl).visit(url)).error, 'invalid_request_object');
    assert.equal(asked, 1, 'a loopback address is not asked unless ALLOW_PRIVATE_NETWORK says so');
  });

  await t.test('takes an empty parameter for none (RFC 6749 section 3.1)', async () => {
    const { answer } = await ask('', {});
    assert.deepEqual([answer.error, answer.state], ['login_required', 'some-state']);
  });

  await t.test('refuses the parameter twice, control characters within, and a query beside that has other mistakes', async () => {
    const url = authorizeUrl(service, 'built-in', { client_id: bySecret.clientId, request: await object() });
    url.searchParams.append('request', 'again');
    assert.equal(answerOf(await new UserAgent(service.baseUrl).visit(url)).error, 'invalid_request');
    assert.equal((await ask(await object({ claims: { login_hint: 'a\u0000b' } }))).answer.error, 'invalid_request');
    const forged = await object({ claims: { state: 'a\u0000b', login_hint: 'a\u0000b' }, key: randomBytes(64) });
    assert.deepEqual(
      [(await ask(forged, { state: undefined })).answer.error, (await ask(forged)).answer.state],
      ['invalid_request_object', 'some-state'],
    );
    assert.equal((await ask(await object({ claims: { redirect_uri: 'a\u0000b' } }))).page.status, 400);
    assert.equal((await ask(await object({ claims: { scope: 'openid nonsense' } }))).answer.error, 'invalid_scope');
    assert.equal((await ask(await object({ claims: { state: 'a b' } }))).answer.error, 'invalid_request');
  });

  await t.test('is announced in discovery, without request_uri', async () => {
    const answer = await fetch(`${service.issuer('built-in')}/.well-known/openid-configuration`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    assert.equal(metadata.request_parameter_supported, true);
    assert.deepEqual(metadata.request_object_signing_alg_values_supported, [
      'HS256',
      'HS384',
      'HS512',
      'RS256',
      'RS384',
      'RS512',
      'PS256',
      'ES256',
      'EdDSA',
      'Ed25519',
    ]);
    assert.equal(metadata.request_uri_parameter_supported, false);
  });
});
