/** What tokens and userinfo tell of a user: OpenID Connect Core section 5.1, RFC 9068, RFC 7662. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { createClient, post, tokensFor, userinfo } from './relying-party.ts';

const PROFILE = {
  firstName: 'Ada',
  middleName: 'Augusta',
  lastName: 'Lovelace',
  nickName: 'Countess',
  profileUrl: 'https://example.com/ada',
  zoneinfo: 'Europe/London',
  email: 'ada@example.com',
  mobilePhone: '+44 20 7946 0000',
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
      assert.deepEqual(claims, {
        sub: user.id,
        name: 'Ada Lovelace',
        nickname: 'Countess',
        given_name: 'Ada',
        middle_name: 'Augusta',
        family_name: 'Lovelace',
        profile: 'https://example.com/ada',
        zoneinfo: 'Europe/London',
        email: 'ada@example.com',
        email_verified: false,
        phone_number: '+44 20 7946 0000',
      });
    }
  }
});

test('an ID token holds the subset of claims that the application chose', async (t) => {
  const service = await startService(t);
  const user = await service.createUser(PROFILE);
  const browser = new UserAgent(service.baseUrl);
  const everything = decodeJwt((await tokensFor(service, browser, user, await createClient(service))).body.id_token);
  assert.equal(everything.name, 'Ada Lovelace');
  const chosen = await createClient(service, { id_token_claims: ['email'] });
  const claims = decodeJwt((await tokensFor(service, browser, user, chosen)).body.id_token);
  assert.deepEqual(Object.keys(claims).sort(), ['acr', 'amr', 'at_hash', 'aud', 'auth_time', 'email', 'exp', 'iat', 'iss', 'nonce', 'sub']);
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
  assert.deepEqual(Object.keys(payload).sort(), ['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'nbf', 'scope', 'sub']);
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
