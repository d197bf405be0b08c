/** The working flow over published HTTP only, with certified relying-party libraries, on both servers and for both kinds of applications. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as client from 'openid-client';
import { type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const CALLBACK = 'https://app.example/callback';
const SIGNED_OUT = 'https://app.example/signed-out';

const settings = {
  redirect_uris: [CALLBACK],
  post_logout_redirect_uris: [SIGNED_OUT],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

async function relyingParty(service: Service, serverId: string, kind: 'public' | 'confidential') {
  const app =
    kind === 'public'
      ? await service.createApp({ ...settings, application_type: 'browser' }, { token_endpoint_auth_method: 'none' })
      : await service.createApp(settings);
  const authentication = app.clientSecret === undefined ? client.None() : client.ClientSecretBasic(app.clientSecret);
  const options = { execute: [client.allowInsecureRequests] };
  return client.discovery(new URL(service.issuer(serverId)), app.clientId, undefined, authentication, options);
}

async function begin(config: client.Configuration) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile email offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    state,
    nonce,
  });
  return { url, checks: { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce } };
}

for (const serverId of ['built-in', 'default']) {
  for (const kind of ['public', 'confidential'] as const) {
    test(`code with PKCE → token → userinfo → refresh → introspect → revoke → logout: ${kind} application, ${serverId} server`, async (t) => {
      const service = await startService(t);
      const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
      const config = await relyingParty(service, serverId, kind);
      const browser = new UserAgent(service.baseUrl);

      const { url, checks } = await begin(config);
      const signInPage = await browser.visit(url);
      assert.equal(signInPage.status, 200);
      const arrived = await browser.signIn(signInPage, user);
      assert.equal(arrived.url.origin + arrived.url.pathname, CALLBACK, arrived.text);

      const tokens = await client.authorizationCodeGrant(config, arrived.url, checks);
      assert.equal(tokens.claims()?.sub, user.id);
      assert.equal(tokens.token_type, 'bearer');
      assert.equal(
        tokens.access_token.split('.').length,
        serverId === 'default' ? 3 : 1,
        'JWT on custom servers, opaque on the built-in one',
      );

      const userinfo = await client.fetchUserInfo(config, tokens.access_token, user.id);
      assert.equal(userinfo.name, 'Ada Lovelace');
      assert.equal(userinfo.email, 'ada@example.com');

      assert(tokens.refresh_token !== undefined);
      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
      assert(refreshed.refresh_token !== undefined);
      assert.notEqual(refreshed.refresh_token, tokens.refresh_token);

      const active = await client.tokenIntrospection(config, refreshed.access_token);
      assert.equal(active.active, true);
      assert.equal(active.username, user.login);
      assert.equal(active.uid, user.id);
      assert.equal(active.iss, service.issuer(serverId));

      await client.tokenRevocation(config, refreshed.access_token);
      assert.deepEqual({ ...(await client.tokenIntrospection(config, refreshed.access_token)) }, { active: false });
      assert.equal((await client.tokenIntrospection(config, refreshed.refresh_token)).active, true, 'only the token named is revoked');

      assert(tokens.id_token !== undefined);
      const signedOut = await browser.visit(
        client.buildEndSessionUrl(config, { id_token_hint: tokens.id_token, post_logout_redirect_uri: SIGNED_OUT, state: 'bye' }),
      );
      assert.equal(signedOut.url.href, `${SIGNED_OUT}?state=bye`);
      const again = await browser.visit((await begin(config)).url);
      assert.match(again.text, /id="sign-in-form"/, 'the session is over');
      assert.equal((await client.tokenIntrospection(config, refreshed.refresh_token)).active, true, 'a logout ends no token');
    });
  }
}

test('single sign-on between two applications and the two servers (OpenID Connect Core section 3.1.2.3)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const first = await relyingParty(service, 'built-in', 'confidential');
  await browser.signIn(await browser.visit((await begin(first)).url), user);

  for (const serverId of ['built-in', 'default']) {
    const other = await relyingParty(service, serverId, 'public');
    const { url, checks } = await begin(other);
    const arrived = await browser.visit(url);
    const tokens = await client.authorizationCodeGrant(other, arrived.url, checks);
    assert.equal(tokens.claims()?.sub, user.id, 'signed in without being asked');
  }
});
