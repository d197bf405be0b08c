/** Applications by Okta's SDK: each operation that is here, with every field that it shows (management API, "apps"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenIdConnectApplication } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed } from './client.ts';

const CALLBACK = 'https://app.example/callback';

test('applications by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const { applicationApi, applicationSSOPublicKeysApi: secretsApi, groupApi, userApi } = okta;
  const api = `${service.baseUrl}/api/v1`;

  const input = (label: string, settings: object = {}, credentials: object = {}): OpenIdConnectApplication => ({
    name: 'oidc_client',
    signOnMode: 'OPENID_CONNECT',
    label,
    credentials: { oauthClient: credentials },
    settings: { oauthClient: { redirect_uris: [CALLBACK], response_types: ['code'], grant_types: ['authorization_code'], ...settings } },
  });
  const create = async (label: string, settings?: object, credentials?: object) => {
    const application = (await applicationApi.createApplication({
      application: input(label, settings, credentials),
    })) as OpenIdConnectApplication;
    return { application, id: String(application.id) };
  };
  const read = async (appId: string) => (await applicationApi.getApplication({ appId })) as OpenIdConnectApplication;
  const withoutSecret = (application: OpenIdConnectApplication) => {
    const { client_secret: _, ...oauthClient } = shown(application.credentials?.oauthClient);
    return { ...shown(application), credentials: { oauthClient } };
  };

  await t.test('creates, reads, replaces and deletes one', async () => {
    const settings = {
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
    const { application, id } = await create('<b>Shop</b>', settings, {
      token_endpoint_auth_method: 'client_secret_post',
      pkce_required: true,
    });
    const { created, lastUpdated, rest } = timed(application, 'created', 'lastUpdated');
    assert.match(id, /^app_\w{20}$/);
    assert.equal(created, lastUpdated);
    const secret = application.credentials?.oauthClient?.client_secret;
    assert.match(String(secret), /^[\w-]{43}$/);
    assert.deepEqual(rest, {
      id,
      name: 'oidc_client',
      label: '<b>Shop</b>',
      signOnMode: 'OPENID_CONNECT',
      status: 'ACTIVE',
      credentials: {
        oauthClient: { client_id: id, client_secret: secret, token_endpoint_auth_method: 'client_secret_post', pkce_required: true },
      },
      settings: { implicitAssignment: true, oauthClient: settings },
      _links: { self: { href: `${api}/apps/${id}` } },
    });
    assert.deepEqual(shown(await read(id)), withoutSecret(application), 'all but the secret, which is told once');

    const whole = await read(id);
    whole.label = 'Store';
    assert.ok(whole.settings?.oauthClient !== undefined);
    whole.settings.oauthClient.consent_method = 'TRUSTED';
    const replaced = await applicationApi.replaceApplication({ appId: id, application: whole });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.equal(after.created, created);
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(
      { ...after.rest, created, lastUpdated },
      {
        ...withoutSecret(application),
        label: 'Store',
        settings: { implicitAssignment: true, oauthClient: { ...settings, consent_method: 'TRUSTED' } },
      },
    );
    assert.deepEqual(shown(await read(id)), shown(replaced), 'the SDK remembers nothing older');

    assert.equal(await applicationApi.deactivateApplication({ appId: id }), undefined);
    assert.equal((await read(id)).status, 'INACTIVE');
    assert.equal(await applicationApi.activateApplication({ appId: id }), undefined);
    assert.equal((await read(id)).status, 'ACTIVE');
    await applicationApi.deactivateApplication({ appId: id });
    assert.equal(await applicationApi.deleteApplication({ appId: id }), undefined);
    assert.deepEqual(await refusal(read(id)), [404, 'E0000007', `Not found: Resource not found: ${id} (Application)`, []]);
  });

  await t.test('fills in what is not said, and takes a client_id, a secret and keys of its own', async () => {
    const key = { kty: 'RSA', n: 'u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0g', e: 'AQAB', kid: 'one', use: 'sig', alg: 'RS256' };
    const single = await create('Single page', { application_type: 'browser' });
    assert.deepEqual(timed(single.application, 'created', 'lastUpdated').rest, {
      id: single.id,
      name: 'oidc_client',
      label: 'Single page',
      signOnMode: 'OPENID_CONNECT',
      status: 'ACTIVE',
      credentials: { oauthClient: { client_id: single.id, token_endpoint_auth_method: 'none', pkce_required: true } },
      settings: {
        implicitAssignment: true,
        oauthClient: {
          application_type: 'browser',
          redirect_uris: [CALLBACK],
          post_logout_redirect_uris: [],
          response_types: ['code'],
          grant_types: ['authorization_code'],
          consent_method: 'TRUSTED',
          refresh_token: { rotation_type: 'ROTATE', leeway: 30 },
        },
      },
      _links: { self: { href: `${api}/apps/${single.id}` } },
    });
    const client_secret = 'a-secret-of-its-own-0123456789-0123456789';
    const own = await create('Own', {}, { client_id: 'my-app', client_secret });
    assert.equal(own.id, 'my-app');
    assert.equal(own.application.credentials?.oauthClient?.client_secret, client_secret);
    const { application } = await create('Keys', { jwks: { keys: [key] } }, { token_endpoint_auth_method: 'private_key_jwt' });
    assert.deepEqual(shown(application.settings?.oauthClient?.jwks), { keys: [key] });
  });

  await t.test('is created inactive with activate=false', async () => {
    const application = await applicationApi.createApplication({ activate: false, application: input('Not yet') });
    assert.equal(application.status, 'INACTIVE');
    assert.equal((await read(String(application.id))).status, 'INACTIVE');
  });

  await t.test(
    'is assigned to everyone or not; implicitAssignment is what the SDK knows of it, and a change of something else leaves it',
    async () => {
      const assignmentOf = async (id: string) => (await service.api('GET', `/apps/${id}`)).body.settings.oauthClient.assignment;
      const application = input('Assigned');
      application.settings = { ...application.settings, implicitAssignment: false };
      const id = String((await applicationApi.createApplication({ application })).id);
      assert.equal(await assignmentOf(id), 'ASSIGNED');
      const whole = await read(id);
      assert.equal(whole.settings?.implicitAssignment, false);
      whole.label = 'Still assigned';
      await applicationApi.replaceApplication({ appId: id, application: whole });
      assert.equal(await assignmentOf(id), 'ASSIGNED');
      const { body } = await service.api('GET', `/apps/${id}`);
      body.settings.oauthClient.assignment = 'EVERYONE';
      assert.equal(
        (await service.api('PUT', `/apps/${id}`, body)).body.settings.implicitAssignment,
        true,
        'the word of this API goes first',
      );
    },
  );

  await t.test('lists them in pages and finds them by q and filter', async () => {
    const labels = Array.from({ length: 45 }, (_, turn) => `Many ${turn}`);
    for (const label of labels) await create(label);
    const requests = requestsOf(okta);
    const listed = await all(applicationApi.listApplications({ q: 'Many' }));
    assert.deepEqual(
      listed.map(({ label }) => label),
      labels,
    );
    assert.equal(requests.length, 3);
    assert.deepEqual(shown(listed[0]), shown(await read(String(listed[0]?.id))), 'as each one is read');
    const found = async (filter: string) => (await all(applicationApi.listApplications({ filter }))).map(({ label }) => label);
    assert.deepEqual(await found('name eq "oidc_client" and status eq "ACTIVE" and label eq "Many 7"'), ['Many 7']);
    assert.deepEqual(await found(`id eq "${listed[7]?.id}"`), ['Many 7']);
    assert.deepEqual(await found('name eq "bookmark"'), []);
    assert.deepEqual((await refusal(found('user.id eq "x"')))[3], ['filter: user.id is not an attribute to filter by']);
  });

  await t.test('has users', async () => {
    const { id: appId } = await create('For users');
    const user = await userApi.createUser({ body: { profile: { login: 'ada' } } });
    const userId = String(user.id);
    assert.deepEqual(await all(applicationApi.listApplicationUsers({ appId })), []);
    assert.equal((await refusal(applicationApi.getApplicationUser({ appId, userId })))[0], 404);
    const assigned = await applicationApi.assignUserToApplication({
      appId,
      appUser: { id: userId, scope: 'USER', credentials: { userName: 'ada' } },
    });
    const { created, lastUpdated, statusChanged, rest } = timed(assigned, 'created', 'lastUpdated', 'statusChanged');
    assert.deepEqual([lastUpdated, statusChanged], [created, created]);
    assert.deepEqual(rest, {
      id: userId,
      scope: 'USER',
      status: 'ACTIVE',
      credentials: { userName: 'ada' },
      // The SDK has no name for `self` here.
      _links: {},
    });
    assert.deepEqual(shown(await applicationApi.getApplicationUser({ appId, userId })), shown(assigned));
    assert.deepEqual((await all(applicationApi.listApplicationUsers({ appId }))).map(shown), [shown(assigned)]);
    assert.deepEqual(
      shown(await applicationApi.assignUserToApplication({ appId, appUser: { id: userId } })),
      shown(assigned),
      'once is enough',
    );
    assert.equal(await applicationApi.unassignUserFromApplication({ appId, userId }), undefined);
    assert.deepEqual(await all(applicationApi.listApplicationUsers({ appId })), []);
    assert.equal((await refusal(applicationApi.assignUserToApplication({ appId, appUser: { id: 'usr_unknown' } })))[0], 404);
  });

  await t.test('has groups', async () => {
    const { id: appId } = await create('For groups');
    const group = await groupApi.createGroup({ group: { profile: { name: 'Engineers' } } });
    const groupId = String(group.id);
    const assigned = await applicationApi.assignGroupToApplication({ appId, groupId });
    assert.deepEqual(timed(assigned, 'lastUpdated').rest, {
      id: groupId,
      profile: { name: 'Engineers' },
      _links: { self: { href: `${api}/apps/${appId}/groups/${groupId}` } },
    });
    assert.deepEqual(shown(await applicationApi.getApplicationGroupAssignment({ appId, groupId })), shown(assigned));
    assert.deepEqual((await all(applicationApi.listApplicationGroupAssignments({ appId }))).map(shown), [shown(assigned)]);
    assert.equal(await applicationApi.unassignApplicationFromGroup({ appId, groupId }), undefined);
    assert.deepEqual(await all(applicationApi.listApplicationGroupAssignments({ appId })), []);
  });

  await t.test('has two secrets while they are exchanged', async () => {
    const { id: appId, application } = await create('Secretive');
    const first = application.credentials?.oauthClient?.client_secret;
    const second = await secretsApi.createOAuth2ClientSecret({ appId });
    const { client_secret, ...facts } = shown(second);
    assert.match(String(client_secret), /^[\w-]{43}$/);
    assert.notEqual(client_secret, first);
    const secretId = String(second.id);
    assert.match(secretId, /^sec_\w{20}$/);
    // The SDK leaves the times of secrets as they are written.
    assert.ok(Math.abs(Date.now() - Date.parse(String(facts.created))) < 60_000);
    assert.deepEqual(facts, { id: secretId, status: 'ACTIVE', created: facts.created, lastUpdated: facts.created });
    assert.deepEqual(shown(await secretsApi.getOAuth2ClientSecret({ appId, secretId })), facts, 'without its value');
    const [oldest, newest, ...others] = (await all(secretsApi.listOAuth2ClientSecrets({ appId }))).map(shown);
    assert.deepEqual([newest, others], [facts, []]);
    assert.equal(await secretsApi.deleteOAuth2ClientSecret({ appId, secretId: String(oldest?.id) }), undefined);
    assert.deepEqual((await all(secretsApi.listOAuth2ClientSecrets({ appId }))).map(shown), [facts]);
    assert.equal((await refusal(secretsApi.getOAuth2ClientSecret({ appId, secretId: String(oldest?.id) })))[0], 404);
    assert.deepEqual((await refusal(secretsApi.deleteOAuth2ClientSecret({ appId, secretId }))).slice(0, 2), [403, 'E0000038']);
  });

  await t.test('is refused as the SDK expects it', async () => {
    assert.deepEqual(await refusal(create('x', { redirect_uris: ['http://app.example/', 'javascript:alert(1)'] })), [
      400,
      'E0000001',
      'Api validation failed',
      [
        'settings.oauthClient.redirect_uris.0: must be https, or http on a loopback address',
        'settings.oauthClient.redirect_uris.1: must not have this scheme',
      ],
    ]);
    // Settings of Okta's that this service does not have are never ignored in silence.
    assert.deepEqual(
      (await refusal(create('x', { dpop_bound_access_tokens: true, wildcard_redirect: 'SUBDOMAIN' }, { autoKeyRotation: true })))[3],
      [
        'credentials.oauthClient.autoKeyRotation: is not a field of this resource',
        'settings.oauthClient.dpop_bound_access_tokens: is not a field of this resource',
        'settings.oauthClient.wildcard_redirect: is not a field of this resource',
      ],
    );
    const bookmark = { name: 'bookmark', signOnMode: 'BOOKMARK', label: 'x', settings: { app: { url: 'https://app.example' } } } as const;
    assert.deepEqual((await refusal(applicationApi.createApplication({ application: bookmark as never })))[3], [
      'name: must be oidc_client',
      'signOnMode: must be OPENID_CONNECT',
      'settings.app: is not a field of this resource',
    ]);
    assert.deepEqual((await refusal(create('x', {}, { client_id: 'playground' }))).slice(0, 2), [409, 'E0000014']);
    const whole = await read('playground');
    whole.label = 'Mine';
    assert.deepEqual((await refusal(applicationApi.replaceApplication({ appId: 'playground', application: whole }))).slice(0, 2), [
      403,
      'E0000038',
    ]);
  });
});
