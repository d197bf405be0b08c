/** The console protects MCP servers, without JavaScript: by a new authorization server or one that is there; what it writes, and what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, enter, wordsOf } from '../../pages/console/administrators.ts';
import { type Service, startService } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';

const URL_OF_IT = 'https://mcp.example/mcp';

const protect = async (agent: UserAgent, typed: Record<string, string | readonly string[]>): Promise<Page> =>
  agent.submit(await agent.visit('/admin/api/mcp'), 'console-form', { url: URL_OF_IT, name: 'Notes', ...typed });

const problemOf = ({ text }: Page, field: string): string | undefined => new RegExp(`id="${field}-problem">([^<]*)<`).exec(text)?.[1];

const serverOf = async (service: Service, id: string) => (await service.api('GET', `/authorizationServers/${id}`)).body;

/** Conditions of all rules of a server, by the names of the rules. */
async function rulesOf(service: Service, id: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const path = `/authorizationServers/${id}/policies`;
  for (const policy of (await service.api('GET', path)).body)
    for (const { name, conditions } of (await service.api('GET', `${path}/${policy.id}/rules`)).body) found[name] = conditions;
  return found;
}

const group = async (service: Service, name: string): Promise<string> =>
  (await service.api('POST', '/groups', { profile: { name } })).body.id;

test('a new authorization server: its audience, scopes, clients and users are what was typed', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const groupId = await group(service, 'Writers');
  for (const [url, isGood] of [
    ['https://mcp.example/mcp?x=1', false],
    ['https://user@mcp.example/', false],
    ['http://mcp.example/mcp', false],
    ['mcp.example', false],
    ['http://localhost:3000/mcp', true],
  ] as const)
    assert.equal(/^Must be an https URL/.test(problemOf(await protect(agent, { url, name: '' }), 'url') ?? ''), !isGood, url);
  const refused = await protect(agent, { scopes: 'notes:read Read\nschön Alles' });
  assert.match(problemOf(refused, 'scopes') ?? '', /^Must begin with a scope: .*\(entry 2\)$/);

  const typed = { id: 'notes', scopes: 'notes:read Read your notes\nnotes:write', people: 'some', groups: groupId };
  const page = await protect(agent, { ...typed, registration: [] });
  assert.equal(page.url.pathname, '/admin/api/servers/notes/mcp', wordsOf(page));
  const { audiences, profile, clientIdMetadata, registration } = await serverOf(service, 'notes');
  assert.deepEqual([audiences, profile, clientIdMetadata.enabled, registration.mode], [[URL_OF_IT], 'openid', true, 'OFF']);
  const { body: scopes } = await service.api('GET', '/authorizationServers/notes/scopes?q=notes');
  assert.deepEqual(
    scopes.map((scope: Record<string, unknown>) => [scope.name, scope.displayName, scope.consent, scope.default]),
    [
      ['notes:read', 'Read your notes', 'REQUIRED', true],
      ['notes:write', 'notes:write', 'REQUIRED', true],
    ],
  );
  assert.deepEqual(await rulesOf(service, 'notes'), {
    'Members of the groups': {
      people: { groups: { include: [groupId] }, users: { include: [] } },
      grantTypes: { include: ['authorization_code'] },
    },
  });
  assert.match(wordsOf(page), /The access policies admit only the users that they name/);
  assert.match(wordsOf(page), /Issuer .*\/oauth\/v1\/notes/);

  const { body: events } = await service.api('GET', '/logs?sortOrder=DESCENDING&limit=5');
  assert.deepEqual(
    events.map(({ eventType }: { eventType: string }) => eventType),
    ['policy.rule.update', 'policy.lifecycle.update', 'oauth2.scope.created', 'oauth2.scope.created', 'oauth2.as.created'],
  );
  const taken = await protect(agent, { ...typed, name: 'Others' });
  assert.match(wordsOf(taken), /another authorization server has this name or ID. Choose others/i);
  assert.deepEqual((await service.api('GET', '/authorizationServers?q=Others')).body, [], 'nothing of it is written');
});

test('an existing authorization server keeps what it has; a rule is added only where its policies refuse', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const before = { id: 'orders', name: 'Orders', audiences: ['api://orders'], accessTokenLifetimeMinutes: 5, signingAlg: 'ES256' };
  const registration = { mode: 'TOKEN', allowedScopes: ['openid'], allowedRedirectHosts: ['localhost'], expiresAfterDays: 7 };
  await service.api('POST', '/authorizationServers', { ...before, registration });
  const existing = { server: 'existing', existing: 'orders', scopes: 'orders:read Read your orders' };
  const groupId = await group(service, 'Buyers');

  const narrowed = await protect(agent, { ...existing, people: 'some', groups: groupId });
  assert.match(problemOf(narrowed, 'people') ?? '', /^Has no effect/);
  assert.deepEqual((await serverOf(service, 'orders')).audiences, ['api://orders'], 'nothing is written');

  const page = await protect(agent, existing);
  assert.equal(page.url.pathname, '/admin/api/servers/orders/mcp', wordsOf(page));
  const after = await serverOf(service, 'orders');
  assert.deepEqual(
    [after.name, after.audiences, after.accessTokenLifetimeMinutes, after.signingAlg, after.profile],
    ['Orders', ['api://orders', URL_OF_IT], 5, 'ES256', 'service'],
  );
  assert.deepEqual(after.registration, { ...registration, mode: 'OPEN', allowedScopes: ['openid', 'orders:read', 'offline_access'] });
  assert.deepEqual(Object.keys(await rulesOf(service, 'orders')), ['Everyone']);

  const path = '/authorizationServers/orders/policies';
  const [policy] = (await service.api('GET', path)).body;
  const [rule] = (await service.api('GET', `${path}/${policy.id}/rules`)).body;
  const machines = { name: 'Machines', conditions: { grantTypes: { include: ['client_credentials'] } } };
  assert.equal((await service.api('PUT', `${path}/${policy.id}/rules/${rule.id}`, machines)).status, 200);
  await protect(agent, { ...existing, url: 'https://second.example/', people: 'some', groups: groupId });
  assert.deepEqual((await serverOf(service, 'orders')).audiences, ['api://orders', URL_OF_IT, 'https://second.example']);
  assert.deepEqual(await rulesOf(service, 'orders'), {
    Machines: { grantTypes: { include: ['client_credentials'] } },
    'MCP: Notes': {
      people: { groups: { include: [groupId] }, users: { include: [] } },
      grantTypes: { include: ['authorization_code'] },
      scopes: { include: ['openid', 'orders:read', 'offline_access'] },
    },
  });
  const shown = await agent.visit(`/admin/api/servers/orders/mcp?resource=${encodeURIComponent('https://second.example')}`);
  assert.match(shown.text, /resource_metadata=&#34;https:\/\/second\.example\/\.well-known\/oauth-protected-resource&#34;/);
});

test('the form carries out once what is sent twice; the page is there for readers, the form is not', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/api/mcp');
  const typed = { url: URL_OF_IT, name: 'Notes' };
  const addresses = [await agent.submit(form, 'console-form', typed), await agent.submit(form, 'console-form', typed)].map(
    ({ url }) => url.pathname,
  );
  assert.equal(addresses[0], addresses[1]);
  assert.match(addresses[0] ?? '', /^\/admin\/api\/servers\/aus\w+\/mcp$/);
  assert.equal((await service.api('GET', '/authorizationServers?q=Notes')).body.length, 1);
  assert.match((await agent.visit('/admin/api/servers')).text, /href="\/admin\/api\/mcp"/);

  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent: reading } = await enter(service, reader);
  assert.equal((await reading.send('/admin/api/mcp')).status, 403);
  const page = await reading.visit(addresses[0] ?? '');
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /href="\/admin\/api\/mcp/);
});
