/** The notice about a step offers to undo it: once, without script, with the checks of the reverse step (interface.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { inlineHookBody, TOKENS } from '../../support/inline-hooks.ts';
import { startService } from '../../support/service.ts';
import { createAdministrator, createOrganization, enter, enterInBrowser } from './administrators.ts';

test(
  'a suspension, a removed member, a deactivated application and an assignment are undone without script, at 390 pixels',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body.id;
    await service.api('PUT', `/groups/${group}/users/${user.id}`);
    const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
    await service.api('POST', `/apps/${app}/users`, { id: user.id });
    const { window, page } = await enterInBrowser(browser, service, '', { javaScriptEnabled: false });
    await page.setViewportSize({ width: 390, height: 844 });
    const status = async (path: string) => (await service.api('GET', path)).body.status;
    const isThere = async (path: string) => (await service.api('GET', path)).body.some(({ id }: { id: string }) => id === user.id);

    for (const { path, is, notice, undone } of [
      {
        path: `/users/${user.id}/life-cycle/suspend`,
        is: async () => (await status(`/users/${user.id}`)) === 'ACTIVE',
        notice: /The user is suspended/,
        undone: /The user can sign in again/,
      },
      {
        path: `/groups/${group}/members/${user.id}/remove`,
        is: () => isThere(`/groups/${group}/users`),
        notice: /no longer in the group/,
        undone: /The users are in the group/,
      },
      {
        path: `/users/${user.id}/groups/${group}/remove`,
        is: () => isThere(`/groups/${group}/users`),
        notice: /no longer in the group/,
        undone: /The user is in the group/,
      },
      {
        path: `/applications/${app}/deactivate`,
        is: async () => (await status(`/apps/${app}`)) === 'ACTIVE',
        notice: /The application is inactive/,
        undone: /The application is active/,
      },
      {
        path: `/applications/${app}/assignments/users/${user.id}/remove`,
        is: () => isThere(`/apps/${app}/users`),
        notice: /is not assigned any more/,
        undone: /The application is assigned/,
      },
      {
        path: `/users/${user.id}/applications/${app}/remove`,
        is: () => isThere(`/apps/${app}/users`),
        notice: /The assignment is removed/,
        undone: /The application is assigned/,
      },
    ]) {
      assert.equal(await is(), true, path);
      await page.goto(`${service.baseUrl}/admin${path}`);
      await page.click('#submit');
      assert.match((await page.textContent('#notice')) ?? '', notice);
      assert.equal(await is(), false, path);
      await page.click('#undo');
      assert.match((await page.textContent('#notice')) ?? '', undone);
      assert.equal(await is(), true, `${path}: undone`);
      // The reverse of the reverse.
      await page.click('#undo');
      assert.match((await page.textContent('#notice')) ?? '', notice);
      assert.equal(await is(), false, `${path}: done again`);
      await page.click('#undo');
      assert.equal(await is(), true, path);
    }
    window.assertQuiet();
  }),
);

test(
  'the offer is accessible, fits 390 pixels, and is gone from the next page (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { window, page } = await enterInBrowser(browser, service, `/users/${user.id}/life-cycle/suspend`);
    await page.click('#submit');
    await page.waitForSelector('#undo');
    await assertFits(page, 'the offer', 390);
    await assertAccessible(page, 'the offer');
    assert.equal(await page.locator('#undo').count(), 1);
    await page.reload();
    assert.equal(await page.locator('#undo').count(), 0);
    window.assertQuiet();
  }),
);

test('what has a status is activated and deactivated again, and a role that was given is taken', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { body: server } = await service.api('POST', '/authorizationServers', { name: 'Orders', audiences: ['https://orders.example'] });
  const policies = `/authorizationServers/${server.id}/policies`;
  const [policy] = (await service.api('GET', policies)).body;
  const [rule] = (await service.api('GET', `${policies}/${policy.id}/rules`)).body;
  const { body: hook } = await service.api('POST', '/inlineHooks', inlineHookBody(TOKENS, 'http://127.0.0.1:9/hook'));
  for (const [page, resource] of [
    [`/api/servers/${server.id}`, `/authorizationServers/${server.id}`],
    [`/api/servers/${server.id}/policies/${policy.id}`, `${policies}/${policy.id}`],
    [`/api/servers/${server.id}/policies/${policy.id}/rules/${rule.id}`, `${policies}/${policy.id}/rules/${rule.id}`],
    [`/api/inline-hooks/${hook.id}`, `/inlineHooks/${hook.id}`],
  ] as const) {
    const status = async () => (await service.api('GET', resource)).body.status;
    const done = await agent.submit(await agent.visit(`/admin${page}/deactivate`), 'console-form');
    assert.equal(await status(), 'INACTIVE', page);
    const undone = await agent.submit(done, 'undo-form');
    assert.equal(await status(), 'ACTIVE', page);
    await agent.submit(undone, 'undo-form');
    assert.equal(await status(), 'INACTIVE', page);
    await agent.submit(await agent.visit(`/admin${page}/activate`), 'console-form');
  }

  const user = await service.createUser();
  const roles = async () => (await service.api('GET', `/users/${user.id}/roles`)).body.length;
  const form = await agent.visit(`/admin/users/${user.id}/roles/new`);
  const given = await agent.submit(form, 'console-form', { type: 'READ_ONLY_ADMIN' });
  assert.equal(await roles(), 1, given.text);
  const taken = await agent.submit(given, 'undo-form');
  assert.equal(await roles(), 0);
  assert.doesNotMatch(taken.text, /id="undo"/, 'API tokens have ended');
});

test('members of organizations, roles given elsewhere, streams and secrets are put back', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const user = await service.createUser();
  const orgId = await createOrganization(service, 'Acme');
  const { depId } = (await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' })).body;
  const home = `/organizations/${orgId}/members`;
  const department = async () => {
    const { body } = await service.api('GET', `/account/org/${orgId}/member`);
    const member = body.find((one: { userId: string }) => one.userId === user.id);
    return member === undefined ? 'no member' : member.depId;
  };
  for (const [page, fields] of [
    [`${home}/new`, { chosen: [user.id], depId }],
    [`/users/${user.id}/organizations/new`, { orgId, depId }],
  ] as const) {
    const shown = await agent.visit(`/admin${page}${page.startsWith('/users') ? `?org=${orgId}` : ''}`);
    const added = await agent.submit(shown, 'console-form', fields as never);
    assert.equal(await department(), depId, page);
    await agent.submit(added, 'undo-form');
    assert.equal(await department(), 'no member', page);
  }
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, { depId });
  for (const [page, moved] of [
    [`${home}/${user.id}`, ''],
    [`/users/${user.id}/organizations/${orgId}`, ''],
    [`${home}/${user.id}/remove`, 'no member'],
    [`/users/${user.id}/organizations/${orgId}/remove`, 'no member'],
  ] as const) {
    const fields = moved === '' ? { depId: '' } : {};
    const done = await agent.submit(await agent.visit(`/admin${page}`), 'console-form', fields);
    assert.equal(await department(), moved, page);
    await agent.submit(done, 'undo-form');
    assert.equal(await department(), depId, page);
  }
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}/role`, { roles: ['admin'] });
  const lost = await agent.submit(await agent.visit(`/admin${home}/${user.id}/remove`), 'console-form');
  assert.match(lost.text, /The member is removed/);
  assert.doesNotMatch(lost.text, /id="undo"/, 'the role would not come back');

  const roles = async () => (await service.api('GET', `/users/${user.id}/roles`)).body.length;
  for (const [page, fields] of [
    ['/security/administrators/new', { chosen: [user.id], type: 'READ_ONLY_ADMIN' }],
    [`/organizations/${orgId}/administrators/new`, { user: user.id }],
  ] as const) {
    const given = await agent.submit(await agent.visit(`/admin${page}`), 'console-form', fields as never);
    assert.equal(await roles(), 1, `${page}: ${given.text}`);
    await agent.submit(given, 'undo-form');
    assert.equal(await roles(), 0, page);
  }

  const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const { body: secret } = await service.api('POST', `/apps/${app}/credentials/secrets`);
  const secretStatus = async () =>
    (await service.api('GET', `/apps/${app}/credentials/secrets`)).body.find(({ id }: { id: string }) => id === secret.id).status;
  const off = await agent.submit(await agent.visit(`/admin/applications/${app}/credentials/${secret.id}/deactivate`), 'console-form');
  assert.equal(await secretStatus(), 'INACTIVE');
  await agent.submit(off, 'undo-form');
  assert.equal(await secretStatus(), 'ACTIVE');
});

test('who finds the step taken by another is offered no undo of it', async (t) => {
  const service = await startService(t);
  const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/applications/${app}/deactivate`);
  await service.api('POST', `/apps/${app}/lifecycle/deactivate`);
  const done = await agent.submit(form, 'console-form');
  assert.match(done.text, /The application is inactive/);
  assert.doesNotMatch(done.text, /id="undo"/);
});

test('nothing is offered where the reverse step would not restore everything', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const after = async (path: string) => (await agent.submit(await agent.visit(`/admin${path}`), 'console-form')).text;

  const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const [first, second] = [await service.createUser(), await service.createUser()];
  await service.api('POST', `/apps/${app}/roles`, { name: 'editor' });
  await service.api('POST', `/apps/${app}/users`, { id: first.id, roles: ['editor'] });
  const unassigned = await after(`/applications/${app}/assignments/users/${first.id}/remove`);
  assert.match(unassigned, /id="notice"/);
  assert.doesNotMatch(unassigned, /id="undo"/, 'the roles of the assignment are lost');

  const deactivated = await after(`/users/${second.id}/life-cycle/deactivate`);
  assert.match(deactivated, /The user is deactivated/);
  assert.doesNotMatch(deactivated, /id="undo"/, 'API tokens have ended');
});

test('the offer is for the administrator who took the step: planted in another browser, it is not shown', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent: victim } = await enter(service);
  const { agent: planter } = await enter(service, await createAdministrator(service, 'SUPER_ADMIN'));
  const form = await planter.visit(`/admin/users/${user.id}/life-cycle/suspend`);
  const hidden = [...form.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const posted = await planter.send(form.url, {
    method: 'POST',
    body: new URLSearchParams(hidden.map(([, name = '', value = '']): [string, string] => [name, value])),
    headers: { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' },
  });
  assert.equal(posted.status, 303);
  victim.plant(planter, 'gatehouse-console-notice');
  const shown = await victim.visit('/admin/users');
  assert.match(shown.text, /id="notice"[^>]*>The user is suspended/);
  assert.doesNotMatch(shown.text, /id="undo"/);
  assert.match((await planter.visit('/admin/users')).text, /id="undo"/);
});

test('undoing has the checks of the reverse step: after the role is lost, it is refused', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const admin = await createAdministrator(service, 'SUPER_ADMIN');
  await service.api('POST', `/users/${admin.id}/roles`, { type: 'READ_ONLY_ADMIN' });
  const { agent } = await enter(service, admin);
  const done = await agent.submit(await agent.visit(`/admin/users/${user.id}/life-cycle/suspend`), 'console-form');
  await service.api('DELETE', `/users/${admin.id}/roles/${admin.roleId}`);
  assert.equal((await agent.submit(done, 'undo-form')).status, 403);
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'SUSPENDED');
});

test('an administrator who lost sight of a member with the removal is offered no undo', async (t) => {
  const service = await startService(t);
  const [first, second] = [await createOrganization(service, 'First'), await createOrganization(service, 'Second')];
  const admin = await createAdministrator(service, 'ORG_ADMIN', first);
  await service.api('POST', `/users/${admin.id}/roles`, { type: 'ORG_ADMIN', orgId: second });
  const { agent } = await enter(service, admin);
  const user = await service.createUser();
  for (const orgId of [first, second]) await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const remove = async (orgId: string) =>
    agent.submit(await agent.visit(`/admin/organizations/${orgId}/members/${user.id}/remove`), 'console-form');
  const removed = await remove(second);
  assert.match(removed.text, /id="undo"/, 'still in sight by the first organization');
  await agent.submit(removed, 'undo-form');
  const { body: members } = await service.api('GET', `/account/org/${second}/member`);
  assert.ok(members.some(({ userId }: { userId: string }) => userId === user.id));
  await remove(second);
  const last = await remove(first);
  assert.match(last.text, /The member is removed/);
  assert.doesNotMatch(last.text, /id="undo"/, 'they may not add a user whom they cannot see');
});
