/** Applications by Okta's SDK: its models, and the names that it has for what this service calls otherwise (management API, "apps"). */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { OpenIdConnectApplication } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, type Json, oktaClient, refusal, shown, timed, wholeLife } from './client.ts';

const CALLBACK = 'https://app.example/callback';

test('applications by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const { applicationApi, applicationSSOPublicKeysApi: secretsApi, groupApi, userApi } = oktaClient(service);
  const api = `${service.baseUrl}/api/v1`;

  const named = { name: 'oidc_client', signOnMode: 'OPENID_CONNECT' } as const;
  const create = async (label: string, settings: object = {}, credentials: object = {}) => {
    const oauthClient = { redirect_uris: [CALLBACK], response_types: ['code'], grant_types: ['authorization_code'], ...settings };
    const application = { ...named, label, credentials: { oauthClient: credentials }, settings: { oauthClient } };
    return (await applicationApi.createApplication({ application: application as never })) as OpenIdConnectApplication;
  };

  await t.test('create, read, list, replace, deactivate, delete', async () => {
    const oauthClient = {
      application_type: 'web',
      redirect_uris: [CALLBACK, 'https://app.example/another'],
      post_logout_redirect_uris: ['https://app.example/'],
      response_types: ['code', 'id_token'],
      grant_types: ['authorization_code', 'implicit', 'refresh_token'],
      consent_method: 'REQUIRED',
      client_uri: 'https://app.example/',
      logo_uri: 'https://app.example/logo.png',
      tos_uri: 'https://app.example/terms',
      policy_uri: 'https://app.example/privacy',
      jwks_uri: 'https://app.example/keys',
      initiate_login_uri: 'https://app.example/login',
      refresh_token: { rotation_type: 'STATIC', leeway: 0 },
    };
    // `implicitAssignment` is the SDK's word for the assignment.
    const settings = { implicitAssignment: false, oauthClient };
    const credentials = { token_endpoint_auth_method: 'client_secret_post', pkce_required: true };
    const clientOf = (told: Json) => (told.credentials as { oauthClient: Json }).oauthClient;
    await wholeLife(
      applicationApi,
      {
        ...{ name: 'Application', id: 'appId', body: 'application', hasStates: true },
        toldLater(told) {
          const { client_secret: _, ...known } = clientOf(told);
          return { ...told, credentials: { oauthClient: known } };
        },
      },
      { ...named, label: '<b>Shop</b>', credentials: { oauthClient: credentials }, settings },
      (id, told) => ({
        ...{ ...named, id, label: '<b>Shop</b>', status: 'ACTIVE' },
        settings: { ...settings, oauthClient: { ...oauthClient, dpop_bound_access_tokens: false, subject_type: 'public' } },
        credentials: { oauthClient: { ...credentials, client_id: id, client_secret: String(clientOf(told).client_secret) } },
        _links: { self: { href: `${api}/apps/${id}` } },
      }),
      { label: 'Store' },
    );
  });

  await t.test('a client_id, a secret and keys of its own', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
    const client_secret = 'a-secret-of-its-own-0123456789-0123456789';
    const { id, credentials } = await create('Own', {}, { client_id: 'my-app', client_secret });
    assert.deepEqual([id, credentials?.oauthClient?.client_secret], ['my-app', client_secret]);
    const { settings } = await create('Keys', { jwks: { keys: [key] } }, { token_endpoint_auth_method: 'private_key_jwt' });
    assert.deepEqual(shown(settings?.oauthClient?.jwks), { keys: [key] });
  });

  await t.test('its users and groups', async () => {
    const appId = String((await create('For some')).id);
    const userId = String((await userApi.createUser({ body: { profile: { login: 'ada' } } })).id);
    const appUser = { id: userId, scope: 'USER', credentials: { userName: 'ada' } } as const;
    const assigned = await applicationApi.assignUserToApplication({ appId, appUser });
    const { rest } = timed(assigned, 'created', 'lastUpdated', 'statusChanged');
    // The SDK has no name for `self` here.
    assert.deepEqual(rest, { ...appUser, status: 'ACTIVE', _links: {} });
    assert.deepEqual(shown(await applicationApi.getApplicationUser({ appId, userId })), shown(assigned));
    assert.deepEqual((await all(applicationApi.listApplicationUsers({ appId }))).map(shown), [shown(assigned)]);
    assert.equal(await applicationApi.unassignUserFromApplication({ appId, userId }), undefined);
    assert.equal((await refusal(applicationApi.getApplicationUser({ appId, userId })))[0], 404);

    const groupId = String((await groupApi.createGroup({ group: { profile: { name: 'Engineers' } } })).id);
    const group = await applicationApi.assignGroupToApplication({ appId, groupId });
    const _links = { self: { href: `${api}/apps/${appId}/groups/${groupId}` } };
    assert.deepEqual(timed(group, 'lastUpdated').rest, { id: groupId, profile: { name: 'Engineers' }, _links });
    assert.deepEqual(shown(await applicationApi.getApplicationGroupAssignment({ appId, groupId })), shown(group));
    assert.deepEqual((await all(applicationApi.listApplicationGroupAssignments({ appId }))).map(shown), [shown(group)]);
    const ofGroup = await all(groupApi.listAssignedApplicationsForGroup({ groupId }));
    assert.deepEqual(ofGroup.map(shown), [shown(await applicationApi.getApplication({ appId }))]);
    assert.equal(await applicationApi.unassignApplicationFromGroup({ appId, groupId }), undefined);
    assert.deepEqual(await all(groupApi.listAssignedApplicationsForGroup({ groupId })), []);
    assert.equal((await refusal(all(groupApi.listAssignedApplicationsForGroup({ groupId: 'grp_unknown' }))))[0], 404);
  });

  await t.test('its secrets', async () => {
    const appId = String((await create('Secretive')).id);
    const second = await secretsApi.createOAuth2ClientSecret({ appId });
    const { client_secret, ...facts } = shown(second);
    assert.match(String(client_secret), /^[\w-]{43}$/);
    const secretId = String(second.id);
    // The SDK leaves the times of secrets as they are written.
    assert.deepEqual(facts, { id: secretId, status: 'ACTIVE', created: facts.created, lastUpdated: facts.created });
    assert.deepEqual(shown(await secretsApi.getOAuth2ClientSecret({ appId, secretId })), facts, 'without its value');
    const [oldest, newest] = await all(secretsApi.listOAuth2ClientSecrets({ appId }));
    assert.deepEqual(newest && shown(newest), facts);
    assert.equal(await secretsApi.deleteOAuth2ClientSecret({ appId, secretId: String(oldest?.id) }), undefined);
  });
});
