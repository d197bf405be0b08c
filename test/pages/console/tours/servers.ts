/** API → Authorization servers: the list, one with much on it, the built-in one; claims; access policies; the simulator with each of its answers. */
import assert from 'node:assert/strict';
import type { ServiceCalls } from '../../../support/service.ts';
import { LONG, type Tour } from '../tour.ts';

async function made(service: ServiceCalls, path: string, body: unknown): Promise<string> {
  const answer = await service.api('POST', path, body);
  assert.equal(answer.status, 201, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

const server = (service: ServiceCalls, id: string, more: Record<string, unknown> = {}): Promise<string> =>
  made(service, '/authorizationServers', { id, name: id, signingAlg: 'ES256', ...more });

const LONG_SCOPE = 'x'.repeat(100);

export const servers: Tour = async (service) => {
  await server(service, 'full', { name: LONG, description: LONG, audiences: [LONG] });
  for (let n = 0; n < 19; n += 1) await server(service, `s${n}`);
  await service.api('POST', '/authorizationServers/s1/lifecycle/deactivate');
  const scopes = '/authorizationServers/full/scopes';
  const scopeId = await made(service, scopes, { name: LONG_SCOPE, displayName: LONG, consent: 'REQUIRED', default: true });
  for (let n = 0; n < 20; n += 1) await made(service, scopes, { name: `scope:${n}`, consent: 'FLEXIBLE', metadataPublish: 'NO_CLIENTS' });
  const detailTypeId = await made(service, '/authorizationServers/full/authorizationDetailTypes', {
    name: LONG_SCOPE,
    displayName: LONG,
    template: LONG,
  });
  const { body: standard } = await service.api('GET', `${scopes}?q=openid`);
  const tokenId = await made(service, '/authorizationServers/full/registrationTokens', { name: LONG });
  await server(service, 'mcp', {
    audiences: ['https://mcp.example/mcp', 'https://other.example/mcp'],
    clientIdMetadata: { enabled: true },
  });
  await made(service, '/authorizationServers/mcp/scopes', { name: 'notes:read' });
  await server(service, 'opaque-mcp', { audiences: ['https://opaque.example/mcp'], accessTokenFormat: 'opaque' });
  const { body: policies } = await service.api('GET', '/authorizationServers/opaque-mcp/policies');
  await service.api('DELETE', `/authorizationServers/opaque-mcp/policies/${policies[0].id}`);
  await service.api('POST', '/authorizationServers/opaque-mcp/lifecycle/deactivate');
  const home = '/api/servers/full';
  return [
    '/api/servers',
    '/api/servers?q=nothing-of-this-name',
    '/api/servers/new',
    home,
    '/api/servers/built-in',
    `${home}/edit`,
    '/api/servers/built-in/edit',
    '/api/servers/s1/activate',
    `${home}/deactivate`,
    `${home}/delete`,
    `${home}/scopes`,
    '/api/servers/built-in/scopes',
    `${home}/scopes/new`,
    `${home}/scopes/${scopeId}`,
    `${home}/scopes/${standard[0].id}`,
    `${home}/scopes/${scopeId}/delete`,
    `${home}/details/new`,
    `${home}/details/${detailTypeId}`,
    `${home}/details/${detailTypeId}/delete`,
    `${home}/keys`,
    `${home}/keys/rotate`,
    `${home}/protect`,
    '/api/servers/built-in/protect',
    '/api/mcp',
    '/api/mcp?server=mcp',
    `${home}/mcp`,
    '/api/servers/mcp/mcp',
    '/api/servers/opaque-mcp/mcp',
    `${home}/registration`,
    '/api/servers/built-in/registration',
    `${home}/registration/new`,
    `${home}/registration/${tokenId}/revoke`,
  ];
};

export const serverClaims: Tour = async (service) => {
  await server(service, 'claims');
  await server(service, 'no-claims');
  await made(service, '/authorizationServers/claims/scopes', { name: LONG_SCOPE });
  const claim = { claimType: 'IDENTITY', conditions: { scopes: [LONG_SCOPE] } };
  const claims = [
    { ...claim, name: 'department', valueType: 'USER_ATTRIBUTE', value: 'user.profile.department' },
    { ...claim, name: 'teams', valueType: 'GROUPS', value: 'team-', group_filter_type: 'STARTS_WITH', alwaysIncludeInToken: false },
    { name: 'y'.repeat(100), claimType: 'RESOURCE', valueType: 'STATIC', value: LONG, status: 'INACTIVE' },
    { ...claim, name: 'orgs', valueType: 'ORGANIZATION', value: 'name' },
  ];
  const ids: string[] = [];
  for (const one of claims) ids.push(await made(service, '/authorizationServers/claims/claims', one));
  const home = '/api/servers/claims/claims';
  return [
    home,
    '/api/servers/no-claims/claims',
    '/api/servers/built-in/claims',
    `${home}/new`,
    ...['USER_ATTRIBUTE', 'GROUPS', 'DEPARTMENT', 'STATIC'].map((kind) => `${home}/new/${kind}`),
    ...ids.map((id) => `${home}/${id}`),
    `${home}/${ids[2]}/delete`,
  ];
};

export const serverPolicies: Tour = async (service) => {
  await server(service, 'policies', { name: `${LONG} policies` });
  await server(service, 'no-policies');
  await made(service, '/authorizationServers/policies/scopes', { name: LONG_SCOPE, consent: 'REQUIRED', default: true });
  const [user, { clientId }] = [await service.createUser(), await service.createApp({ redirect_uris: ['https://app.example/callback'] })];
  const { body: group } = await service.api('POST', '/groups', { profile: { name: `Servers ${LONG}` } });
  const policies = '/authorizationServers/policies/policies';
  const conditions = { clients: { include: [clientId] } };
  const policyId = await made(service, policies, { name: `Policy ${LONG}`, description: LONG, priority: 1, conditions });
  const emptyId = await made(service, policies, { name: 'Nobody', conditions: { clients: { include: [] } }, status: 'INACTIVE' });
  const rules = `${policies}/${policyId}/rules`;
  const ruleId = await made(service, rules, {
    name: LONG,
    conditions: {
      people: { users: { include: [user.id] }, groups: { include: [group.id] } },
      grantTypes: { include: ['password', 'implicit'] },
      scopes: { include: ['openid', LONG_SCOPE] },
    },
    actions: { token: { accessTokenLifetimeMinutes: 5, refreshTokenLifetimeMinutes: 0, refreshTokenWindowMinutes: 90 } },
  });
  const inactiveId = await made(service, rules, { name: 'Asleep', status: 'INACTIVE', conditions: {} });
  await made(service, rules, { name: 'Others', conditions: { people: { users: { include: [] } }, scopes: { include: [] } } });
  const { body: applied } = await service.api('GET', '/authorizationServers/no-policies/policies');
  await service.api('DELETE', `/authorizationServers/no-policies/policies/${applied[0].id}`);

  const home = '/api/servers/policies';
  const policy = `${home}/policies/${policyId}`;
  const rule = `${policy}/rules/${ruleId}`;
  const ask = (id: string, question: Record<string, string>) => `/api/servers/${id}/simulator?${new URLSearchParams(question)}`;
  const question = { application: clientId, user: user.login, grant: 'authorization_code', scopes: 'openid profile', prompt: '' };
  return [
    `${home}/policies`,
    '/api/servers/no-policies/policies',
    `${home}/policies/new`,
    policy,
    `${home}/policies/${emptyId}`,
    `${policy}/edit`,
    `${policy}/move`,
    `${home}/policies/${emptyId}/activate`,
    `${policy}/deactivate`,
    `${policy}/delete`,
    `${policy}/rules/new`,
    rule,
    `${rule}/move`,
    `${policy}/rules/${inactiveId}/activate`,
    `${rule}/deactivate`,
    `${rule}/delete`,
    `${home}/simulator`,
    ask('policies', question),
    ask('built-in', question),
    ask('policies', { ...question, application: '' }),
  ];
};
