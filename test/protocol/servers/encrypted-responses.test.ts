/** Signed and encrypted responses (OpenID Connect Core sections 5.3.2 and 10.2, RFC 9701, JARM), read by openid-client, which decrypts and validates them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CryptoKey, compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import * as client from 'openid-client';
import { listen } from '../../support/listen.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, type TestClient, tokensFor, userinfo } from './relying-party.ts';

const KINDS = ['id_token', 'userinfo', 'introspection', 'authorization'] as const;

/** A key to encrypt to. */
async function encryptionKey(alg: string, crv?: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, ...(crv && { crv }) });
  return { jwk: { ...(await exportJWK(publicKey)), kid: 'enc', alg, use: 'enc' }, privateKey };
}

async function configured(
  service: Service,
  serverId: string,
  { clientId, clientSecret = '' }: TestClient,
  metadata: object,
  key?: CryptoKey,
) {
  const authentication = client.ClientSecretBasic(clientSecret);
  const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks];
  const config = await client.discovery(new URL(service.issuer(serverId)), clientId, metadata, authentication, { execute });
  if (key !== undefined) client.enableDecryptingResponses(config, undefined, { key, kid: 'enc' });
  return config;
}

/** A sign-in by the library. @param jarm as an encrypted response */
async function signIn(config: client.Configuration, service: Service, user: { login: string; password: string }, jarm = false) {
  if (jarm) client.useJwtResponseMode(config);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const browser = new UserAgent(service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(url), user);
  return { arrived, tokens: await client.authorizationCodeGrant(config, arrived.url, { pkceCodeVerifier, expectedState }) };
}

for (const [serverId, alg, crv, enc, sign] of [
  ['built-in', 'RSA-OAEP-256', undefined, 'A128CBC-HS256', 'RS256'],
  ['default', 'RSA-OAEP', undefined, 'A256GCM', 'ES256'],
  ['default', 'ECDH-ES', 'P-256', 'A128GCM', 'ES256'],
  ['built-in', 'ECDH-ES+A256KW', 'X25519', 'A256CBC-HS512', 'RS256'],
] as const) {
  test(`openid-client decrypts ID token, userinfo, introspection and authorization response: ${alg} ${crv ?? ''} ${enc}`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { jwk, privateKey } = await encryptionKey(alg, crv);
    const settings = Object.fromEntries(
      KINDS.flatMap((kind) => [
        [`${kind}_signed_response_alg`, sign],
        [`${kind}_encrypted_response_alg`, alg],
        [`${kind}_encrypted_response_enc`, enc],
      ]),
    );
    const owner = await createClient(service, { ...settings, jwks: { keys: [jwk] } });
    const metadata = Object.fromEntries(KINDS.map((kind) => [`${kind}_signed_response_alg`, sign]));
    const config = await configured(service, serverId, owner, metadata, privateKey);
    const { arrived, tokens } = await signIn(config, service, user, true);
    for (const jwe of [answerOf(arrived).response ?? '', tokens.id_token ?? '']) {
      const header = decodeProtectedHeader(jwe);
      assert.deepEqual([header.alg, header.enc, header.cty, header.kid], [alg, enc, 'JWT', 'enc']);
    }
    assert.equal(tokens.claims()?.sub, user.id);
    const told = await client.fetchUserInfo(config, tokens.access_token, user.id);
    assert.equal(told.preferred_username, user.login);
    const introspected = await client.tokenIntrospection(config, tokens.access_token);
    assert.deepEqual([introspected.active, introspected.sub, introspected.client_id], [true, user.id, owner.clientId]);
    assert.deepEqual(await client.tokenIntrospection(config, 'nothing'), { active: false });

    // An encrypted ID token is a hint when its application has decrypted it (OpenID Connect Core section 3.1.2.1).
    const { plaintext } = await compactDecrypt(tokens.id_token ?? '', privateKey);
    const hint = authorizeUrl(service, serverId, {
      client_id: owner.clientId,
      prompt: 'none',
      id_token_hint: new TextDecoder().decode(plaintext),
    });
    assert.equal(answerOf(await new UserAgent(service.baseUrl).visit(hint)).error, 'login_required');
  });
}

/** Sends a request as it is, and returns what the media type says of the response. */
async function raw(service: Service, { clientId, clientSecret }: TestClient, token: string, accept?: string) {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  const response = await fetch(`${service.issuer('default')}/introspect`, {
    method: 'POST',
    headers: { authorization, ...(accept && { accept }) },
    body: new URLSearchParams({ token }),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

test('signed introspection is for the API that asks (RFC 9701 section 5); signed userinfo is for the application, and both say what JSON says', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const [plain, signing] = [await createClient(service), await createClient(service, { userinfo_signed_response_alg: 'ES256' })];
  const browser = new UserAgent(service.baseUrl);
  const tokens = (await tokensFor(service, browser, user, signing, { serverId: 'default' })).body;
  const others = (await tokensFor(service, browser, user, plain, { serverId: 'default' })).body;

  const asJson = await raw(service, plain, tokens.access_token, 'application/json');
  assert.equal(asJson.type, 'application/json;charset=UTF-8');
  const config = await configured(service, 'default', plain, { introspection_signed_response_alg: 'RS256' });
  const signed = await client.tokenIntrospection(config, tokens.access_token);
  assert.deepEqual(signed, JSON.parse(asJson.text), 'for another application than that of the token');
  const { type, text } = await raw(service, plain, tokens.access_token, 'text/html, Application/Token-Introspection+JWT');
  assert.match(type ?? '', /^application\/token-introspection\+jwt/);
  const [header = '', payload = ''] = text.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  assert.equal(JSON.parse(header).typ, 'token-introspection+jwt');
  const { iss, aud, iat, token_introspection, ...more } = JSON.parse(payload);
  assert.deepEqual([iss, aud, typeof iat, more], [service.issuer('default'), plain.clientId, 'number', {}]);
  assert.deepEqual(token_introspection, signed);
  // ID tokens, and tokens that are none, are described in the same way.
  const idToken = await client.tokenIntrospection(config, others.id_token);
  assert.deepEqual([idToken.active, idToken.username], [true, user.login]);
  const wrong = await raw(service, { ...plain, clientSecret: 'wrong' }, tokens.access_token, 'application/token-introspection+jwt');
  assert.deepEqual([wrong.status, wrong.type], [401, 'application/json;charset=UTF-8']);

  const response = await fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  assert.match(response.headers.get('content-type') ?? '', /^application\/jwt/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const jarm = answerOf(await browser.visit(authorizeUrl(service, 'default', { client_id: signing.clientId, response_mode: 'jwt' })));
  for (const jwt of [await response.text(), jarm.response ?? '', text]) {
    const hint = authorizeUrl(service, 'default', { client_id: signing.clientId, prompt: 'none', id_token_hint: jwt });
    assert.equal(answerOf(await browser.visit(hint)).error, 'invalid_request', 'it is no ID token');
    assert.deepEqual(JSON.parse((await raw(service, signing, jwt)).text), { active: false });
    const out = await fetch(`${service.issuer('default')}/logout?id_token_hint=${jwt}`, { redirect: 'manual' });
    assert.equal(out.status, 400);
  }
  const jwtConfig = await configured(service, 'default', signing, { userinfo_signed_response_alg: 'ES256' });
  const { iss: by, aud: to, iat: at, exp, ...claims } = await client.fetchUserInfo(jwtConfig, tokens.access_token, user.id);
  assert.deepEqual([by, to, typeof at, typeof exp], [service.issuer('default'), signing.clientId, 'number', 'number']);
  assert.deepEqual(claims, (await userinfo(service, 'default', others.access_token)).body);
});

test('encryption needs a key for it, and says which; a key set at an address is fetched', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const { jwk, privateKey } = await encryptionKey('RSA-OAEP-256');
  const refused = async (oauthClient: Record<string, unknown>) => {
    const app = { label: 'App', settings: { oauthClient: { redirect_uris: [CALLBACK], ...oauthClient } } };
    const { status, body } = await service.api('POST', '/apps', app);
    assert.equal(status, 400, JSON.stringify(body));
    return JSON.stringify(body);
  };
  assert.match(await refused({ id_token_encrypted_response_alg: 'RSA-OAEP-256' }), /jwks: must contain a key with use enc/);
  const { use: _, ...unused } = jwk;
  const keys = { userinfo_encrypted_response_alg: 'RSA-OAEP-256', jwks: { keys: [unused] } };
  assert.match(await refused(keys), /must contain a key with use enc/);
  assert.match(
    await refused({ introspection_encrypted_response_alg: 'ECDH-ES', jwks: { keys: [jwk] } }),
    /must contain a key with use enc/,
  );
  assert.match(await refused({ id_token_encrypted_response_enc: 'A256GCM' }), /requires id_token_encrypted_response_alg/);
  assert.match(await refused({ id_token_encrypted_response_alg: 'dir' }), /id_token_encrypted_response_alg/);
  assert.match(await refused({ jwks: { keys: [{ kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' }] } }), /2048 bits/);

  const origin = await listen(t, '127.0.0.1', (_req, res) => res.end(JSON.stringify({ keys: [jwk] })));
  const user = await service.createUser();
  const owner = await createClient(service, { id_token_encrypted_response_alg: 'RSA-OAEP-256', jwks_uri: `${origin}/keys` });
  const config = await configured(service, 'built-in', owner, {}, privateKey);
  assert.equal((await signIn(config, service, user)).tokens.claims()?.sub, user.id);
});

test('an application whose introspection is encrypted must ask for the JWT, also where a plain request would be answered shortly', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { jwk } = await encryptionKey('ECDH-ES');
  const owner = await createClient(service, { introspection_encrypted_response_alg: 'ECDH-ES', jwks: { keys: [jwk] } });
  const { access_token } = (await tokensFor(service, new UserAgent(service.baseUrl), user, owner, { serverId: 'default' })).body;
  const { status, body } = await post(service, 'default', 'introspect', owner, { token: access_token });
  assert.deepEqual([status, body.error], [400, 'invalid_request']);
  assert.match(body.error_description, /application\/token-introspection\+jwt/);
});
