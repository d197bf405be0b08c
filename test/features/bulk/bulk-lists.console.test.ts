/** Bulk actions on the rows of lists that are not of users: the same selection, confirmation, job and result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BULK_ACTIONS, kindOf } from '../../../src/features/bulk/bulk.resource.ts';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { startOnTour } from '../../pages/console/tours.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { linkAccount } from '../users/user-holdings.ts';
import { confirmed } from './confirmation.ts';

const select = (agent: UserAgent, list: Page, action: string, chosen: readonly string[]): Promise<Page> =>
  agent.submit(list, 'console-form', { action, chosen: [...chosen] });

const eventsOf = async (service: Service, type: string): Promise<number> =>
  (await service.api('GET', `/logs?since=2020-01-01T00:00:00Z&limit=200&filter=eventType eq "${type}"`)).body.length;

test('every list with a selection asks for a row, and drafts each of its actions for all rows', async (t) => {
  const { service, stops } = await startOnTour(t);
  const { agent } = await enter(service);
  const offered = new Set<string>();
  for (const stop of stops) {
    const list = await agent.visit(`/admin${stop}`);
    const form = /<form id="console-form" class="choosing"[\s\S]*?<\/form>/.exec(list.text)?.[0] ?? '';
    const actions = BULK_ACTIONS.filter((action) => form.includes(`value="${action}"`) && !offered.has(action));
    for (const action of actions) {
      offered.add(action);
      const none = await agent.submit(list, 'console-form', { action });
      assert.equal(none.status, 400, `${stop}: ${action}`);
      assert.match(wordsOf(none), /Select at least one row/, `${stop}: ${action}`);
      assert.doesNotMatch(wordsOf(none), /Chosen/, `${stop}: ${action}`);
      if (!form.includes('name="scope"')) continue;
      const confirm = await agent.submit(list, 'console-form', { action, scope: 'all' });
      assert.match(wordsOf(confirm), /: [\d,]+ [a-z ]+\?/, `${stop}: ${action}`);
      assert.match(confirm.url.pathname, /^\/admin\/bulk\/.*\/confirm$/, `${stop}: ${action}`);
    }
  }
  const missing = BULK_ACTIONS.filter((action) => action !== 'users.import' && kindOf(action) !== 'sessions' && !offered.has(action));
  assert.deepEqual(missing, []);
});

test('groups are deleted with what the confirmation counts, and applications deactivated, but none of the service itself', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const groups: string[] = [];
  for (const name of ['Editors', 'Readers', 'Écrivains'])
    groups.push((await service.api('POST', '/groups', { profile: { name } })).body.id);
  const user = await service.createUser();
  for (const id of groups.slice(0, 2)) await service.api('PUT', `/groups/${id}/users/${user.id}`);
  const { agent } = await enter(service);
  const confirm = await select(agent, await agent.visit('/admin/groups'), 'groups.delete', groups.slice(0, 2));
  assert.match(wordsOf(confirm), /Delete: 2 groups\?.*This affects 2 members\..*Editors, Readers/);
  assert.equal((await service.api('GET', '/groups')).body.length, 3, 'nothing happens before it is confirmed');
  assert.match(await confirmed(agent, confirm), /2 done, 0 refused, 0 left/);
  assert.deepEqual(
    (await service.api('GET', '/groups')).body.map(({ id }: { id: string }) => id),
    [groups[2]],
  );
  assert.equal(await eventsOf(service, 'group.lifecycle.delete'), 2);
  assert.match(wordsOf(await agent.visit('/admin/bulk')), /Delete 2 groups Done admin/);

  assert.doesNotMatch(
    (await agent.visit('/admin/applications')).text,
    /class="choosing"/,
    'only applications of the service: no row can be selected',
  );
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'] });
  const list = await agent.visit('/admin/applications');
  const all = await agent.submit(list, 'console-form', { action: 'applications.deactivate', scope: 'all' });
  assert.match(await confirmed(agent, all), /1 done, [1-9]\d* refused, 0 left/, 'applications of the service are refused');
  assert.equal((await service.api('GET', `/apps/${clientId}`)).body.status, 'INACTIVE');
});

test('an application is deleted though the database does not delete its tokens yet', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'] });
  const { agent } = await enter(service);
  const confirm = await select(agent, await agent.visit('/admin/applications'), 'applications.delete', [clientId]);
  await onServer(service.database.url, async (sql) => {
    await sql.query(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now' USING ERRCODE = '57014'; END $$",
    );
    await sql.query('CREATE TRIGGER refuse BEFORE DELETE ON browser_session_clients EXECUTE FUNCTION refuse()');
  });
  assert.match(await confirmed(agent, confirm), /1 done, 0 refused, 0 left/);
  assert.equal((await service.api('GET', `/apps/${clientId}`)).status, 404);
});

test('before providers are deleted, the confirmation says who may have no other way to sign in', async (t) => {
  const service = await startService(t);
  const { body: without } = await service.api('POST', '/users?activate=false', { profile: { login: 'no-password' } });
  const ids = [await linkAccount(service, (await service.createUser()).id), await linkAccount(service, without.id, 'Other')];
  const { agent } = await enter(service);
  for (const action of ['identity-providers.deactivate', 'identity-providers.delete']) {
    const confirm = await select(agent, await agent.visit('/admin/security/identity-providers'), action, ids);
    assert.match(
      wordsOf(confirm),
      /This affects 2 users\. This includes 1 user without a password, who may have no other way to sign in\./,
    );
  }
});

test('sessions, tokens and invitations end; an administrator of an organization selects only rows of their own list', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const orgId = await createOrganization(service, 'Acme');
  const { agent } = await enter(service);
  const invite = async (id: string, email: string): Promise<string> =>
    (await service.api('POST', `/account/org/${id}/invitation`, { email })).body.id;
  const own = [await invite(orgId, 'ada@example.com'), await invite(orgId, 'bo@example.com')];
  const otherOrg = await createOrganization(service, 'Other');
  const other = await invite(otherOrg, 'cy@example.com');
  const administrator = await createAdministrator(service, 'ORG_ADMIN', orgId);
  const { agent: theirs } = await enter(service, administrator);
  const list = await theirs.visit(`/admin/organizations/${orgId}/invitations`);
  const foreign = await select(theirs, list, 'invitations.revoke', [other]);
  assert.match(wordsOf(foreign), /Select at least one row/, 'a row of another list is none');
  const confirm = await select(theirs, list, 'invitations.revoke', [own[0] ?? '', other]);
  assert.match(wordsOf(confirm), /Revoke: 1 invitation\?.*ada@example\.com/);
  assert.match(await confirmed(theirs, confirm), /1 done, 0 refused, 0 left/);
  assert.deepEqual(
    (await service.api('GET', `/account/org/${orgId}/invitation`)).body.map(({ id }: { id: string }) => id),
    [own[1]],
  );

  const { id } = (await service.api('GET', `/users/${administrator.id}`)).body;
  const sessions = await agent.visit(`/admin/users/${id}/sessions`);
  const ending = await agent.submit(sessions, 'console-form', { action: 'sessions.end', scope: 'all' });
  assert.match(wordsOf(ending), /End: 1 session\?/);
  assert.match(await confirmed(agent, ending), /1 done, 0 refused, 0 left/);
  assert.notEqual((await theirs.visit('/admin/users')).url.pathname, '/admin/users', 'the session is over');

  const form = await agent.visit('/admin/api/tokens/new');
  await agent.submit(form, 'console-form', { name: 'Nightly', type: 'API', expires: '30' });
  const tokens = await agent.visit('/admin/api/tokens?q=nightly');
  const revoke = await agent.submit(tokens, 'console-form', { action: 'tokens.revoke', scope: 'all' });
  assert.match(wordsOf(revoke), /Revoke: 1 token\?.*Nightly/, 'what the search finds');
  assert.match(await confirmed(agent, revoke), /1 done, 0 refused, 0 left/);
  assert.doesNotMatch((await agent.visit('/admin/api/tokens')).text, /Nightly/);
});

test('of a server, scopes and claims are deleted by the selection, and what is in use is refused with its reason', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const home = '/authorizationServers/default';
  for (const name of ['read', 'write', 'used']) await service.api('POST', `${home}/scopes`, { name });
  for (const [name, scopes] of [
    ['tier', ['used']],
    ['plan', []],
  ] as const)
    await service.api('POST', `${home}/claims`, {
      name,
      claimType: 'RESOURCE',
      valueType: 'STATIC',
      value: 'gold',
      conditions: { scopes },
    });
  const { agent } = await enter(service);
  const scopes = await agent.visit('/admin/api/servers/default/scopes?q=r');
  const found = await agent.submit(scopes, 'console-form', { action: 'scopes.delete', scope: 'all' });
  const names = async (part: string): Promise<readonly string[]> =>
    (await service.api('GET', `${home}/${part}?limit=200`)).body.map(({ name }: { name: string }) => name);
  const result = await confirmed(agent, found);
  assert.match(result, /2 done, [1-9]\d* refused, 0 left/, 'standard scopes are refused');
  const left = await names('scopes');
  assert.deepEqual(
    ['read', 'write', 'used', 'profile'].filter((name) => left.includes(name)),
    ['used', 'profile'],
  );

  const used =
    /<input[^>]*value="([^"]+)"[^>]*aria-label="[^"]*used/.exec(
      (await agent.visit('/admin/api/servers/default/scopes?q=used')).text,
    )?.[1] ?? '';
  const kept = await select(agent, await agent.visit('/admin/api/servers/default/scopes?q=used'), 'scopes.delete', [used]);
  assert.match(await confirmed(agent, kept), /0 done, 1 refused, 0 left.*tier/);

  const claims = await agent.submit(await agent.visit('/admin/api/servers/default/claims'), 'console-form', {
    action: 'claims.delete',
    scope: 'all',
  });
  assert.match(await confirmed(agent, claims), /2 done, 0 refused, 0 left/);
  assert.deepEqual(await names('claims'), []);
});

test('servers and inline hooks change their status, and the built-in server never', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const { agent } = await enter(service);
  const servers = await agent.visit('/admin/api/servers');
  const off = await agent.submit(servers, 'console-form', { action: 'servers.deactivate', chosen: ['default', 'built-in'] });
  assert.match(await confirmed(agent, off), /1 done, 1 refused, 0 left.*the built-in authorization server cannot be deactivated/);
  assert.equal((await service.api('GET', '/authorizationServers/default')).body.status, 'INACTIVE');

  const hook = {
    name: 'Tokens',
    type: 'com.okta.oauth2.tokens.transform',
    version: '1.0.0',
    channel: { type: 'HTTP', version: '1.0.0', config: { uri: 'https://hook.example/', method: 'POST' } },
  };
  const { status, body } = await service.api('POST', '/inlineHooks', hook);
  assert.equal(status, 200, JSON.stringify(body));
  const hooks = await agent.submit(await agent.visit('/admin/api/inline-hooks'), 'console-form', {
    action: 'inline-hooks.deactivate',
    chosen: [body.id],
  });
  assert.match(await confirmed(agent, hooks), /1 done, 0 refused, 0 left/);
  assert.equal((await service.api('GET', `/inlineHooks/${body.id}`)).body.status, 'INACTIVE');
});
