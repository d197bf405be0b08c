/**
 * A certified relying party, `openid-client`, in every flow it knows: each way to authenticate a client, hybrid, implicit, form_post, signed requests,
 * and the errors it must recognise. On the built-in server and on a custom one that signs with ES256. The plain code flow is a rule of the doctor: service.two-modes.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import * as client from 'openid-client';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { CALLBACK, createClient } from './relying-party.ts';

const SERVERS = ['built-in', 'shop'];

interface RelyingParty {
  readonly config: client.Configuration;
  readonly clientId: string;
}

/** A service with a custom server whose keys are of another kind. */
async function withShop(t: TestContext): Promise<Service> {
  const service = await startService(t);
  const shop = { id: 'shop', name: 'Shop', description: '', audiences: ['https://api.shop.example'], signingAlg: 'ES256' };
  const created = await service.api('POST', '/authorizationServers', shop);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return service;
}

/** An application, discovered; the library verifies the signature of each ID token. */
async function relyingParty(
  service: Service,
  serverId: string,
  authenticate: (secret: string) => client.ClientAuth,
  settings: Record<string, unknown> = {},
  credentials: Record<string, unknown> = {},
): Promise<RelyingParty> {
  const { clientId, clientSecret } = await createClient(service, settings, credentials);
  const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks];
  const authentication = authenticate(clientSecret ?? '');
  const config = await client.discovery(new URL(service.issuer(serverId)), clientId, undefined, authentication, { execute });
  return { config, clientId };
}

async function begin(extra: Record<string, string> = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const checks = { pkceCodeVerifier, expectedState: client.randomState(), expectedNonce: client.randomNonce() };
  const parameters = {
    redirect_uri: CALLBACK,
    scope: 'openid profile',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    ...extra,
  };
  return { parameters, checks };
}

/** What the form of the form_post page brings to the callback. */
function posted(page: Page): Request {
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of page.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)) fields.set(name, value);
  return new Request(CALLBACK, { method: 'POST', body: fields });
}

const signKey = () => generateKeyPair('ES256');
const [first, second] = [await signKey(), await signKey()];
const jwks = { keys: [{ ...(await exportJWK(first.publicKey)), kid: 'first', alg: 'ES256', use: 'sig' }] };

const hybrid = { response_types: ['code', 'code id_token'] };
const implicit = { response_types: ['id_token'] };

/** The code of an error that the library throws, and what the server said. */
async function failure(run: Promise<unknown>): Promise<{ code: unknown; error?: unknown; status?: unknown }> {
  try {
    await run;
  } catch (thrown) {
    const { code, error, status } = thrown as { code: unknown; error?: unknown; status?: unknown };
    return { code, ...(error === undefined ? {} : { error }), ...(status === undefined ? {} : { status }) };
  }
  throw new assert.AssertionError({ message: 'the library accepted it' });
}

test('each way to authenticate a client: code with PKCE, refresh, introspect, revoke (OpenID Connect Core section 9)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const table: readonly [method: string, authenticate: (secret: string) => client.ClientAuth, settings?: object][] = [
    ['client_secret_basic', client.ClientSecretBasic],
    ['client_secret_post', client.ClientSecretPost],
    ['client_secret_jwt', client.ClientSecretJwt],
    ['private_key_jwt', () => client.PrivateKeyJwt({ key: first.privateKey, kid: 'first' }), { jwks }],
    ['none', () => client.None(), { application_type: 'browser' }],
  ];
  for (const serverId of SERVERS) {
    const browser = new UserAgent(service.baseUrl);
    for (const [method, authenticate, settings = {}] of table) {
      const credentials = { token_endpoint_auth_method: method };
      const { config } = await relyingParty(service, serverId, authenticate, { ...settings }, credentials);
      const { parameters, checks } = await begin({ scope: 'openid offline_access' });
      const page = await browser.visit(client.buildAuthorizationUrl(config, parameters));
      const arrived = page.url.href.startsWith(CALLBACK) ? page : await browser.signIn(page, user);
      const tokens = await client.authorizationCodeGrant(config, arrived.url, checks);
      assert.equal(tokens.claims()?.sub, user.id, `${method}, ${serverId}`);

      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
      assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, true, method);
      await client.tokenRevocation(config, refreshed.access_token);
      assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, false, method);
      if (method === 'none') continue;

      const stranger = await relyingParty(service, serverId, authenticate, { ...settings }, credentials);
      const wrong =
        method === 'private_key_jwt' ? client.PrivateKeyJwt({ key: second.privateKey, kid: 'first' }) : authenticate('x'.repeat(43));
      const pretender = new client.Configuration(stranger.config.serverMetadata(), stranger.clientId, undefined, wrong);
      client.allowInsecureRequests(pretender);
      const refused = await failure(client.tokenIntrospection(pretender, refreshed.access_token));
      assert.deepEqual([refused.code, refused.status], ['OAUTH_WWW_AUTHENTICATE_CHALLENGE', 401], method);
    }
  }
});

test('code id_token: nonce, c_hash and signature hold, in the fragment and by form_post (OpenID Connect Core section 3.3)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  for (const serverId of SERVERS) {
    const { config } = await relyingParty(service, serverId, client.ClientSecretPost, hybrid);
    client.useCodeIdTokenResponseType(config);
    const browser = new UserAgent(service.baseUrl);
    const once = await begin();
    const arrived = await browser.signIn(await browser.visit(client.buildAuthorizationUrl(config, once.parameters)), user);
    assert.equal(arrived.url.search, '', 'nothing in the query');
    const tokens = await client.authorizationCodeGrant(config, arrived.url, once.checks);
    assert.equal(tokens.claims()?.nonce, once.checks.expectedNonce, 'and again in the ID token of the token endpoint');

    const again = await begin({ response_mode: 'form_post' });
    const page = await browser.visit(client.buildAuthorizationUrl(config, again.parameters));
    assert.equal((await client.authorizationCodeGrant(config, posted(page), again.checks)).claims()?.sub, user.id);

    // What an attacker could mix together, the library tells apart by what the server has put into the ID token.
    const [mine, foreign] = [await begin(), await begin()];
    const answer = await browser.visit(client.buildAuthorizationUrl(config, mine.parameters));
    const other = await browser.visit(client.buildAuthorizationUrl(config, foreign.parameters));
    const swapped = new URL(answer.url);
    const fields = new URLSearchParams(answer.url.hash.slice(1));
    fields.set('code', new URLSearchParams(other.url.hash.slice(1)).get('code') ?? '');
    swapped.hash = fields.toString();
    assert.match(
      String((await failure(client.authorizationCodeGrant(config, swapped, mine.checks))).code),
      /^OAUTH_/,
      'another code: c_hash',
    );
    const wrongNonce = { ...mine.checks, expectedNonce: foreign.checks.expectedNonce };
    assert.match(String((await failure(client.authorizationCodeGrant(config, answer.url, wrongNonce))).code), /^OAUTH_/, 'another nonce');
    assert.equal((await client.authorizationCodeGrant(config, answer.url, mine.checks)).claims()?.sub, user.id);
  }
});

test('id_token: the implicit flow of OpenID Connect, in the fragment and by form_post (OpenID Connect Core section 3.2)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser({ displayName: 'Ada Lovelace' });
  for (const serverId of SERVERS) {
    const { config } = await relyingParty(
      service,
      serverId,
      () => client.None(),
      { ...implicit, application_type: 'browser' },
      {
        token_endpoint_auth_method: 'none',
      },
    );
    client.useIdTokenResponseType(config);
    const browser = new UserAgent(service.baseUrl);
    const { parameters, checks } = await begin();
    const { code_challenge: _, ...request } = parameters;
    const arrived = await browser.signIn(await browser.visit(client.buildAuthorizationUrl(config, request)), user);
    const { expectedNonce, expectedState } = checks;
    const claims = await client.implicitAuthentication(config, arrived.url, expectedNonce, { expectedState });
    assert.equal(claims.sub, user.id);
    assert.equal(claims.iss, service.issuer(serverId));
    const page = await browser.visit(client.buildAuthorizationUrl(config, { ...request, response_mode: 'form_post' }));
    assert.equal((await client.implicitAuthentication(config, posted(page), expectedNonce, { expectedState })).sub, user.id);

    await assert.rejects(client.implicitAuthentication(config, arrived.url, client.randomNonce(), { expectedState }), 'another nonce');
    const forged = new URL(arrived.url);
    forged.hash = forged.hash.replace(/(id_token=[^.]+\.[^.]+\.)[^&]+/, `$1${'A'.repeat(86)}`);
    await assert.rejects(client.implicitAuthentication(config, forged, expectedNonce, { expectedState }), 'another signature');
    const refused = await browser.visit(client.buildAuthorizationUrl(config, { ...request, scope: 'openid nonsense' }));
    assert.deepEqual(await failure(client.implicitAuthentication(config, refused.url, expectedNonce, { expectedState })), {
      code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
      error: 'invalid_scope',
    });
  }
});

test('a signed request as the library builds it, once (OpenID Connect Core section 6.1, RFC 9101 section 4)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  for (const serverId of SERVERS) {
    const { config } = await relyingParty(service, serverId, client.ClientSecretPost, { jwks });
    const browser = new UserAgent(service.baseUrl);
    const { parameters, checks } = await begin({ login_hint: user.login });
    const key = { key: first.privateKey, kid: 'first' };
    const url = await client.buildAuthorizationUrlWithJAR(config, parameters, key);
    assert.deepEqual([...url.searchParams.keys()].sort(), ['client_id', 'request'], 'everything else is signed');
    const page = await browser.visit(url);
    assert.match(page.text, new RegExp(`value="${user.login}"`));
    const tokens = await client.authorizationCodeGrant(config, (await browser.signIn(page, user)).url, checks);
    assert.equal(tokens.claims()?.nonce, checks.expectedNonce);

    const refusals: readonly [what: string, url: URL][] = [
      ['used before', url],
      ['another key', await client.buildAuthorizationUrlWithJAR(config, (await begin()).parameters, { ...key, key: second.privateKey })],
    ];
    for (const [what, request] of refusals) {
      const { url: answer } = await browser.visit(request);
      const expectedState = answer.searchParams.get('state') ?? '';
      const refused = await failure(client.authorizationCodeGrant(config, answer, { ...checks, expectedState }));
      assert.deepEqual(refused, { code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'invalid_request_object' }, what);
    }
  }
});

test('iss tells whose answer it is: another server’s, or none, is refused (RFC 9207 section 2.4)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const { config } = await relyingParty(service, 'shop', client.ClientSecretPost);
  assert.equal(config.serverMetadata().authorization_response_iss_parameter_supported, true);
  const browser = new UserAgent(service.baseUrl);
  const { parameters, checks } = await begin();
  const { url } = await browser.signIn(await browser.visit(client.buildAuthorizationUrl(config, parameters)), user);
  assert.equal(url.searchParams.get('iss'), service.issuer('shop'));
  for (const iss of [service.issuer('built-in'), service.issuer('default'), undefined]) {
    const mixedUp = new URL(url);
    if (iss === undefined) mixedUp.searchParams.delete('iss');
    else mixedUp.searchParams.set('iss', iss);
    assert.match(String((await failure(client.authorizationCodeGrant(config, mixedUp, checks))).code), /^OAUTH_/, iss);
  }
  assert.equal((await client.authorizationCodeGrant(config, url, checks)).claims()?.sub, user.id);

  const denied = await browser.visit(client.buildAuthorizationUrl(config, { ...parameters, scope: 'openid nonsense' }));
  assert.equal(denied.url.searchParams.get('iss'), service.issuer('shop'), 'errors carry it too');
});

test('errors are recognised by the library: of authorize, token and userinfo (RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  for (const serverId of SERVERS) {
    const { config } = await relyingParty(service, serverId, client.ClientSecretPost, {}, { pkce_required: true });
    const browser = new UserAgent(service.baseUrl);
    const atAuthorize = async (extra: Record<string, string>, without: readonly string[] = []) => {
      const { parameters, checks } = await begin(extra);
      const kept = Object.fromEntries(Object.entries(parameters).filter(([name]) => !without.includes(name)));
      const { url } = await browser.visit(client.buildAuthorizationUrl(config, kept));
      return failure(client.authorizationCodeGrant(config, url, checks));
    };
    const told = (error: string) => ({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error });
    assert.deepEqual(await atAuthorize({ prompt: 'none' }), told('login_required'));
    assert.deepEqual(await atAuthorize({ scope: 'openid nonsense' }), told('invalid_scope'));
    assert.deepEqual(await atAuthorize({ response_type: 'nonsense' }), told('unsupported_response_type'));
    assert.deepEqual(await atAuthorize({}, ['code_challenge']), told('invalid_request'));

    const { parameters, checks } = await begin();
    const { url } = await browser.signIn(await browser.visit(client.buildAuthorizationUrl(config, parameters)), user);
    const answered = (error: string) => ({ code: 'OAUTH_RESPONSE_BODY_ERROR', error, status: 400 });
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    assert.deepEqual(await failure(client.authorizationCodeGrant(config, url, { ...checks, pkceCodeVerifier })), answered('invalid_grant'));
    const tokens = await client.authorizationCodeGrant(config, url, checks);
    assert.deepEqual(
      await failure(client.authorizationCodeGrant(config, url, checks)),
      answered('invalid_grant'),
      'the code a second time',
    );
    assert.deepEqual(await failure(client.clientCredentialsGrant(config)), answered('unauthorized_client'));
    const refused = await failure(client.fetchUserInfo(config, tokens.access_token, user.id));
    assert.deepEqual([refused.code, refused.status], ['OAUTH_WWW_AUTHENTICATE_CHALLENGE', 401], 'the second use ended the first’s token');

    const closed = await relyingParty(service, serverId, client.ClientSecretPost, { assignment: 'ASSIGNED' });
    const asked = await begin();
    const page = await browser.visit(client.buildAuthorizationUrl(closed.config, asked.parameters));
    const returned = await browser.submit(page, 'return-form');
    assert.deepEqual(await failure(client.authorizationCodeGrant(closed.config, returned.url, asked.checks)), told('access_denied'));
  }
});
