/** What tokens and userinfo tell of a user: OpenID Connect Core section 5.1, RFC 9068, RFC 7662. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from './relying-party.ts';

const PROFILE = {
  firstName: 'Ada',
  middleName: 'Augusta',
  lastName: 'Lovelace',
  nickName: 'Countess',
  profileUrl: 'https://example.com/ada',
  zoneinfo: 'Europe/London',
  email: 'ada@example.com',
  mobilePhone: '+44 20 7946 0000',
  website: 'https://ada.example',
  picture: 'https://example.com/ada.png',
  gender: 'female',
  birthdate: '1815-12-10',
  locale: 'en_GB',
  streetAddress: '12 St James’s Square',
  city: 'London',
  zipCode: 'SW1Y 4JH',
  countryCode: 'GB',
};

/** All claims of that user, but for the id and the time of the last change. */
const STANDARD = {
  name: 'Ada Lovelace',
  nickname: 'Countess',
  given_name: 'Ada',
  middle_name: 'Augusta',
  family_name: 'Lovelace',
  profile: 'https://example.com/ada',
  picture: 'https://example.com/ada.png',
  website: 'https://ada.example',
  gender: 'female',
  birthdate: '1815-12-10',
  zoneinfo: 'Europe/London',
  locale: 'en-GB',
  email: 'ada@example.com',
  email_verified: false,
  address: { street_address: '12 St James’s Square', locality: 'London', postal_code: 'SW1Y 4JH', country: 'GB' },
  phone_number: '+44 20 7946 0000',
  phone_number_verified: false,
};

test('userinfo returns all claims for any one of profile, email, address and phone, and none without a value', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  for (const serverId of ['built-in', 'default']) {
    for (const scope of ['openid phone', 'email', 'profile']) {
      const { body } = await tokensFor(service, browser, user, client, { serverId, scope });
      const { updated_at: updatedAt, ...claims } = (await userinfo(service, serverId, body.access_token)).body;
      assert.equal(typeof updatedAt, 'number');
      assert.deepEqual(claims, { sub: user.id, preferred_username: user.login, ...STANDARD });
      const byPost = await post(
        service,
        serverId,
        'userinfo',
        { clientId: '', clientSecret: undefined },
        { access_token: body.access_token },
      );
      assert.deepEqual(byPost.body, { ...claims, updated_at: updatedAt }, 'answered by the library');
    }
  }
});

test('each scope gives its standard claims in the ID token (OpenID Connect Core section 5.4)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const inIdToken = async (scope: string) => decodeJwt((await tokensFor(service, browser, user, client, { scope })).body.id_token);
  const { email, email_verified, address, phone_number, phone_number_verified, ...profile } = STANDARD;
  for (const [scope, expected] of [
    ['profile', { ...profile, preferred_username: user.login }],
    ['email', { email, email_verified }],
    ['address', { address }],
    ['phone', { phone_number, phone_number_verified }],
  ] as const) {
    const { sub: _, updated_at: updatedAt, ...claims } = await inIdToken(`openid ${scope}`);
    const told = Object.fromEntries(Object.entries(claims).filter(([name]) => name === 'preferred_username' || name in STANDARD));
    assert.deepEqual([told, typeof updatedAt], [expected, scope === 'profile' ? 'number' : 'undefined'], scope);
  }
  for (const document of ['openid-configuration', 'oauth-authorization-server']) {
    const response = await fetch(`${service.issuer('built-in')}/.well-known/${document}`);
    const { claims_supported: announced } = (await response.json()) as { claims_supported: string[] };
    const missing = ['preferred_username', 'updated_at', ...Object.keys(STANDARD)].filter((name) => !announced.includes(name));
    assert.deepEqual(missing, [], document);
  }
});

test('what the conformance suite warns of: each scope and a named claim, by both response types, and RS256 beside ES256, with the profile openid', async (t) => {
  const service = await startService(t);
  const server = { name: 'Conformance', profile: 'openid', signingAlg: 'ES256' };
  const made = await service.api('POST', '/authorizationServers', { id: 'conformance', ...server });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const user = await service.createUser(PROFILE);
  const client = await createClient(service, { response_types: ['code', 'id_token'], grant_types: ['authorization_code', 'implicit'] });
  const browser = new UserAgent(service.baseUrl);
  const visit = async (parameters: Record<string, string>) => {
    const page = await browser.visit(authorizeUrl(service, 'conformance', { client_id: client.clientId, nonce: 'once', ...parameters }));
    return answerOf(page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, user));
  };
  const byCode = async (parameters: Record<string, string>) => {
    const code_verifier = verifier();
    const { code = '' } = await visit({ code_challenge: challengeOf(code_verifier), ...parameters });
    const form = { grant_type: 'authorization_code', code, code_verifier, redirect_uri: CALLBACK };
    const { body } = await post(service, 'conformance', 'token', client, form);
    return { idToken: decodeJwt(body.id_token), userinfo: (await userinfo(service, 'conformance', body.access_token)).body };
  };
  const byIdToken = async (parameters: Record<string, string>) =>
    decodeJwt((await visit({ response_type: 'id_token', ...parameters })).id_token ?? '');
  const { email, email_verified, address, phone_number, phone_number_verified, ...profile } = STANDARD;
  const claims = {
    profile: [...Object.keys(profile), 'preferred_username', 'updated_at'],
    email: Object.keys({ email, email_verified }),
    address: Object.keys({ address }),
    phone: Object.keys({ phone_number, phone_number_verified }),
  };
  const missing = (from: object, names: readonly string[]) => names.filter((name) => !Object.hasOwn(from, name));
  for (const [scope, names] of [...Object.entries(claims), ['profile email address phone', Object.values(claims).flat()] as const]) {
    const asked = { scope: `openid ${scope}` };
    assert.deepEqual(missing((await byCode(asked)).userinfo, names), [], scope);
    assert.deepEqual(missing(await byIdToken(asked), names), [], scope);
  }
  const essential = (place: string) => ({ scope: 'openid', claims: JSON.stringify({ [place]: { name: { essential: true } } }) });
  const named = await byCode(essential('userinfo'));
  assert.deepEqual([named.userinfo.name, named.idToken.name], [STANDARD.name, undefined]);
  assert.equal((await byIdToken(essential('id_token'))).name, STANDARD.name);

  const issuer = service.issuer('conformance');
  const read = async (path: string) => (await (await fetch(`${issuer}/${path}`)).json()) as Record<string, unknown>;
  const { id_token_signing_alg_values_supported: algs } = await read('.well-known/openid-configuration');
  const { keys } = (await read('keys')) as unknown as { keys: readonly { alg: string }[] };
  for (const alg of ['RS256', 'ES256'])
    assert.ok((algs as string[]).includes(alg) && keys.some((key) => key.alg === alg), `${alg} is announced and has a key`);
});

test('claims named for the ID token are in it, also after a refresh, unless the application chose its own (section 5.5)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const browser = new UserAgent(service.baseUrl);
  const claims = JSON.stringify({ id_token: { email: null, birthdate: { essential: true }, unknown: null }, userinfo: { name: null } });
  const idTokens = async (client: TestClient) => {
    const code_verifier = verifier();
    const asked = { client_id: client.clientId, scope: 'openid offline_access', claims, code_challenge: challengeOf(code_verifier) };
    const page = await browser.visit(authorizeUrl(service, 'default', asked));
    const { code = '' } = answerOf(page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, user));
    const first = await post(service, 'default', 'token', client, {
      grant_type: 'authorization_code',
      code,
      code_verifier,
      redirect_uri: CALLBACK,
    });
    assert.equal(first.body.scope, 'openid offline_access', 'no scope is added');
    const form = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token };
    const later = await post(service, 'default', 'token', client, form);
    return [first, later]
      .map(({ body }) => decodeJwt(body.id_token))
      .map(({ email, birthdate, name, unknown }) => [email, birthdate, name, unknown]);
  };
  const named = [PROFILE.email, PROFILE.birthdate, undefined, undefined];
  assert.deepEqual(await idTokens(await createClient(service)), [named, named]);
  const chosen = ['email', undefined, undefined, undefined].map((name) => name && PROFILE.email);
  assert.deepEqual(await idTokens(await createClient(service, { id_token_claims: ['email'] })), [chosen, chosen]);
});

test('a named claim needs the consent and the access policy that its scope needs', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const client = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const { body: scopes } = await service.api('GET', '/authorizationServers/default/scopes');
  const { id, ...email } = scopes.find(({ name }: { name: string }) => name === 'email');
  const changed = await service.api('PUT', `/authorizationServers/default/scopes/${id}`, {
    name: 'email',
    displayName: email.displayName,
    consent: 'REQUIRED',
  });
  assert.equal(changed.status, 200);
  const asked = (more: Record<string, string>) =>
    browser.visit(
      authorizeUrl(service, 'default', {
        client_id: client.clientId,
        scope: 'openid',
        claims: JSON.stringify({ id_token: { email: null } }),
        ...more,
      }),
    );
  await browser.signIn(await asked({ claims: '{"id_token":{}}' }), user);
  assert.equal(answerOf(await asked({ prompt: 'none' })).error, 'consent_required');
  assert.match((await asked({})).text, /e-mail address/);

  const { body: policies } = await service.api('GET', '/authorizationServers/default/policies');
  const rules = `/authorizationServers/default/policies/${policies[0].id}/rules`;
  const { body: rule } = await service.api('GET', rules);
  const { name, priority, conditions, actions } = rule[0];
  const narrowed = { name, priority, actions, conditions: { ...conditions, scopes: { include: ['openid'] } } };
  assert.equal((await service.api('PUT', `${rules}/${rule[0].id}`, narrowed)).status, 200);
  assert.equal(answerOf(await asked({})).error, 'access_denied');
  assert.ok(answerOf(await asked({ claims: '{"id_token":{}}' })).code !== undefined);
});

test('an ID token holds the subset of claims that the application chose', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const browser = new UserAgent(service.baseUrl);
  const everything = decodeJwt((await tokensFor(service, browser, user, await createClient(service))).body.id_token);
  assert.equal(everything.name, 'Ada Lovelace');
  const chosen = await createClient(service, { id_token_claims: ['email'] });
  const claims = decodeJwt((await tokensFor(service, browser, user, chosen)).body.id_token);
  assert.deepEqual(Object.keys(claims).sort(), [
    'acr',
    'amr',
    'at_hash',
    'aud',
    'auth_time',
    'email',
    'exp',
    'iat',
    'iss',
    'jti',
    'nonce',
    'sub',
  ]);
  assert.deepEqual(claims.amr, ['pwd']);
});

test('a custom server issues access tokens of RFC 9068; the built-in one opaque ones that never tell themselves', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default' });
  const keys = createRemoteJWKSet(new URL(`${service.issuer('default')}/keys`));
  const { payload } = await jwtVerify(body.access_token, keys, {
    issuer: service.issuer('default'),
    audience: 'api://default',
    typ: 'at+jwt',
  });
  assert.deepEqual(Object.keys(payload).sort(), [
    'acr',
    'aud',
    'auth_time',
    'client_id',
    'exp',
    'iat',
    'iss',
    'jti',
    'nbf',
    'scope',
    'sub',
  ]);
  assert.equal(payload.sub, user.id);
  assert.equal(payload.client_id, client.clientId);

  const opaque = await tokensFor(service, browser, user, client);
  for (const [serverId, token] of [
    ['default', body.access_token],
    ['built-in', opaque.body.access_token],
    ['built-in', opaque.body.refresh_token],
  ]) {
    const answer = await post(service, serverId, 'introspect', client, { token });
    assert.equal(answer.body.active, true);
    assert.notEqual(answer.body.jti, token);
    assert.equal(answer.headers.get('content-type'), 'application/json;charset=UTF-8');
  }
  const elsewhere = await post(service, 'built-in', 'introspect', client, { token: body.access_token });
  assert.deepEqual(elsewhere.body, { active: false }, 'another server’s token is inactive');
  const idToken = await post(service, 'default', 'introspect', client, { token: body.id_token });
  assert.equal(idToken.body.active, true);
  assert.equal(idToken.body.sub, user.id);
});

test('a refresh token only with offline_access; client_credentials has neither user nor refresh token', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, await createClient(service), { scope: 'openid profile' });
  assert.equal(body.refresh_token, undefined);
  const machine = await service.createApp({ application_type: 'service' });
  const own = await post(service, 'default', 'token', machine, { grant_type: 'client_credentials' });
  assert.equal(own.status, 200);
  assert.equal(decodeJwt(own.body.access_token).sub, machine.clientId);
  assert.deepEqual(Object.keys(own.body).sort(), ['access_token', 'expires_in', 'scope', 'token_type']);
  for (const scope of ['openid', 'offline_access', 'nonsense']) {
    const refused = await post(service, 'default', 'token', machine, { grant_type: 'client_credentials', scope });
    assert.equal(refused.body.error, 'invalid_scope', scope);
  }
});
