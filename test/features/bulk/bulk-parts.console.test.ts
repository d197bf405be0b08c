/** Bulk actions on what belongs to users, applications and organizations: assignments, links, roles, factors and more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { startOnTour } from '../../pages/console/tours.ts';
import { startService } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';
import { linkAccount } from '../users/user-holdings.ts';
import { confirmed } from './confirmation.ts';

const rowsOf = ({ text }: Page): number => [...text.matchAll(/name="chosen"/g)].length;

/** Actions, with the reasons for which rows may stay. An action comes before those that also remove its rows. */
const REMOVALS = new Map<string, RegExp | undefined>([
  ['trusted-browsers.end', undefined],
  ['factors.reset', undefined],
  ['roles.remove', undefined],
  ['group-memberships.remove', undefined],
  ['affiliations.remove', undefined],
  ['links.remove', undefined],
  ['assignments.remove', /there is no direct assignment/],
  ['zones.delete', /rule/],
  ['rules.delete', undefined],
  ['policies.delete', undefined],
  ['application-roles.delete', undefined],
  ['organization-roles.delete', /not found/i],
  ['organization-providers.remove', undefined],
  ['domains.remove', /uses this domain/],
]);

test('rows that belong to a user, an application or an organization are removed by their lists', async (t) => {
  const { service, stops } = await startOnTour(t, { sendsOutbox: true });
  const { agent } = await enter(service);
  const offers = new Map<string, string>();
  for (const stop of stops) {
    const { text } = await agent.visit(`/admin${stop}`);
    for (const action of REMOVALS.keys()) if (!offers.has(action) && text.includes(`value="${action}"`)) offers.set(action, stop);
  }
  for (const [action, reason] of REMOVALS) {
    const stop = offers.get(action) ?? assert.fail(`no list offers ${action}`);
    const list = await agent.visit(`/admin${stop}`);
    const before = rowsOf(list);
    const result = await confirmed(agent, await agent.submit(list, 'console-form', { action, scope: 'all' }));
    const [, done = '', refused = ''] = /(\d+) done, (\d+) refused, 0 left/.exec(result) ?? assert.fail(`${action}: ${result}`);
    if (reason === undefined) assert.equal(refused, '0', `${action}: ${result}`);
    else if (refused !== '0') assert.match(result, reason, action);
    assert.equal(rowsOf(await agent.visit(`/admin${stop}`)), Math.max(0, before - Number(done)), `${stop}: ${action}`);
  }
});

test('administrators lose all roles and tokens together, but the last one of the service stays', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const orgIds = [await createOrganization(service, 'Acme'), await createOrganization(service, 'Other')];
  const administrator = await createAdministrator(service, 'READ_ONLY_ADMIN', undefined, { login: 'reader' });
  for (const orgId of orgIds) await service.api('POST', `/users/${administrator.id}/roles`, { type: 'ORG_ADMIN', orgId });
  const { agent } = await enter(service);
  const all = await agent.visit('/admin/security/administrators');
  const confirm = await agent.submit(all, 'console-form', { action: 'administrators.remove-roles', scope: 'all' });
  assert.match(wordsOf(confirm), /Remove all roles: 2 administrators\?.*This affects 4 roles/);
  assert.match(await confirmed(agent, confirm), /1 done, 1 refused, 0 left.*last/);
  assert.deepEqual((await service.api('GET', `/users/${administrator.id}/roles`)).body, []);
});

test('an assignment by a group stays, and members of a group are counted before its assignment is removed', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const user = await service.createUser();
  const { id: groupId } = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  await service.api('PUT', `/groups/${groupId}/users/${user.id}`);
  const direct = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const byGroup = (await service.createApp({ redirect_uris: ['https://other.example/cb'] })).clientId;
  await service.api('PUT', `/apps/${direct}/users/${user.id}`);
  await service.api('PUT', `/apps/${byGroup}/groups/${groupId}`);
  const { agent } = await enter(service);
  const own = await agent.visit(`/admin/users/${user.id}/applications`);
  assert.equal(rowsOf(own), 1, 'only the direct assignment can be selected');
  const all = await agent.submit(own, 'console-form', { action: 'assignments.remove', scope: 'all' });
  assert.match(await confirmed(agent, all), /1 done, 1 refused, 0 left.*there is no direct assignment/);
  const groups = await agent.visit(`/admin/applications/${byGroup}/assignments/groups`);
  const last = await agent.submit(groups, 'console-form', { action: 'assignments.remove', chosen: [groupId] });
  assert.match(wordsOf(last), /Remove: 1 assignment\?.*This affects 1 member\..*Editors/);
  assert.match(await confirmed(agent, last), /1 done, 0 refused, 0 left/);
  assert.deepEqual((await service.api('GET', `/apps/${byGroup}/groups`)).body, []);
});

test('before users are unlinked, the confirmation says who has no password', async (t) => {
  const service = await startService(t);
  const { body: without } = await service.api('POST', '/users?activate=false', { profile: { login: 'no-password' } });
  const idpId = await linkAccount(service, without.id);
  const { agent } = await enter(service);
  const list = await agent.visit(`/admin/security/identity-providers/${idpId}/users`);
  const confirm = await agent.submit(list, 'console-form', { action: 'links.remove', scope: 'all' });
  assert.match(wordsOf(confirm), /Unlink: 1 linked account\?.*This includes 1 user without a password/);
});
