/** An ID token stays a hint when the algorithm changes that ID tokens are signed with (OpenID Connect RP-Initiated Logout 1.0 section 2, Core section 3.1.2.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post, SIGNED_OUT, type TestClient, tokensFor } from '../servers/relying-party.ts';

async function world(service: Service, serverId: string, settings: Record<string, unknown> = {}) {
  const user = await service.createUser();
  const client = await createClient(service, settings);
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client, { serverId });
  return { user, client, browser, idToken: String(body.id_token) };
}

const sign = async (service: Service, serverId: string, signingAlg: string): Promise<void> => {
  const { body } = await service.api('GET', `/authorizationServers/${serverId}`);
  assert.equal((await service.api('PUT', `/authorizationServers/${serverId}`, { ...body, signingAlg })).status, 200);
};

/** What the authorize endpoint makes of a hint, without a page. */
async function authorize(service: Service, serverId: string, browser: UserAgent, client: TestClient, hint: string) {
  const url = authorizeUrl(service, serverId, { client_id: client.clientId, prompt: 'none', id_token_hint: hint });
  return answerOf(await browser.visit(url));
}

async function logout(service: Service, serverId: string, browser: UserAgent, hint: string) {
  const parameters = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: SIGNED_OUT });
  const answer = await browser.send(`${service.issuer(serverId)}/logout?${parameters}`);
  return { status: answer.status, location: answer.headers.get('location') };
}

for (const serverId of ['built-in', 'default']) {
  test(`the server ${serverId} changes its algorithm: ID tokens of before are hints, at authorize and at logout`, async (t) => {
    const service = await startService(t);
    const { client, browser, idToken, user } = await world(service, serverId);
    assert.equal(decodeProtectedHeader(idToken).alg, 'RS256');
    await sign(service, serverId, 'ES256');
    const { code } = await authorize(service, serverId, browser, client, idToken);
    assert.ok(code !== undefined);

    const stranger = await world(service, serverId);
    const { body } = await tokensFor(service, stranger.browser, stranger.user, client, { serverId });
    assert.equal(decodeProtectedHeader(body.id_token).alg, 'ES256');
    assert.equal(
      (await authorize(service, serverId, browser, client, body.id_token)).error,
      'login_required',
      'the hint names another user',
    );
    assert.deepEqual(await logout(service, serverId, browser, idToken), { status: 302, location: SIGNED_OUT });
    assert.equal((await authorize(service, serverId, browser, client, idToken)).error, 'login_required');
    assert.equal(decodeJwt(idToken).sub, user.id);

    // And back again: the keys of the other algorithm are still this server's.
    await sign(service, serverId, 'RS256');
    assert.deepEqual(await logout(service, serverId, stranger.browser, body.id_token), { status: 302, location: SIGNED_OUT });
  });
}

test('an application changes id_token_signed_response_alg: ID tokens of before are hints', async (t) => {
  const service = await startService(t);
  await sign(service, 'default', 'ES256');
  const { client, browser, idToken } = await world(service, 'default');
  assert.equal(decodeProtectedHeader(idToken).alg, 'ES256');
  const { body: app } = await service.api('GET', `/apps/${client.clientId}`);
  const oauthClient = { ...app.settings.oauthClient, id_token_signed_response_alg: 'RS256' };
  assert.equal((await service.api('PUT', `/apps/${client.clientId}`, { ...app, settings: { oauthClient } })).status, 200);
  assert.ok('code' in (await authorize(service, 'default', browser, client, idToken)));
  assert.equal((await logout(service, 'default', browser, idToken)).status, 302);
});

test('no token passes that is signed with the client secret, by no key, or by another server’s', async (t) => {
  const service = await startService(t);
  const { client, browser, idToken } = await world(service, 'default');
  const claims = decodeJwt(idToken);
  const secret = Buffer.from(client.clientSecret ?? '');
  const [header = '', payload = ''] = idToken.split('.');
  const none = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg: 'none' })).toString(
    'base64url',
  );
  const forged = [
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret),
    await new SignJWT(claims).setProtectedHeader({ ...decodeProtectedHeader(idToken), alg: 'HS256' }).sign(secret),
    `${none}.${payload}.`,
    (await tokensFor(service, browser, await service.createUser(), client, { serverId: 'built-in' })).body.id_token ?? '',
  ];
  for (const hint of forged) {
    const refused = await logout(service, 'default', browser, hint);
    assert.deepEqual(refused, { status: 400, location: null }, hint);
    assert.equal((await authorize(service, 'default', browser, client, hint)).error, 'invalid_request');
  }
  const { body } = await post(service, 'default', 'introspect', client, { token: forged[0] ?? '' });
  assert.deepEqual(body, { active: false });
});
