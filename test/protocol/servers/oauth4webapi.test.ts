/** The whole flow again with a second certified relying-party library, which checks each answer more strictly than most. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { CALLBACK, createClient, SIGNED_OUT } from './relying-party.ts';

const insecure = { [oauth.allowInsecureRequests]: true };

for (const serverId of ['built-in', 'default']) {
  test(`oauth4webapi: discovery → code with PKCE → userinfo → refresh → introspect → revoke → logout, ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser({ displayName: 'Grace Hopper' });
    const created = await createClient(service);
    const issuer = new URL(service.issuer(serverId));
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client: oauth.Client = { client_id: created.clientId };
    const authentication = oauth.ClientSecretPost(created.clientSecret ?? '');

    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const nonce = oauth.generateRandomNonce();
    const request = new URL(server.authorization_endpoint ?? '');
    request.search = new URLSearchParams({
      client_id: created.clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid profile offline_access',
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      max_age: '600',
    }).toString();
    const browser = new UserAgent(service.baseUrl);
    const arrived = await browser.signIn(await browser.visit(request), user);

    const callback = oauth.validateAuthResponse(server, client, arrived.url, state);
    const exchanged = await oauth.authorizationCodeGrantRequest(server, client, authentication, callback, CALLBACK, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged, {
      expectedNonce: nonce,
      maxAge: 600,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, exchanged, insecure);
    assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, user.id);

    const asked = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
    assert.equal((await oauth.processUserInfoResponse(server, client, user.id, asked)).name, 'Grace Hopper');

    const renewed = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token ?? '', insecure);
    const refreshed = await oauth.processRefreshTokenResponse(server, client, renewed);
    const introspect = async (token: string) =>
      oauth.processIntrospectionResponse(server, client, await oauth.introspectionRequest(server, client, authentication, token, insecure));
    assert.equal((await introspect(refreshed.access_token)).active, true);

    const revoked = await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token ?? '', insecure);
    await oauth.processRevocationResponse(revoked);
    assert.equal((await introspect(refreshed.refresh_token ?? '')).active, false);
    assert.equal((await introspect(refreshed.access_token)).active, true, 'revoking a refresh token leaves the access token active');

    const logout = new URL(server.end_session_endpoint ?? '');
    logout.search = new URLSearchParams({ id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: SIGNED_OUT }).toString();
    assert.equal((await browser.visit(logout)).url.href, SIGNED_OUT);
  });
}

test('oauth4webapi: client credentials on the default server', async (t) => {
  const service = await startService(t);
  const machine = await service.createApp({ application_type: 'service' });
  const issuer = new URL(service.issuer('default'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const client: oauth.Client = { client_id: machine.clientId };
  const authentication = oauth.ClientSecretBasic(machine.clientSecret ?? '');
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, new URLSearchParams(), insecure);
  const { access_token: accessToken } = await oauth.processClientCredentialsResponse(server, client, response);
  const request = new Request('https://api.example/orders', { headers: { authorization: `Bearer ${accessToken}` } });
  const claims = await oauth.validateJwtAccessToken(server, request, 'api://default', insecure);
  assert.equal(claims.client_id, machine.clientId);
});
