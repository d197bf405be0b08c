/** Access tokens of the type `JWT`, for resource servers that know no RFC 9068: they are no ID tokens all the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, SIGNED_OUT, tokensFor, userinfo } from './relying-party.ts';

const SCOPE = 'openid profile offline_access';

test('a server issues the type of access tokens that it is set to, and takes those of both types', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body: made } = await service.api('POST', '/authorizationServers', { id: 'spring', name: 'Spring', accessTokenType: 'JWT' });
  assert.equal(made.accessTokenType, 'JWT');
  const issue = async () => (await tokensFor(service, browser, user, client, { serverId: 'spring', scope: SCOPE })).body;
  const typeOf = (token: string) => decodeProtectedHeader(token).typ;
  const old = await issue();
  assert.equal(typeOf(old.access_token), 'JWT');
  const replaced = await service.api('PUT', '/authorizationServers/spring', { name: 'Spring 2' });
  assert.equal(replaced.body.accessTokenType, 'JWT', 'what an SDK does not know of stays');
  assert.equal((await service.api('PUT', '/authorizationServers/spring', { name: 'Spring', accessTokenType: 'at+jwt' })).status, 200);
  const later = await issue();
  assert.equal(typeOf(later.access_token), 'at+jwt');
  for (const { access_token: token } of [old, later]) {
    assert.equal((await userinfo(service, 'spring', token)).status, 200);
    const { active, uid, scope } = (await post(service, 'spring', 'introspect', client, { token })).body;
    assert.deepEqual([active, uid, scope], [true, user.id, SCOPE]);
    assert.equal((await post(service, 'spring', 'revoke', client, { token })).status, 200);
    assert.deepEqual((await post(service, 'spring', 'introspect', client, { token })).body, { active: false });
    assert.equal((await userinfo(service, 'spring', token)).status, 401);
  }
  assert.equal((await service.api('PUT', '/authorizationServers/spring', { name: 'Spring', accessTokenType: 'jwt' })).status, 400);
});

test('an access token of type JWT passes for no ID token, nor an ID token for an access token (RFC 8725 section 3.12)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const settings = { id: 'spring', name: 'Spring', accessTokenType: 'JWT', audiences: [client.clientId] };
  assert.equal((await service.api('POST', '/authorizationServers', settings)).status, 201);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'spring', scope: SCOPE });
  assert.equal(decodeJwt(body.access_token).aud, client.clientId, 'as an ID token has it');
  const signOut = (hint: string) =>
    browser.visit(
      `${service.issuer('spring')}/logout?${new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: SIGNED_OUT })}`,
    );
  assert.equal((await signOut(body.access_token)).status, 400);
  await post(service, 'spring', 'revoke', client, { token: body.access_token });
  const told = await post(service, 'spring', 'introspect', client, { token: body.access_token, token_type_hint: 'id_token' });
  assert.deepEqual(told.body, { active: false }, 'a revoked one is not told of as an ID token');
  assert.equal((await userinfo(service, 'spring', body.id_token)).status, 401);
  assert.equal((await signOut(body.id_token)).url.href, SIGNED_OUT);
});
