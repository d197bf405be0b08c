/** What Okta's Terraform provider (6.12.0) sends for its documented resources, as it was recorded, and what it reads of the answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_TOKEN, type Service, startService } from '../support/service.ts';

/** As the provider calls: by the name of its SDK. */
async function call(service: Service, method: string, path: string, body?: unknown) {
  const headers = {
    authorization: `SSWS ${API_TOKEN}`,
    'user-agent': 'okta-sdk-golang/2.20.0 golang/go1.26.2 linux/amd64 okta-terraform/6.12.0',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const answer = await fetch(`${service.baseUrl}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${text}`);
  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
  return (text === '' ? undefined : JSON.parse(text)) as any;
}

const application = (settings: object) => ({
  accessibility: {},
  credentials: {
    oauthClient: { autoKeyRotation: true, pkce_required: false, token_endpoint_auth_method: 'client_secret_basic' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Okta's own syntax
    userNameTemplate: { template: '${source.login}', type: 'BUILT_IN' },
  },
  label: 'Shop',
  name: 'oidc_client',
  settings: {
    notes: {},
    oauthClient: {
      consent_method: 'TRUSTED',
      dpop_bound_access_tokens: false,
      idp_initiated_login: { default_scope: [], mode: 'DISABLED' },
      issuer_mode: 'ORG_URL',
      wildcard_redirect: 'DISABLED',
      ...settings,
    },
  },
  signOnMode: 'OPENID_CONNECT',
  visibility: { hide: { iOS: false, web: false } },
});

test('it finds the owner of its token, and that applications have no authentication policies', async (t) => {
  const service = await startService(t);
  const me = await call(service, 'GET', '/users/me');
  assert.equal(me.profile.login, 'admin');
  const answer = await fetch(`${service.baseUrl}/.well-known/okta-organization`);
  assert.equal(((await answer.json()) as { pipeline: string }).pipeline, 'v1');
});

test('okta_user, okta_group_memberships: an empty password is none', async (t) => {
  const service = await startService(t);
  const profile = { email: 'ada@tf.example', firstName: 'Ada', lastName: 'Lovelace', login: 'ada@tf.example', postalAddress: null };
  const user = await call(service, 'POST', '/users', { credentials: { password: {} }, profile });
  const group = await call(service, 'POST', '/groups', { profile: { name: 'Engineers', description: 'One' } });
  await call(service, 'PUT', `/groups/${group.id}/users/${user.id}`);
  const [member] = await call(service, 'GET', `/groups/${group.id}/users?limit=200`);
  assert.equal(member.id, user.id);
  const refused = await service.api('POST', '/users', {
    profile: { ...profile, login: 'bob@tf.example' },
    credentials: { password: { value: 'correct horse battery', hook: { type: 'default' } } },
  });
  assert.match(JSON.stringify(refused.body), /must contain only one of value, hash and hook/);
});

test('okta_app_oauth: its defaults are taken, shown to it alone and stored nowhere', async (t) => {
  const service = await startService(t);
  const web = {
    application_type: 'web',
    grant_types: ['authorization_code'],
    redirect_uris: ['https://tf.example'],
    response_types: ['code'],
  };
  const made = await call(service, 'POST', '/apps?activate=true', application(web));
  assert.equal(made.credentials.oauthClient.autoKeyRotation, true);
  assert.deepEqual([made.settings.oauthClient.issuer_mode, made.settings.oauthClient.wildcard_redirect], ['ORG_URL', 'DISABLED']);
  const idToken = `/internal/apps/${made.id}/settings/oauth/idToken`;
  assert.deepEqual(await call(service, 'POST', idToken, { issuerMode: 'ORG_URL' }), { issuerMode: 'ORG_URL' });
  assert.equal((await service.api('POST', idToken, { name: 'groups', issuerMode: 'ORG_URL' })).status, 400);
  const { body } = await service.api('GET', `/apps/${made.id}`);
  assert.deepEqual([body.settings.oauthClient.issuer_mode, body.credentials.oauthClient.autoKeyRotation], [undefined, undefined]);
  for (const other of [{ issuer_mode: 'CUSTOM_URL' }, { wildcard_redirect: 'SUBDOMAIN' }, { idp_initiated_login: { mode: 'OKTA' } }])
    assert.equal((await service.api('POST', '/apps', application({ ...web, ...other }))).status, 400, JSON.stringify(other));

  const machine = { application_type: 'service', grant_types: ['client_credentials'], response_types: ['token'] };
  const service_ = await call(service, 'POST', '/apps?activate=true', application(machine));
  assert.deepEqual(service_.settings.oauthClient.response_types, []);
});

test('okta_auth_server_policy_rule: empty lists restrict nothing, and beside groups there are users', async (t) => {
  const service = await startService(t);
  const policies = '/authorizationServers/default/policies';
  const policy = await call(service, 'POST', policies, {
    name: 'Shop',
    description: 'Shop',
    priority: 1,
    status: 'ACTIVE',
    type: 'OAUTH_AUTHORIZATION_POLICY',
    conditions: { clients: { include: ['ALL_CLIENTS'] } },
  });
  const rule = {
    actions: { token: { accessTokenLifetimeMinutes: 60, refreshTokenLifetimeMinutes: 0, refreshTokenWindowMinutes: 10080 } },
    conditions: {
      grantTypes: { include: ['authorization_code', 'client_credentials'] },
      people: { groups: { include: ['EVERYONE'] }, users: {} },
      scopes: { include: ['*'] },
    },
    name: 'Everyone',
    priority: 1,
    status: 'ACTIVE',
    type: 'RESOURCE_ACCESS',
  };
  const made = await call(service, 'POST', `${policies}/${policy.id}/rules`, rule);
  assert.deepEqual(made.conditions.people, { users: { include: [] }, groups: { include: ['EVERYONE'] } });
  const free = await call(service, 'POST', `${policies}/${policy.id}/rules`, {
    ...rule,
    name: 'Free',
    conditions: { ...rule.conditions, people: { groups: {}, users: {} } },
  });
  assert.equal(free.conditions.people?.groups, undefined);
});

test('okta_idp_oidc, okta_network_zone: what has one value here is taken, and mappings are none', async (t) => {
  const service = await startService(t);
  const endpointOf = (name: string, binding = 'HTTP-REDIRECT') => ({ binding, url: `https://idp.example/${name}` });
  const provider = (signature: object) => ({
    issuerMode: 'ORG_URL',
    name: 'Partner',
    policy: {
      accountLink: { action: 'AUTO' },
      maxClockSkew: 0,
      provisioning: {
        action: 'AUTO',
        conditions: { deprovisioned: { action: 'NONE' }, suspended: { action: 'NONE' } },
        groups: { action: 'NONE' },
        profileMaster: false,
      },
      subject: { matchType: 'USERNAME', userNameTemplate: { template: 'idpuser.email' } },
    },
    protocol: {
      algorithms: { request: { signature } },
      credentials: { client: { client_id: 'gatehouse', client_secret: 'a-long-secret', pkce_required: null } },
      endpoints: {
        authorization: endpointOf('authorize'),
        jwks: endpointOf('keys'),
        token: endpointOf('token', 'HTTP-POST'),
        userInfo: endpointOf('userinfo'),
      },
      issuer: { url: 'https://idp.example' },
      scopes: ['openid', 'email'],
      type: 'OIDC',
    },
    status: 'ACTIVE',
    type: 'OIDC',
  });
  const made = await call(service, 'POST', '/idps', provider({ algorithm: 'HS256', scope: 'REQUEST' }));
  assert.equal(made.protocol.credentials.client.pkce_required, true);
  assert.equal((await service.api('POST', '/idps', provider({ algorithm: 'RS256', scope: 'REQUEST' }))).status, 400);
  assert.deepEqual(await call(service, 'GET', `/mappings?limit=200&sourceId=${made.id}`), []);

  const gateways = [{ type: 'CIDR', value: '192.0.2.0/24' }];
  const zone = await call(service, 'POST', '/zones', { gateways, name: 'Office', type: 'IP', status: 'ACTIVE' });
  assert.equal((await call(service, 'POST', `/zones/${zone.id}/lifecycle/activate`)).status, 'ACTIVE');
});
