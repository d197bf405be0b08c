/** Pushed authorization requests (RFC 9126): by two libraries, used once across processes, and refused like requests in the browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  post,
  type TestClient,
  verifier,
} from '../servers/relying-party.ts';

const now = () => Math.floor(Date.now() / 1000);

/** Pushes a request that is right but for what is given. */
const push = (service: Service, by: TestClient, parameters: Record<string, string> = {}, serverId = 'built-in'): Promise<JsonAnswer> =>
  post(service, serverId, 'par', by, {
    client_id: by.clientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid',
    state: 'pushed-state',
    ...parameters,
  });

/** The address by which a browser goes on with what was pushed. */
function withRequestUri(
  service: Service,
  by: TestClient,
  requestUri: string,
  more: Record<string, string> = {},
  serverId = 'built-in',
): URL {
  const url = new URL(`${service.issuer(serverId)}/authorize`);
  url.search = new URLSearchParams({ client_id: by.clientId, request_uri: requestUri, ...more }).toString();
  return url;
}

async function signedIn(t: TestContext) {
  const service = await startService(t);
  const [user, one] = [await service.createUser(), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  const pushed = await push(service, one);
  assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
  await browser.signIn(await browser.visit(withRequestUri(service, one, pushed.body.request_uri)), user);
  return { service, user, one, browser };
}

for (const serverId of ['built-in', 'default']) {
  test(`openid-client pushes its request, and goes on as ever: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { clientId, clientSecret } = await createClient(service, { require_pushed_authorization_requests: true });
    const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks];
    const issuer = new URL(service.issuer(serverId));
    const config = await client.discovery(issuer, clientId, undefined, client.ClientSecretBasic(clientSecret ?? ''), { execute });
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
    const url = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: CALLBACK,
      scope: 'openid offline_access',
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    assert.deepEqual([...url.searchParams.keys()].sort(), ['client_id', 'request_uri']);
    const browser = new UserAgent(service.baseUrl);
    const arrived = await browser.signIn(await browser.visit(url), user);
    const tokens = await client.authorizationCodeGrant(config, arrived.url, { pkceCodeVerifier, expectedState, expectedNonce });
    assert.equal(tokens.claims()?.sub, user.id);
    assert.ok(tokens.refresh_token, 'offline_access of the pushed request is granted');
  });
}

test('oauth4webapi pushes a request that it signed, authenticated by its key', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const pair = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y } = await exportJWK(pair.publicKey);
  const created = await createClient(
    service,
    { jwks: { keys: [{ kty, crv, x, y, kid: 'key', alg: 'ES256', use: 'sig' }] } },
    { token_endpoint_auth_method: 'private_key_jwt' },
  );
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer('built-in'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const rp: oauth.Client = { client_id: created.clientId };
  const key = { key: pair.privateKey, kid: 'key' };
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const parameters = new URLSearchParams({
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid',
    state: 'signed',
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  const request = await oauth.issueRequestObject(server, rp, parameters, key);
  const authentication = oauth.PrivateKeyJwt(key);
  const response = await oauth.pushedAuthorizationRequest(server, rp, authentication, { request }, insecure);
  const { request_uri: uri, expires_in: seconds } = await oauth.processPushedAuthorizationResponse(server, rp, response);
  assert.equal(seconds, 60);
  const browser = new UserAgent(service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(withRequestUri(service, created, uri)), user);
  const callback = oauth.validateAuthResponse(server, rp, arrived.url, 'signed');
  const exchanged = await oauth.authorizationCodeGrantRequest(server, rp, authentication, callback, CALLBACK, codeVerifier, insecure);
  assert.equal(oauth.getValidatedIdTokenClaims(await oauth.processAuthorizationCodeResponse(server, rp, exchanged))?.sub, user.id);

  const again = await oauth.pushedAuthorizationRequest(server, rp, authentication, { request }, insecure);
  assert.deepEqual(
    [again.status, ((await again.json()) as { error: string }).error],
    [400, 'invalid_request_object'],
    'its jti was processed',
  );
});

test('the request_uri: one use, a minute, its own client, and nothing beside it counts', async (t) => {
  stopClock(t);
  const { service, one, browser } = await signedIn(t);
  const other = await createClient(service);
  const fresh = async () => String((await push(service, one)).body.request_uri);
  const visit = async (url: URL) => {
    const page = await browser.visit(url);
    return { page, answer: answerOf(page) };
  };

  await t.test('is answered once; the second use is refused with an error page', async () => {
    const url = withRequestUri(service, one, await fresh());
    const { answer } = await visit(url);
    assert.ok(answer.code, JSON.stringify(answer));
    const { page } = await visit(url);
    assert.equal(page.status, 400);
    assert.match(page.text, /invalid_request_uri/);
  });

  await t.test('of ten uses at once one is answered with a code', async () => {
    const url = withRequestUri(service, one, await fresh());
    const answers = await Promise.all(Array.from({ length: 10 }, () => visit(url)));
    assert.equal(answers.filter(({ answer }) => answer.code !== undefined).length, 1);
  });

  await t.test('belongs to the client that pushed it', async () => {
    const { page } = await visit(withRequestUri(service, other, await fresh()));
    assert.equal(page.status, 400);
    assert.equal(page.url.origin, service.baseUrl);
  });

  await t.test('is not known at another server', async () => {
    const { page } = await visit(withRequestUri(service, one, await fresh(), {}, 'default'));
    assert.match(page.text, /invalid_request_uri/);
  });

  await t.test('of a made-up value is an error page, and so is the handle of a row', async () => {
    for (const value of ['nothing', `pushed:${'a'.repeat(50)}`, 'x'.repeat(50)]) {
      const { page } = await visit(withRequestUri(service, one, `urn:ietf:params:oauth:request_uri:${value}`));
      assert.deepEqual([page.status, /invalid_request_uri/.test(page.text)], [400, true], value);
    }
  });

  await t.test('beside it nothing counts: neither state nor scope nor redirect_uri', async () => {
    const url = withRequestUri(service, one, await fresh(), {
      state: 'of-the-query',
      scope: 'nothing',
      redirect_uri: 'https://evil.example',
    });
    const { answer } = await visit(url);
    assert.deepEqual([answer.state, typeof answer.code], ['pushed-state', 'string']);
  });

  await t.test('beside a request object it is refused', async () => {
    const { page } = await visit(withRequestUri(service, one, await fresh(), { request: 'a.b.c' }));
    assert.match(page.text, /invalid_request/);
  });

  await t.test('expires after sixty seconds', async () => {
    const [early, late] = [await fresh(), await fresh()];
    moveClock(t, 58);
    assert.ok((await visit(withRequestUri(service, one, early))).answer.code);
    moveClock(t, 3);
    assert.match((await visit(withRequestUri(service, one, late))).page.text, /invalid_request_uri/);
  });
});

test('a sign-in that takes longer than the minute of the request_uri is answered, and two begun by one request_uri are answered once', async (t) => {
  stopClock(t);
  const service = await startService(t);
  const [user, one] = [await service.createUser(), await createClient(service)];
  const { request_uri: uri } = (await push(service, one)).body;
  const [first, second] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  const pages = [await first.visit(withRequestUri(service, one, uri)), await second.visit(withRequestUri(service, one, uri))] as const;
  moveClock(t, 300);
  assert.ok(answerOf(await first.signIn(pages[0], user)).code);
  const late = await second.signIn(pages[1], user);
  assert.equal(answerOf(late).code, undefined);
  assert.equal(answerOf(late).error, 'invalid_request_uri');
});

test('pushed at one process, used at another: once', async (t) => {
  const [first, second] = await startTwo(t);
  const [user, one] = [await first.createUser(), await createClient(first)];
  const browser = new UserAgent(first.baseUrl);
  const begun = await push(first, one);
  await browser.signIn(await browser.visit(withRequestUri(first, one, begun.body.request_uri)), user);
  const { body } = await push(second, one);
  const at = (service: Service) => {
    const url = withRequestUri(first, one, body.request_uri);
    return browser.window(service.listensAt).send(url.pathname + url.search);
  };
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => at(n % 2 === 0 ? first : second)));
  const codes = answers.filter((answer) => new URL(answer.headers.get('location') ?? 'x:').searchParams.has('code'));
  assert.equal(codes.length, 1);
});

test('what is wrong with a pushed request is told as JSON, with the same rules, bounds and errors as in the browser', async (t) => {
  const service = await startService(t);
  const secret = 's'.repeat(40);
  const one = await createClient(service, {}, { client_secret: secret });
  const signed = (claims: Record<string, unknown>, key = new TextEncoder().encode(secret)) =>
    new SignJWT({ iss: one.clientId, aud: service.issuer('built-in'), iat: now(), exp: now() + 60, client_id: one.clientId, ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(key);
  const cases: [what: string, parameters: Record<string, string>, error: string, description: RegExp][] = [
    ['an unknown scope', { scope: 'openid nothing' }, 'invalid_scope', /nothing/],
    ['a foreign redirect_uri', { redirect_uri: 'https://evil.example' }, 'invalid_request', /redirect_uri/],
    ['a long state', { state: 'x'.repeat(2049) }, 'invalid_request', /state/],
    ['a state of other characters', { state: 'ä' }, 'invalid_request', /state/],
    ['a control character', { login_hint: 'a\u0001' }, 'invalid_request', /control characters/],
    ['a large request', { claims_locales: 'x'.repeat(9000) }, 'invalid_request', /8192 bytes/],
    ['a request_uri', { request_uri: 'https://app.example/request' }, 'request_uri_not_supported', /request_uri/],
    [
      'a request_uri beside a request object',
      { request: await signed({}), request_uri: 'https://app.example/request' },
      'invalid_request',
      /request_uri/,
    ],
    ['a response_type that it may not use', { response_type: 'id_token', nonce: 'n' }, 'unauthorized_client', /response_type/],
    ['an unsupported response_mode', { response_mode: 'smoke' }, 'unsupported_response_mode', /response_mode/],
    ['an unknown provider', { idp: 'nobody' }, 'invalid_request', /idp/],
    [
      'a request object signed by another secret',
      { request: await signed({}, new TextEncoder().encode('x'.repeat(40))) },
      'invalid_request_object',
      /invalid/,
    ],
  ];
  for (const [what, parameters, error, description] of cases) {
    await t.test(what, async () => {
      const { status, body, headers } = await push(service, one, parameters);
      assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
      assert.match(body.error_description, description);
      assert.match(headers.get('cache-control') ?? '', /no-store/);
    });
  }

  await t.test('a request object names its client alone, and its values win', async () => {
    const request = await signed({ response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'of-the-jwt' });
    const { status, body } = await post(service, 'built-in', 'par', one, { request });
    assert.equal(status, 201, JSON.stringify(body));
  });

  await t.test('a client that has not proved itself is told no more: 401, counted, and named in the audit log', async () => {
    const { status, body } = await push(service, { ...one, clientSecret: 'wrong' }, { scope: 'nothing' });
    assert.deepEqual([status, body.error], [401, 'invalid_client']);
    const events = (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.authorize"')}`)).body;
    const failures = events.map((event: { outcome: { reason?: string } }) => event.outcome.reason);
    assert.ok(
      failures.some((reason: string) => reason.startsWith('invalid_client')),
      JSON.stringify(failures),
    );
    assert.ok(
      failures.some((reason: string) => reason.startsWith('invalid_scope')),
      JSON.stringify(failures),
    );
    let last = 0;
    for (let n = 0; n < 150 && last !== 429; n += 1) last = (await push(service, { ...one, clientSecret: 'wrong' })).status;
    assert.equal(last, 429, 'wrong secrets are counted as at the token endpoint');
  });
});

test('an application that must push is refused with a request in the browser; a public one can push', async (t) => {
  const service = await startService(t);
  const bound = await createClient(service, { require_pushed_authorization_requests: true });
  const url = new URL(`${service.issuer('built-in')}/authorize`);
  const request = { client_id: bound.clientId, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 's' };
  url.search = new URLSearchParams(request).toString();
  const { error, error_description: description = '' } = answerOf(await new UserAgent(service.baseUrl).visit(url));
  assert.equal(error, 'invalid_request');
  assert.match(description, /PAR endpoint/);

  const spa = await createClient(service, { application_type: 'browser', allowed_origins: ['https://app.example'] });
  const response = await fetch(`${service.issuer('built-in')}/par`, {
    method: 'POST',
    headers: { origin: 'https://app.example' },
    body: new URLSearchParams({
      ...request,
      client_id: spa.clientId,
      code_challenge: challengeOf(verifier()),
      code_challenge_method: 'S256',
    }),
  });
  assert.equal(response.status, 201, await response.text());
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example');
});

const storedPushes = (service: Service): Promise<{ payload: string; left: number }[]> =>
  onServer(service.database.url, async (sql) => {
    const text =
      'SELECT payload::text AS payload, extract(epoch FROM expires_at - now())::integer AS left FROM oidc_payload WHERE model = 9';
    return (await sql.query<{ payload: string; left: number }>(text)).rows;
  });

test('what is pushed is not readable in the database, and goes with its application and in time', async (t) => {
  const { service, one } = await signedIn(t);
  await push(service, one, { login_hint: 'somebody@example.com', state: 'find-me-if-you-can' });
  const rows = await storedPushes(service);
  assert.equal(rows.length, 2);
  for (const { payload, left } of rows) {
    assert.doesNotMatch(String(payload), /somebody|find-me/);
    assert.ok(Number(left) <= 3660, 'it is swept');
  }
  assert.equal((await service.api('POST', `/apps/${one.clientId}/lifecycle/deactivate`)).status, 204);
  assert.equal((await service.api('DELETE', `/apps/${one.clientId}`)).status, 204);
  assert.equal((await storedPushes(service)).length, 0);
});

test('client assertions at par name the issuer, the token endpoint or par as their audience, and no other', async (t) => {
  const service = await startService(t);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const keys = [{ kty: 'RSA', n: jwk.n, e: jwk.e }];
  const one = await createClient(service, { jwks: { keys } }, { token_endpoint_auth_method: 'private_key_jwt' });
  const issuer = service.issuer('built-in');
  const key = await importJWK(jwk, 'RS256');
  for (const [audience, status] of [
    [issuer, 201],
    [`${issuer}/token`, 201],
    [`${issuer}/par`, 201],
    [`${issuer}/revoke`, 401],
  ] as const) {
    const assertion = await new SignJWT({ iss: one.clientId, sub: one.clientId, aud: audience, jti: audience })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(key);
    const proof = { client_assertion: assertion, client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
    assert.equal((await push(service, { ...one, clientSecret: undefined }, proof)).status, status, audience);
  }
});
