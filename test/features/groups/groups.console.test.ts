/** Directory → Groups, Security → Administrators and Sessions, without JavaScript; each effect seen from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, SUPER, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';
import { eventsOf } from '../users/user-holdings.ts';

const idIn = ({ url, text }: Page): string => /\/admin\/groups\/(grp_\w+)/.exec(url.pathname)?.[1] ?? assert.fail(text);

test('a group is created, changed and deleted; the list is searched and has pages', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const list = await agent.visit('/admin/groups');
  assert.match(wordsOf(list), /There is no group yet/);
  const form = await agent.visit('/admin/groups/new');
  const created = await agent.submit(form, 'console-form', { name: ' Editors <b> ', description: 'Write\r\nand edit' });
  assert.match(wordsOf(created), /The group is created.*Write and edit/);
  const id = idIn(created);
  const twice = await agent.submit(form, 'console-form', { name: 'Editors <b>', description: 'kept' });
  assert.equal(twice.status, 400);
  assert.match(twice.text, /id="name-problem">Another group has this name. Choose another name/);
  assert.match(twice.text, /\nkept<\/textarea>/);
  assert.match((await agent.submit(form, 'console-form', { name: '' })).text, /id="name-problem">Must not be empty/);

  const edit = await agent.visit(`/admin/groups/${id}/edit`);
  assert.match(wordsOf(await agent.submit(edit, 'console-form', { name: 'Writers' })), /The group is changed/);
  assert.equal((await service.api('GET', `/groups/${id}`)).body.profile.name, 'Writers');

  for (let n = 10; n < 31; n += 1) await service.api('POST', '/groups', { profile: { name: `Group ${n}` } });
  const found = await agent.visit('/admin/groups?q=group');
  assert.match(wordsOf(found), /21 groups.*Group 30.*Group 11.*Page 1 of 2 Next page/, 'the newest first');
  assert.doesNotMatch(found.text, /Writers|Group 10/);
  const sorted = await agent.visit('/admin/groups?q=group&sort=name&size=50');
  assert.match(wordsOf(sorted), /21 groups.*Group 10.*Group 30/);
  assert.match(sorted.text, /aria-sort="ascending"><a class="sort" href="\/admin\/groups\?q=group&amp;sort=-name&amp;size=50"/);
  assert.match(wordsOf(await agent.visit('/admin/groups?q=x%00')), /No groups match/);
  assert.match(found.text, /href="\/admin\/groups\/download\?q=group&amp;format=csv"/);
  const { text: csv } = await agent.visit('/admin/groups/download?q=group&format=csv');
  const [head, first, ...more] = csv.trim().split('\n');
  assert.equal(head?.replace('\ufeff', ''), 'id,name,description,members,created,lastUpdated');
  assert.match(first ?? '', /^grp_\w+,Group 10,,0,/, 'the oldest first');
  assert.equal(more.length, 20);

  const gone = await agent.submit(await agent.visit(`/admin/groups/${id}/delete`), 'console-form');
  assert.match(wordsOf(gone), /The group is deleted/);
  assert.equal((await service.api('GET', `/groups/${id}`)).status, 404);
  const [event] = await eventsOf(service, 'group.lifecycle.delete', id);
  assert.equal(event?.actor.displayName, 'admin');
});

test('a group with many members is deleted by typing its name', async (t) => {
  const service = await startService(t);
  const { id } = (await service.api('POST', '/groups', { profile: { name: 'Sales' } })).body;
  for (let n = 0; n < 21; n += 1) await service.api('PUT', `/groups/${id}/users/${(await service.createUser()).id}`);
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/groups/${id}/delete`);
  assert.match(wordsOf(form), /This removes 21 members and 0 applications.*Enter “Sales” to confirm/);
  const refused = await agent.submit(form, 'console-form', { 'confirmed-name': 'sales' });
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /is not the name that is shown/);
  assert.equal((await service.api('GET', `/groups/${id}`)).status, 200);
  assert.match(wordsOf(await agent.submit(refused, 'console-form', { 'confirmed-name': 'Sales' })), /The group is deleted/);
});

test('members, applications and organizations are kept as files; exports of members are in the log', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  const user = await service.createUser({ login: 'aaron', lastName: '=1+1' });
  await service.api('PUT', `/groups/${group.id}/users/${user.id}`);
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const { agent } = await enter(service);
  const file = async (list: string, format: string) => (await agent.visit(`/admin/${list}/download?format=${format}`)).text.trim();
  const ofGroup = await file(`groups/${group.id}/members`, 'csv');
  assert.match(ofGroup, new RegExp(`id,login,email,firstName,lastName,status,joined\n${user.id},aaron,.*,'=1\\+1,ACTIVE,`));
  const member = JSON.parse(await file(`organizations/${orgId}/members`, 'ndjson'));
  assert.deepEqual([member.id, member.login, member.depId], [user.id, 'aaron', null]);
  assert.match(await file('organizations', 'csv'), new RegExp(`${orgId},Acme,.*,LOCAL,1,`));
  assert.match(await file('applications', 'csv'), /^\ufeff?clientId,label,kind,status,origin,assignment,consent,created/);
  const events = async () => (await service.api('GET', '/logs?filter=eventType%20eq%20%22system.export.users%22')).body.length;
  assert.equal(await events(), 2);
  for (const at of [`/organizations/${orgId}`, `/groups/${group.id}`])
    assert.match((await agent.visit(`/admin${at}/activity`)).text, /Export users/, `${at}: its activity has the export`);

  const foreigner = await createAdministrator(service, 'ORG_ADMIN', await createOrganization(service, 'Other'));
  const { agent: other } = await enter(service, foreigner);
  await service.api('POST', `/account/org/${orgId}/role`, { name: 'READ_LOG', permissions: ['READ_LOG'] });
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}/role`, { roles: ['READ_LOG'] });
  const { agent: logReader } = await enter(service, user);
  for (const [who, id, status] of [
    [other, orgId, 404],
    [other, 'org_nobodys', 404],
    [logReader, orgId, 403],
  ] as const) {
    for (const q of ['', '%01']) {
      const { status: refused } = await who.visit(`/admin/organizations/${id}/members/download?q=${q}`);
      assert.equal(refused, status, `${id} ${q}`);
    }
  }
  assert.equal(await events(), 2, 'an export that was refused is not in the log');
});

test('members are chosen from a search and removed; the list has pages; the applications of a group are told', async (t) => {
  const service = await startService(t);
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  const user = await service.createUser({ login: 'aaron' });
  const home = `/admin/groups/${group.id}/members`;
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(home)), /No members yet/);
  for (const tab of ['', '/members', '/applications', '/activity'])
    assert.match(
      (await agent.visit(`/admin/groups/${group.id}${tab}`)).text,
      new RegExp(`href="/admin/groups/${group.id}/delete" class="danger"`),
      tab,
    );
  const nobody = await agent.submit(await agent.visit(`${home}/new`), 'console-form');
  assert.equal(nobody.status, 400);
  assert.match(wordsOf(nobody), /Select at least one row/);
  assert.match(wordsOf(await agent.visit(`${home}/new?q=nobody-of-that-name`)), /No users match/);
  const crowd: string[] = [];
  for (let n = 0; n < 20; n += 1) crowd.push((await service.createUser({ lastName: 'Würfel' })).id);
  const found = await agent.visit(`${home}/new?q=wurf&size=50`);
  assert.match(wordsOf(found), /20 users/);
  const refused = await agent.submit(found, 'console-form', { chosen: [user.id, 'usr_00000000000000000000'] });
  assert.equal(refused.status, 404, 'all of them or none');
  assert.match(wordsOf(await agent.visit(home)), /No members yet/);
  const added = await agent.submit(found, 'console-form', { chosen: [user.id, ...crowd] });
  assert.match(wordsOf(added), /The users are in the group.*21 members/);
  assert.match(wordsOf(await agent.visit(`${home}/new?q=aaron`)), /aaron Already added/);
  assert.equal((await eventsOf(service, 'group.user_membership.add', user.id)).length, 1);
  const first = await agent.visit(home);
  assert.match(wordsOf(first), /21 members .*Page 1 of 2 Next page .*Rows per page: 20 50 100/);
  const searched = await agent.visit(`${home}?q=wurf&sort=-login&size=50`);
  assert.match(wordsOf(searched), /20 members .*Würfel/);
  assert.doesNotMatch(searched.text, /aaron/);
  assert.match(searched.text, /aria-sort="descending"><a class="sort" href="[^"]+\?q=wurf&amp;sort=login&amp;size=50"/);
  assert.match(searched.text, /id="show-all" href="[^"?]+\?sort=-login&amp;size=50"/, 'the order stays');
  assert.match(wordsOf(await agent.visit(`${home}?sort=login&size=50`)), /21 members .* aaron – Active /);
  assert.match(wordsOf(await agent.visit(`${home}?q=x%00`)), /No members match/);
  await service.api('PUT', `/groups/${group.id}/users/${(await service.createUser({ login: 'zoe' })).id}`);
  assert.match(wordsOf(await agent.visit(home)), /22 members .* Actions Z zoe /, 'the newest first');
  const removed = await agent.submit(await agent.visit(`${home}/${user.id}/remove`), 'console-form');
  assert.match(wordsOf(removed), /The user is no longer in the group/);
  assert.deepEqual((await service.api('GET', `/users/${user.id}/groups`)).body, []);
  assert.equal((await eventsOf(service, 'group.user_membership.remove', user.id)).length, 1);

  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'] });
  const applications = `/admin/groups/${group.id}/applications`;
  assert.match(wordsOf(await agent.visit(applications)), /No applications assigned/);
  await service.api('PUT', `/apps/${clientId}/groups/${group.id}`, {});
  assert.match(wordsOf(await agent.visit(applications)), /Test application Active/);
});

test('roles are given and taken; a new administrator comes in, and is out at the next click; the last super administrator stays', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const [user, colleague] = [await service.createUser(), await service.createUser()];
  const { agent } = await enter(service);
  const home = '/admin/security/administrators';
  assert.match(wordsOf(await agent.visit(home)), /admin Super administrator Active/);
  const form = await agent.visit(`${home}/new`);
  const without = await agent.submit(form, 'console-form', { chosen: user.id, type: 'ORG_ADMIN', orgId: '' });
  assert.match(without.text, /id="orgId-problem">Is required for this role/);
  const useless = await agent.submit(form, 'console-form', { chosen: user.id, type: 'READ_ONLY_ADMIN', orgId });
  assert.match(useless.text, /id="orgId-problem">Can only be used for an organization administrator/);
  const given = await agent.submit(form, 'console-form', { chosen: user.id, type: 'ORG_ADMIN', orgId });
  assert.match(wordsOf(given), new RegExp(`The role is assigned.*${user.login} Organization administrator Acme`));
  const both = { chosen: [colleague.id, user.id], type: 'ORG_ADMIN', orgId };
  const twice = await agent.submit(form, 'console-form', both);
  assert.match(twice.text, new RegExp(`id="type-problem">${user.login} already has this role`, 'i'));
  assert.deepEqual((await service.api('GET', `/users/${colleague.id}/roles`)).body, [], 'all or none');
  const nobody = await agent.submit(form, 'console-form', { type: 'ORG_ADMIN', orgId });
  assert.match(wordsOf(nobody), /Select at least one row/);
  const readers = await agent.submit(form, 'console-form', { chosen: colleague.id, type: 'READ_ONLY_ADMIN', orgId: '' });
  assert.match(wordsOf(readers), new RegExp(`The role is assigned.*${colleague.login} Read-only administrator`));
  assert.equal((await eventsOf(service, 'user.account.privilege.grant', colleague.id)).length, 1);
  assert.doesNotMatch((await agent.visit(`${home}?role=SUPER_ADMIN`)).text, new RegExp(user.login));

  const { agent: his, page } = await enter(service, user);
  assert.match(wordsOf(page), /Organization administrator/);
  const roles = await agent.visit(`/admin/users/${user.id}/roles`);
  const take = /href="([^"]+\/take)"/.exec(roles.text)?.[1] ?? assert.fail(roles.text);
  assert.match(wordsOf(await agent.submit(await agent.visit(take), 'console-form')), /The role is removed.*is not an administrator/);
  assert.equal((await his.visit('/admin')).status, 403);
  const [event] = await eventsOf(service, 'user.account.privilege.revoke', user.id);
  assert.equal(event?.actor.displayName, 'admin');

  const own = await agent.visit(`/admin/users/${SUPER.login}/roles`);
  const last = /href="([^"]+\/take)"/.exec(own.text)?.[1] ?? assert.fail(own.text);
  const refused = await agent.submit(await agent.visit(last), 'console-form');
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /This is the last super administrator who can sign in/);
  const second = await createAdministrator(service, 'SUPER_ADMIN');
  const { agent: other } = await enter(service, second);
  assert.match(wordsOf(await other.submit(await other.visit(last), 'console-form')), /The role is removed/);
  const list = await other.visit(`${home}?role=SUPER_ADMIN`);
  assert.doesNotMatch(list.text, />admin</);
});

test('how long sessions last is set beside what else is set of sign-ins', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  assert.equal((await service.api('PUT', '/settings/sign-in', { identifierFirst: true })).status, 200);
  const before = (await service.api('GET', '/settings/sign-in')).body;
  const form = await agent.visit('/admin/security/sessions/edit');
  assert.equal(Number(typedIn(form, 'sessionIdleMinutes')) * 60, before.sessionIdleMinutes, 'in hours');
  const wrong = await agent.submit(form, 'console-form', { sessionIdleMinutes: '0', sessionLifetimeDays: 'many' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /id="sessionIdleMinutes-problem">Must be at least 1.*id="sessionLifetimeDays-problem">/s);
  assert.equal(typedIn(wrong, 'sessionLifetimeDays'), 'many');
  assert.match((await agent.submit(form, 'console-form', { sessionIdleMinutes: '' })).text, /id="sessionIdleMinutes-problem">Is required/);
  const saved = await agent.submit(wrong, 'console-form', {
    sessionIdleMinutes: '3',
    'sessionIdleMinutes-unit': 'hour',
    sessionLifetimeDays: '1',
  });
  assert.match(wordsOf(saved), /The sessions are changed.*3 hours.*1 day/);
  assert.deepEqual((await service.api('GET', '/settings/sign-in')).body, { ...before, sessionIdleMinutes: 180, sessionLifetimeDays: 1 });
  const [event] = await eventsOf(service, 'system.settings.update', 'sign-in').then((all) => all.slice(-1));
  assert.equal(event?.actor.displayName, 'admin');
});

test('administrators come in pages, narrowed by role', async (t) => {
  const service = await startService(t);
  for (let n = 0; n < 20; n += 1) await createAdministrator(service, 'READ_ONLY_ADMIN', undefined, { login: `reader-${n + 10}` });
  const { agent } = await enter(service);
  const first = await agent.visit('/admin/security/administrators');
  assert.match(wordsOf(first), /21 administrators.*reader-29.*reader-10/);
  assert.doesNotMatch(wordsOf(first), /admin Super administrator/, 'the newest first');
  const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(wordsOf(await agent.visit(next)), /admin Super administrator.*Page 2 of 2/);
  const readers = await agent.visit('/admin/security/administrators?role=READ_ONLY_ADMIN');
  assert.match(wordsOf(readers), /reader-29.*reader-10/);
  assert.doesNotMatch(readers.text, /rel="next"/);
});
