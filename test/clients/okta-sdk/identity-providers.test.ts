/** Identity providers by Okta's SDK: each operation, with every field that it shows (management API, "idps"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IdentityProvider } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, shown, timed } from './client.ts';

test('identity providers by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const { identityProviderApi } = oktaClient(service);
  const endpoints = {
    authorization: { url: 'https://idp.example/authorize', binding: 'HTTP-REDIRECT' },
    token: { url: 'https://idp.example/token', binding: 'HTTP-POST' },
    userInfo: { url: 'https://idp.example/userinfo', binding: 'HTTP-REDIRECT' },
    jwks: { url: 'https://idp.example/keys', binding: 'HTTP-REDIRECT' },
  };
  const client = { client_id: 'gatehouse', client_secret: 'what the provider gave us' };
  const own = {
    type: 'OIDC',
    name: '<b>Partner</b>',
    protocol: {
      type: 'OIDC',
      issuer: { url: 'https://idp.example' },
      endpoints,
      scopes: ['openid', 'email', 'profile'],
      credentials: { client },
    },
    policy: {
      provisioning: { action: 'DISABLED' },
      accountLink: { action: 'DISABLED' },
      subject: { matchType: 'EMAIL', userNameTemplate: { template: 'idpuser.email' } },
      maxClockSkew: 120_000,
    },
  };

  await t.test('creates, reads, replaces, deactivates and deletes one', async () => {
    const identityProvider = await identityProviderApi.createIdentityProvider({ identityProvider: own as IdentityProvider });
    const idpId = String(identityProvider.id);
    const { created, lastUpdated, rest } = timed(identityProvider, 'created', 'lastUpdated');
    assert.equal(created, lastUpdated);
    const href = `${service.baseUrl}/api/v1/idps/${idpId}`;
    assert.deepEqual(rest, {
      id: idpId,
      type: 'OIDC',
      name: '<b>Partner</b>',
      status: 'ACTIVE',
      protocol: {
        ...own.protocol,
        credentials: { client: { client_id: 'gatehouse', pkce_required: true, token_endpoint_auth_method: 'client_secret_basic' } },
        settings: {},
      },
      policy: {
        ...own.policy,
        provisioning: { action: 'DISABLED', profileMaster: false, groups: { action: 'NONE', assignments: [] } },
        accountLink: { action: 'DISABLED', filter: null },
      },
      _links: {
        self: { href },
        users: { href: `${href}/users` },
        clientRedirectUri: { href: href.replace(/\/api\/v1\/idps\/(.*)$/, '/interaction/upstream/$1/callback') },
      },
    });
    assert.deepEqual(shown(await identityProviderApi.getIdentityProvider({ idpId })), shown(identityProvider), 'the secret is never told');

    const whole = await identityProviderApi.getIdentityProvider({ idpId });
    whole.name = 'Friend';
    const replaced = await identityProviderApi.replaceIdentityProvider({ idpId, identityProvider: whole });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.deepEqual([after.created, after.rest], [created, { ...rest, name: 'Friend' }]);
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(shown(await identityProviderApi.getIdentityProvider({ idpId })), shown(replaced), 'the SDK remembers nothing older');

    const inactive = await identityProviderApi.deactivateIdentityProvider({ idpId });
    assert.equal(inactive.status, 'INACTIVE');
    assert.deepEqual(shown(await identityProviderApi.getIdentityProvider({ idpId })), shown(inactive));
    assert.equal((await identityProviderApi.activateIdentityProvider({ idpId })).status, 'ACTIVE');
    assert.deepEqual(await all(identityProviderApi.listIdentityProviderApplicationUsers({ idpId })), []);
    await identityProviderApi.deactivateIdentityProvider({ idpId });
    assert.equal(await identityProviderApi.deleteIdentityProvider({ idpId }), undefined);
    assert.deepEqual((await refusal(identityProviderApi.getIdentityProvider({ idpId }))).slice(0, 2), [404, 'E0000007']);
  });

  await t.test('knows the well-known ones, and lists and finds them', async () => {
    const create = (type: string, name: string, protocol: object) =>
      identityProviderApi.createIdentityProvider({
        identityProvider: {
          type,
          name,
          protocol: { credentials: { client }, ...protocol },
          policy: { provisioning: { action: 'AUTO' } },
        } as IdentityProvider,
      });
    const google = await create('GOOGLE', 'Google', { type: 'OIDC', scopes: ['openid', 'email'] });
    const github = await create('GITHUB', 'GitHub', { type: 'OAUTH2', scopes: ['read:user', 'user:email'] });
    assert.deepEqual((await all(identityProviderApi.listIdentityProviders({ limit: 1 }))).map(shown), [shown(google), shown(github)]);
    assert.deepEqual((await all(identityProviderApi.listIdentityProviders({ q: 'Git' }))).map(shown), [shown(github)]);
    assert.deepEqual((await all(identityProviderApi.listIdentityProviders({ type: 'GOOGLE' }))).map(shown), [shown(google)]);
    assert.deepEqual((await refusal(create('SAML2', 'SAML', { type: 'OIDC', scopes: [] }))).slice(0, 2), [400, 'E0000001']);
  });
});
