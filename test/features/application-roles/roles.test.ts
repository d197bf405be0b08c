/** Roles of an application from the console into tokens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { createClient, post, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('roles are made and assigned in the console, and stand in tokens until the next one after the assignment', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const client = await createClient(service);
  const home = `/admin/applications/${client.clientId}`;
  const user = await service.createUser();
  const group = (await service.api('POST', '/groups', { profile: { name: 'Staff' } })).body.id;
  await service.api('PUT', `/groups/${group}/users/${user.id}`);
  await service.api('PUT', `/apps/${client.clientId}/groups/${group}`);

  assert.match(wordsOf(await agent.visit(`${home}/roles`)), /This application has no roles yet/);
  const form = await agent.visit(`${home}/roles/new`);
  assert.match((await agent.submit(form, 'console-form', { name: '' })).text, /id="name-problem">Must not be empty/);
  const made = await agent.submit(form, 'console-form', { name: 'editor', displayName: 'Editors', description: 'Write' });
  assert.match(wordsOf(made), /The role is created.*Editors editor Write/);
  assert.match((await agent.submit(form, 'console-form', { name: 'editor' })).text, /id="name-problem">Another role of this application/);
  const page = await agent.visit(`${home}/assignments/groups/${group}/roles`);
  assert.match(wordsOf(await agent.submit(page, 'console-form', { roles: 'editor' })), /The roles are assigned.*Staff editor/);

  const server = (
    await service.api('POST', '/authorizationServers', {
      name: 'Shop',
      profile: 'openid',
      audiences: ['https://shop.example'],
      accessTokenFormat: 'jwt',
    })
  ).body.id;
  assert.equal((await service.api('POST', `/authorizationServers/${server}/scopes`, { name: 'roles' })).status, 201);
  const scope = 'openid roles offline_access';
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: server, scope });
  assert.deepEqual([decodeJwt(body.access_token).roles, decodeJwt(body.id_token).roles], [['editor'], ['editor']]);
  assert.deepEqual((await userinfo(service, server, body.access_token)).body.roles, ['editor']);

  await service.api('DELETE', `/apps/${client.clientId}/groups/${group}`);
  const refreshed = await post(service, server, 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  assert.equal(decodeJwt(refreshed.body.access_token).roles, undefined);

  const { body: roles } = await service.api('GET', `/apps/${client.clientId}/roles`);
  const edit = await agent.visit(`${home}/roles/${roles[0].id}`);
  assert.match(wordsOf(await agent.submit(edit, 'console-form', { name: 'author' })), /The role is changed.*author/);
  const gone = await agent.submit(await agent.visit(`${home}/roles/${roles[0].id}/delete`), 'console-form');
  assert.match(wordsOf(gone), /The role is deleted.*This application has no roles yet/);
});

test('a rule for a role lets those in who have it at the application that asks', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const user = await service.createUser();
  await service.api('POST', `/apps/${client.clientId}/roles`, { name: 'editor' });
  const server = (
    await service.api('POST', '/authorizationServers', { name: 'Desk', profile: 'openid', audiences: ['https://desk.example'] })
  ).body.id;
  const at = `/authorizationServers/${server}/policies`;
  const [policy] = (await service.api('GET', at)).body;
  const [rule] = (await service.api('GET', `${at}/${policy.id}/rules`)).body;
  const conditions = { people: { roles: { include: ['editor'] } } };
  assert.equal((await service.api('PUT', `${at}/${policy.id}/rules/${rule.id}`, { name: rule.name, conditions })).status, 200);
  const ask = () => tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: server, scope: 'openid' });
  assert.equal((await ask()).status, 400, 'no code without the role');
  await service.api('PUT', `/apps/${client.clientId}/users/${user.id}`, { roles: ['editor'] });
  assert.equal((await ask()).status, 200);
});
