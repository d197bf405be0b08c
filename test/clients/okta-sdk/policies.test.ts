/** Access policies and their rules by Okta's SDK: each operation, with every field (management API, "authorizationServers/{id}/policies"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, shown, timed } from './client.ts';

test('access policies and rules by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const servers = oktaClient(service).authorizationServerApi;
  const server = await servers.createAuthorizationServer({ authorizationServer: { name: 'Things', audiences: ['api://things'] } });
  const authServerId = String(server.id);
  const policies = `${service.baseUrl}/api/v1/authorizationServers/${authServerId}/policies`;
  const { clientId, clientSecret } = await service.createApp({ application_type: 'service' });

  const step = (href: string, name: 'activate' | 'deactivate') => ({
    self: { href },
    [name]: { href: `${href}/lifecycle/${name}`, hints: { allow: ['POST'] } },
  });
  const createPolicy = (name: string, include: string[] = ['ALL_CLIENTS'], priority?: number) =>
    servers.createAuthorizationServerPolicy({
      authServerId,
      policy: {
        type: 'OAUTH_AUTHORIZATION_POLICY',
        status: 'ACTIVE',
        name,
        description: `About ${name}`,
        conditions: { clients: { include } },
        ...(priority !== undefined && { priority }),
      },
    });
  const namesOf = async () =>
    (await all(servers.listAuthorizationServerPolicies({ authServerId }))).map(({ name, priority }) => [name, priority]);
  const tokenStatus = async (): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    return (await fetch(`${service.issuer(authServerId)}/token`, { method: 'POST', headers: { authorization }, body })).status;
  };

  await t.test('a new server begins with one policy that allows everything', async () => {
    const [policy, ...others] = await all(servers.listAuthorizationServerPolicies({ authServerId }));
    const { created, lastUpdated, rest } = timed(policy, 'created', 'lastUpdated');
    assert.equal(created, lastUpdated);
    assert.equal(others.length, 0);
    const policyId = String(policy?.id);
    assert.deepEqual(rest, {
      id: policyId,
      type: 'OAUTH_AUTHORIZATION_POLICY',
      name: 'Everything',
      description: '',
      priority: 1,
      status: 'ACTIVE',
      system: false,
      conditions: { clients: { include: ['ALL_CLIENTS'] } },
      _links: { ...step(`${policies}/${policyId}`, 'deactivate'), rules: { href: `${policies}/${policyId}/rules` } },
    });
    assert.deepEqual(shown(await servers.getAuthorizationServerPolicy({ authServerId, policyId })), shown(policy));
    const rules = await all(servers.listAuthorizationServerPolicyRules({ authServerId, policyId }));
    assert.deepEqual(
      rules.map(({ name, status, priority, conditions }) => [name, status, priority, shown(conditions)]),
      [['Everyone', 'ACTIVE', 1, {}]],
    );
    assert.equal(await tokenStatus(), 200);
  });

  await t.test('creates, reads, replaces, deactivates and deletes a policy', async () => {
    const policy = await createPolicy('<b>Mine</b>', [clientId], 1);
    const policyId = String(policy.id);
    const { created, lastUpdated, rest } = timed(policy, 'created', 'lastUpdated');
    assert.match(policyId, /^pol_\w{20}$/);
    assert.equal(created, lastUpdated);
    assert.deepEqual(rest, {
      id: policyId,
      type: 'OAUTH_AUTHORIZATION_POLICY',
      name: '<b>Mine</b>',
      description: 'About <b>Mine</b>',
      priority: 1,
      status: 'ACTIVE',
      system: false,
      conditions: { clients: { include: [clientId] } },
      _links: { ...step(`${policies}/${policyId}`, 'deactivate'), rules: { href: `${policies}/${policyId}/rules` } },
    });
    assert.deepEqual(await namesOf(), [
      ['<b>Mine</b>', 1],
      ['Everything', 2],
    ]);
    assert.equal(await tokenStatus(), 400, 'it is the first for the application, and has no rule that fits');

    const whole = await servers.getAuthorizationServerPolicy({ authServerId, policyId });
    whole.name = 'Ours';
    whole.priority = 2;
    const replaced = await servers.replaceAuthorizationServerPolicy({ authServerId, policyId, policy: whole });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.deepEqual([after.created, after.rest], [created, { ...rest, name: 'Ours', priority: 2 }]);
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(shown(await servers.getAuthorizationServerPolicy({ authServerId, policyId })), shown(replaced));
    assert.deepEqual(await namesOf(), [
      ['Everything', 1],
      ['Ours', 2],
    ]);
    assert.equal(await tokenStatus(), 200);

    assert.equal(await servers.deactivateAuthorizationServerPolicy({ authServerId, policyId }), undefined);
    const inactive = await servers.getAuthorizationServerPolicy({ authServerId, policyId });
    assert.deepEqual(
      [inactive.status, shown(inactive._links)],
      ['INACTIVE', { ...step(`${policies}/${policyId}`, 'activate'), rules: { href: `${policies}/${policyId}/rules` } }],
    );
    assert.equal(await servers.activateAuthorizationServerPolicy({ authServerId, policyId }), undefined);
    assert.equal((await servers.getAuthorizationServerPolicy({ authServerId, policyId })).status, 'ACTIVE');

    assert.equal(await servers.deleteAuthorizationServerPolicy({ authServerId, policyId }), undefined);
    assert.deepEqual((await refusal(servers.getAuthorizationServerPolicy({ authServerId, policyId }))).slice(0, 2), [404, 'E0000007']);
  });

  await t.test('creates, reads, replaces, deactivates and deletes a rule', async () => {
    const policyId = String((await createPolicy('With rules', [clientId], 1)).id);
    const policy = { authServerId, policyId };
    assert.deepEqual(await all(servers.listAuthorizationServerPolicyRules(policy)), []);
    const settings = {
      name: '<i>Machines</i>',
      type: 'RESOURCE_ACCESS',
      priority: 1,
      status: 'ACTIVE',
      conditions: {
        people: { users: { include: [] as string[] }, groups: { include: ['EVERYONE'] } },
        grantTypes: { include: ['authorization_code', 'client_credentials'] },
        scopes: { include: ['*'] },
      },
      actions: { token: { accessTokenLifetimeMinutes: 5, refreshTokenLifetimeMinutes: 0, refreshTokenWindowMinutes: 10_080 } },
    } as const;
    const rule = await servers.createAuthorizationServerPolicyRule({ ...policy, policyRule: settings as never });
    const { created, lastUpdated, rest } = timed(rule, 'created', 'lastUpdated');
    const ruleId = String(rule.id);
    assert.match(ruleId, /^rul_\w{20}$/);
    assert.equal(created, lastUpdated);
    const href = `${policies}/${policyId}/rules/${ruleId}`;
    assert.deepEqual(rest, { ...settings, id: ruleId, system: false, _links: step(href, 'deactivate') });
    const one = { ...policy, ruleId };
    assert.deepEqual(shown(await servers.getAuthorizationServerPolicyRule(one)), shown(rule));
    assert.equal(await tokenStatus(), 200);

    const whole = await servers.getAuthorizationServerPolicyRule(one);
    whole.name = 'People';
    whole.conditions = { ...whole.conditions, grantTypes: { include: ['authorization_code'] } };
    const replaced = await servers.replaceAuthorizationServerPolicyRule({ ...one, policyRule: whole as never });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.deepEqual(
      [after.created, after.rest],
      [created, { ...rest, name: 'People', conditions: { ...settings.conditions, grantTypes: { include: ['authorization_code'] } } }],
    );
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(shown(await servers.getAuthorizationServerPolicyRule(one)), shown(replaced), 'the SDK remembers nothing older');
    assert.equal(await tokenStatus(), 400, 'it is no longer for machines');

    const bare = { name: 'Machines again', type: 'RESOURCE_ACCESS', conditions: {} } as const;
    const second = await servers.createAuthorizationServerPolicyRule({ ...policy, policyRule: bare as never });
    assert.deepEqual([second.priority, second.status, shown(second.conditions), shown(second.actions)], [2, 'ACTIVE', {}, {}]);
    assert.deepEqual((await all(servers.listAuthorizationServerPolicyRules(policy))).map(shown), [shown(replaced), shown(second)]);
    assert.equal(await tokenStatus(), 200);

    const other = { ...policy, ruleId: String(second.id) };
    assert.equal(await servers.deactivateAuthorizationServerPolicyRule(other), undefined);
    const inactive = await servers.getAuthorizationServerPolicyRule(other);
    assert.deepEqual(
      [inactive.status, shown(inactive._links)],
      ['INACTIVE', step(`${policies}/${policyId}/rules/${second.id}`, 'activate')],
    );
    assert.equal(await tokenStatus(), 400);
    assert.equal(await servers.activateAuthorizationServerPolicyRule(other), undefined);
    assert.equal(await tokenStatus(), 200);

    assert.equal(await servers.deleteAuthorizationServerPolicyRule(other), undefined);
    assert.deepEqual((await refusal(servers.getAuthorizationServerPolicyRule(other))).slice(0, 2), [404, 'E0000007']);
    assert.equal(await tokenStatus(), 400);
  });

  await t.test('are refused as the SDK expects it', async () => {
    assert.deepEqual((await refusal(createPolicy('Unknown', ['nobody']))).slice(0, 3), [400, 'E0000001', 'Api validation failed']);
    const [policy] = await all(servers.listAuthorizationServerPolicies({ authServerId: 'built-in' }));
    assert.equal(policy?.system, true);
    const own = { authServerId: 'built-in', policyId: String(policy?.id) };
    assert.deepEqual((await refusal(servers.deleteAuthorizationServerPolicy(own))).slice(0, 2), [403, 'E0000038']);
    const rule = {
      name: 'x',
      type: 'RESOURCE_ACCESS',
      conditions: { grantTypes: { include: ['urn:ietf:params:oauth:grant-type:saml2-bearer'] } },
    };
    const [status, code, , [cause]] = await refusal(
      servers.createAuthorizationServerPolicyRule({
        authServerId,
        policyId: String((await createPolicy('Refusing')).id),
        policyRule: rule as never,
      }),
    );
    assert.deepEqual([status, code], [400, 'E0000001']);
    assert.match(String(cause), /^conditions\.grantTypes\.include\.0: /);
  });
});
