/** Whose users an administrator sees and changes in the console, and how closely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';
import { giveConsent } from './user-holdings.ts';

test('an organization’s administrator works with the people of his organization alone', async (t) => {
  const service = await startService(t);
  const [own, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  const [his, shared, stranger] = [await service.createUser(), await service.createUser(), await service.createUser()];
  await service.api('PUT', `/account/org/${own}/member/${his.id}`, {});
  for (const orgId of [own, other]) await service.api('PUT', `/account/org/${orgId}/member/${shared.id}`, {});
  await service.api('PUT', `/account/org/${other}/member/${stranger.id}`, {});
  const { agent } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', own));

  const list = await agent.visit('/admin/users');
  assert.match(list.text, new RegExp(his.login));
  assert.doesNotMatch(list.text, new RegExp(`${stranger.login}|/admin/groups"`));
  const tabs = await agent.visit(`/admin/users/${his.id}`);
  assert.doesNotMatch(tabs.text, /\/(groups|roles|data|activity|applications|linked-accounts)"/);
  assert.match(tabs.text, /\/edit"/);
  const sees = await agent.visit(`/admin/users/${shared.id}`);
  assert.equal(sees.status, 200);
  assert.doesNotMatch(sees.text, /\/edit"/, 'he may not change whom he shares');
  assert.equal((await agent.visit(`/admin/users/${shared.id}/edit`)).status, 403);
  assert.match(tabs.text, /\/security"/);
  assert.doesNotMatch(sees.text, /\/(security|sessions|factors)/, 'where a shared user signs in is not shown');
  assert.match(wordsOf(await agent.visit(`/admin/users/${his.id}/access`)), /Organizations.*Consents/);
  assert.doesNotMatch(wordsOf(await agent.visit(`/admin/users/${shared.id}/access`)), /Consents/);
  assert.match(wordsOf(await agent.visit(`/admin/users/${his.id}/security`)), /Sessions/);
  for (const tab of ['sessions', 'consents', 'factors']) {
    assert.equal((await agent.visit(`/admin/users/${shared.id}/${tab}`)).status, 403, tab);
  }
  assert.doesNotMatch((await agent.visit(`/admin/users/${shared.id}/organizations`)).text, /Other/);
  for (const path of ['', '/edit', '/sessions', '/access', '/security', '/life-cycle/suspend']) {
    assert.equal((await agent.visit(`/admin/users/${stranger.id}${path}`)).status, 404, path);
  }
  const suspend = await agent.visit(`/admin/users/${his.id}/life-cycle/suspend`);
  const posted = await agent.submit({ ...suspend, text: suspend.text.replaceAll(his.id, shared.id) }, 'console-form');
  assert.equal(posted.status, 403);
  assert.equal((await agent.submit({ ...suspend, text: suspend.text.replaceAll(his.id, stranger.id) }, 'console-form')).status, 404);
  assert.equal((await agent.submit(suspend, 'console-form')).status, 200);
  assert.equal((await service.api('GET', `/users/${his.id}`)).body.status, 'SUSPENDED');

  const form = await agent.visit('/admin/users/new');
  assert.doesNotMatch(form.text, /Other/);
  const without = await agent.submit(form, 'console-form', { login: 'gina', way: 'later', orgId: '' });
  assert.match(without.text, /id="orgId-problem">Is required/);
  const foreign = await agent.submit(form, 'console-form', { login: 'gina', way: 'later', orgId: other });
  assert.match(foreign.text, /id="orgId-problem">Does not exist here/);
  assert.match(wordsOf(await agent.submit(form, 'console-form', { login: 'gina', way: 'later', orgId: own })), /The user is created/);
});

test('a read-only administrator sees every tab and no button', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await giveConsent(service, user);
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  for (const tab of [
    '',
    'organizations',
    'groups',
    'applications',
    'sessions',
    'consents',
    'factors',
    'linked-accounts',
    'roles',
    'access',
    'security',
  ]) {
    const page = await agent.visit(`/admin/users/${user.id}/${tab}`);
    assert.equal(page.status, 200, tab);
    assert.doesNotMatch(page.text, /class="button main"|\/(new|edit|end|revoke|reset|remove|take|suspend)"/, tab);
  }
  assert.doesNotMatch((await agent.visit('/admin/users')).text, /Create user/);
});
