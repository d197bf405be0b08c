/** Authorization servers by Okta's SDK, with their keys, scopes, claims, policies and rules (management API, "authorizationServers"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, type Json, oktaClient, refusal, shown, wholeLife } from './client.ts';

test('authorization servers by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const servers = oktaClient(service).authorizationServerApi;
  const api = `${service.baseUrl}/api/v1/authorizationServers`;
  const hints = { allow: ['POST'] };
  const step = (href: string) => ({ self: { href }, deactivate: { href: `${href}/lifecycle/deactivate`, hints } });
  const of = { authServerId: 'default' };

  await t.test('servers: create, read, list, replace, deactivate, delete', async () => {
    const discovery = (id: string, name: string) => ({ name, href: `${service.issuer(id)}/.well-known/${name}` });
    const settings = { name: '<b>Things</b>', description: 'For things', audiences: ['api://things'] };
    await wholeLife(
      servers,
      { name: 'AuthorizationServer', id: 'authServerId', body: 'authorizationServer', hasStates: true },
      { ...settings, issuerMode: 'DYNAMIC' },
      (id, { credentials }) => {
        const { signing } = credentials as { signing: Json };
        // The SDK leaves these times as they are written.
        assert.ok(Math.abs(Date.now() - Date.parse(String(signing.lastRotated))) < 60_000);
        assert.ok(Date.parse(String(signing.nextRotation)) > Date.now());
        return {
          ...{ ...settings, id, issuer: service.issuer(id), issuerMode: 'ORG_URL', status: 'ACTIVE' },
          credentials: { signing: { ...signing, rotationMode: 'AUTO' } },
          _links: {
            ...step(`${api}/${id}`),
            rotateKey: { href: `${api}/${id}/credentials/lifecycle/keyRotate`, hints },
            ...Object.fromEntries(['scopes', 'claims', 'policies'].map((name) => [name, { href: `${api}/${id}/${name}` }])),
            metadata: [discovery(id, 'oauth-authorization-server'), discovery(id, 'openid-configuration')],
          },
        };
      },
      { audiences: ['api://other'] },
    );
  });

  await t.test('keys: listed, read, rotated; by call alone, where there is no next time', async () => {
    const signing = { use: 'sig', rotationMode: 'MANUAL' } as const;
    const authorizationServer = { name: 'Rotated', audiences: ['api://x'], credentials: { signing } };
    const { id, credentials } = await servers.createAuthorizationServer({ authorizationServer });
    assert.deepEqual([credentials?.signing?.rotationMode, credentials?.signing?.nextRotation], ['MANUAL', null]);
    const authServerId = String(id);
    const kid = String(credentials?.signing?.kid);
    const keys = await all(servers.listAuthorizationServerKeys({ authServerId }));
    const [active, next] = keys.filter(({ alg }) => alg === 'RS256');
    const described = shown(active);
    assert.match(String(described.n), /^[\w-]{342}$/);
    assert.deepEqual(described, { kid, status: 'ACTIVE', kty: 'RSA', alg: 'RS256', use: 'sig', n: described.n, e: 'AQAB' });
    assert.deepEqual(shown(await servers.getAuthorizationServerKey({ authServerId, keyId: kid })), described);
    assert.equal((await refusal(servers.getAuthorizationServerKey({ authServerId, keyId: 'unknown' })))[0], 404);
    const [signs] = await all(servers.rotateAuthorizationServerKeys({ authServerId, use: { use: 'sig' } }));
    assert.deepEqual([signs?.kid, signs?.status], [next?.kid, 'ACTIVE']);
  });

  await t.test('scopes: create, read, list, replace, delete', async () => {
    const settings = {
      ...{ name: 'things:read', displayName: 'See <i>things</i>', description: 'All of them', consent: 'REQUIRED' },
      // `_default` is the SDK's word for `default`.
      ...{ _default: false, optional: true, metadataPublish: 'NO_CLIENTS' },
    };
    await wholeLife(
      servers,
      { name: 'OAuth2Scope', id: 'scopeId', body: 'oAuth2Scope', of, times: [] },
      settings,
      (id) => ({ ...settings, id, system: false, _links: { self: { href: `${api}/default/scopes/${id}` } } }),
      { _default: true },
    );
  });

  await t.test('claims: create, read, list, replace, delete', async () => {
    const settings = {
      ...{ name: 'crews', claimType: 'RESOURCE', valueType: 'GROUPS', value: 'Crew', group_filter_type: 'STARTS_WITH' },
      ...{ conditions: { scopes: ['profile'] }, alwaysIncludeInToken: true, status: 'ACTIVE' },
    };
    await wholeLife(
      servers,
      { name: 'OAuth2Claim', id: 'claimId', body: 'oAuth2Claim', of, times: [] },
      settings,
      (id) => ({ ...settings, id, system: false, _links: { self: { href: `${api}/default/claims/${id}` } } }),
      { status: 'INACTIVE' },
    );
    // The words of this service, where Okta has its expression language; the SDK lets them pass.
    for (const valueType of ['USER_ATTRIBUTE', 'ORGANIZATION', 'DEPARTMENT', 'STATIC']) {
      const value = { USER_ATTRIBUTE: 'costCenter', STATIC: 'the same' }[valueType];
      const oAuth2Claim = { name: `of_${valueType}`, claimType: 'IDENTITY', valueType, ...(value !== undefined && { value }) };
      const claim = shown(await servers.createOAuth2Claim({ ...of, oAuth2Claim: oAuth2Claim as never }));
      assert.deepEqual({ ...claim, ...oAuth2Claim }, claim);
    }
  });

  await t.test('policies: create, read, list, replace, deactivate, delete', async () => {
    const settings = {
      ...{ type: 'OAUTH_AUTHORIZATION_POLICY', status: 'ACTIVE', name: '<b>Mine</b>', description: 'All mine', priority: 1 },
      conditions: { clients: { include: ['ALL_CLIENTS'] } },
    };
    const href = `${api}/default/policies`;
    await wholeLife(
      servers,
      { name: 'AuthorizationServerPolicy', plural: 'AuthorizationServerPolicies', id: 'policyId', body: 'policy', of, hasStates: true },
      settings,
      (id) => ({ ...settings, id, system: false, _links: { ...step(`${href}/${id}`), rules: { href: `${href}/${id}/rules` } } }),
      { name: 'Ours' },
    );
  });

  await t.test('rules: create, read, list, replace, deactivate, delete', async () => {
    const [policy] = await all(servers.listAuthorizationServerPolicies(of));
    const ofPolicy = { ...of, policyId: String(policy?.id) };
    const conditions = (...grants: string[]) => ({
      people: { users: { include: [] }, groups: { include: ['EVERYONE'] } },
      grantTypes: { include: grants },
      scopes: { include: ['*'] },
    });
    const settings = {
      ...{ name: '<i>Machines</i>', type: 'RESOURCE_ACCESS', priority: 1, status: 'ACTIVE' },
      conditions: conditions('authorization_code', 'client_credentials'),
      actions: { token: { accessTokenLifetimeMinutes: 5, refreshTokenLifetimeMinutes: 0, refreshTokenWindowMinutes: 10_080 } },
    };
    await wholeLife(
      servers,
      { name: 'AuthorizationServerPolicyRule', id: 'ruleId', body: 'policyRule', of: ofPolicy, hasStates: true },
      settings,
      (id) => ({ ...settings, id, system: false, _links: step(`${api}/default/policies/${ofPolicy.policyId}/rules/${id}`) }),
      { conditions: conditions('authorization_code') },
    );
  });
});
