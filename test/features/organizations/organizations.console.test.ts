/** Directory → Organizations, without JavaScript: the list, one with its tree and its members, and who may change what of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { insertDepartments } from './many-departments.ts';

const orgIn = (page: Page): string => /\/admin\/organizations\/(org_\w+)/.exec(page.url.pathname)?.[1] ?? assert.fail(page.text);
const linkTo = (page: Page, label: string): string =>
  new RegExp(`<a[^>]*href="([^"]+)"[^>]*>(?:<svg(?:(?!</svg>)[^])*</svg>)?(?:<bdi>)?${label}(?:</bdi>)?<`)
    .exec(page.text)?.[1]
    ?.replaceAll('&amp;', '&') ?? assert.fail(`no link ${label}: ${page.text}`);

/** Opens a link's page and posts its form. */
const fill = async (agent: UserAgent, page: Page, label: string, typed: Record<string, string> = {}): Promise<Page> =>
  agent.submit(await agent.visit(linkTo(page, label)), 'console-form', typed);

test('an organization is created, renamed and deleted; only an empty one can be deleted', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const list = await agent.visit('/admin/organizations');
  assert.match(wordsOf(list), /There is no organization yet/);
  assert.doesNotMatch(wordsOf(list), /\d organizations?/);
  const created = await fill(agent, list, 'Create organization', { name: '  Fern & <Sons> ', originId: 'crm-7' });
  assert.match(wordsOf(created), /The organization is created.*Members 0 Source Local External ID crm-7/);
  assert.match(created.text, /<h1 dir="auto">Fern &amp; &lt;Sons&gt;<\/h1>/);

  const twice = await fill(agent, list, 'Create organization', { name: 'Fern & <Sons>' });
  assert.equal(twice.status, 400);
  assert.match(twice.text, /id="name-problem">Another organization has this name. Choose another name</);

  const renamed = await fill(agent, created, 'Rename', { name: 'Fern' });
  assert.match(renamed.text, /<h1 dir="auto">Fern<\/h1>/);
  const withDepartment = await fill(agent, renamed, 'Add department', { name: 'Sales' });
  const refused = await agent.submit(await agent.visit(`/admin/organizations/${orgIn(created)}/delete`), 'console-form');
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /The organization still has departments. Remove them first/);

  await fill(agent, await agent.visit(linkTo(withDepartment, 'Sales')), 'Delete');
  const question = await agent.visit(`/admin/organizations/${orgIn(created)}/delete`);
  assert.match(wordsOf(question), /It has no departments and no members\. This cannot be undone\./, 'without a list of zeros');
  const gone = await fill(agent, await agent.visit(`/admin/organizations/${orgIn(created)}`), 'Delete');
  assert.match(wordsOf(gone), /The organization is deleted.*There is no organization yet/);
});

test('what comes from another source is not renamed here, and the page offers no way to', async (t) => {
  const service = await startService(t);
  const { body } = await service.api('POST', '/account/org', { orgName: 'Mirrored', type: 'LDAP' });
  const { agent } = await enter(service);
  assert.doesNotMatch((await agent.visit(`/admin/organizations/${body.orgId}`)).text, /Rename/);
  const form = await agent.visit(`/admin/organizations/${body.orgId}/rename`);
  const refused = await agent.submit(form, 'console-form', { name: 'Mine' });
  assert.match(wordsOf(refused), /The organization is managed in another source/);
});

test('the list has a count, an order and pages, however they are asked for', async (t) => {
  const service = await startService(t);
  for (let n = 1; n <= 21; n += 1) await createOrganization(service, `Organization ${String(n).padStart(2, '0')}`);
  const { agent } = await enter(service);
  const first = await agent.visit('/admin/organizations');
  assert.match(wordsOf(first), /21 organizations .*Organization 21.*Organization 02.*Page 1 of 2/, 'the newest first');
  const second = await agent.visit(linkTo(first, 'Next page'));
  assert.match(wordsOf(second), /Organization 01.*Previous page/);
  assert.doesNotMatch(second.text, /Next page/);
  for (const page of ['0', '-1', '1.5', 'x', '', '00000000000000000001']) {
    assert.match(wordsOf(await agent.visit(`/admin/organizations?page=${page}`)), /Organization 21/, page);
  }
  const sorted = await agent.visit('/admin/organizations?q=organization&sort=name&size=50');
  assert.match(wordsOf(sorted), /21 organizations .*Organization 01.*Organization 21/);
  assert.match(
    sorted.text,
    /aria-sort="ascending"><a class="sort" href="\/admin\/organizations\?q=organization&amp;sort=-name&amp;size=50"/,
  );
  const { body } = await service.api('POST', '/account/org', { orgName: 'Populous' });
  await service.api('PUT', `/account/org/${body.orgId}/member/${(await service.createUser()).id}`, {});
  await createOrganization(service, 'Newest');
  assert.match(wordsOf(await agent.visit('/admin/organizations?sort=-members')), /Populous – Local 1 .*Newest – Local 0 /);
  const beyond = await agent.visit('/admin/organizations?page=999999999');
  assert.equal(beyond.status, 200);
  assert.match(wordsOf(beyond), /There is nothing on this page.*Previous page/);
});

test('departments are added, moved and deleted; never below themselves', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { agent } = await enter(service);
  const home = `/admin/organizations/${orgId}`;
  await fill(agent, await agent.visit(home), 'Add department', { name: 'Sales' });
  const top = await fill(agent, await agent.visit(home), 'Add department', { name: 'Engineering' });
  const sales = await agent.visit(linkTo(top, 'Sales'));
  const below = await fill(agent, sales, 'Add department below', { name: 'Europe', parentId: sales.url.pathname.split('/').at(-1) ?? '' });
  assert.equal(below.url.pathname, sales.url.pathname, 'one sees it where it is');
  const europe = await agent.visit(linkTo(below, 'Europe'));
  assert.match(wordsOf(europe), /Organizations Acme Sales Europe Add department below/);

  const salesId = sales.url.pathname.split('/').at(-1) ?? '';
  const europeId = europe.url.pathname.split('/').at(-1) ?? '';
  const edit = await agent.visit(linkTo(sales, 'Edit or move'));
  assert.doesNotMatch(edit.text, new RegExp(`value="(${salesId}|${europeId})"`), 'what lies below is not offered');
  const cycle = await agent.submit(edit, 'console-form', { name: 'Sales', parentId: europeId });
  assert.match(cycle.text, /id="parentId-problem">Must not be the department itself or a department below it/);

  const moved = await agent.submit(await agent.visit(linkTo(europe, 'Edit or move')), 'console-form', {
    name: 'Europa',
    originId: 'x1',
    parentId: '',
  });
  assert.match(wordsOf(moved), /The department is changed.*External ID x1/);
  const refused = await agent.submit(await agent.visit(`${sales.url.pathname}/edit`), 'console-form', { name: '', parentId: '' });
  assert.match(refused.text, /id="name-problem">Must not be empty/, refused.text);
  const deleted = await fill(agent, await agent.visit(sales.url.pathname), 'Delete');
  assert.match(wordsOf(deleted), /The department is deleted/);
  assert.equal((await agent.visit(sales.url.pathname)).status, 404);
});

test('members are chosen from a search, moved and removed', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const depId: string = (await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' })).body.depId;
  const user = await service.createUser();
  const { agent } = await enter(service);
  const list = await agent.visit(`/admin/organizations/${orgId}/members`);
  assert.match(wordsOf(list), /no members yet/);
  const nobody = await fill(agent, list, 'Add members', { depId });
  assert.match(wordsOf(nobody), /Select at least one row/);
  assert.match(nobody.text, new RegExp(`value="${depId}" selected`));
  const added = await agent.submit(nobody, 'console-form', { chosen: user.id, depId });
  assert.match(wordsOf(added), new RegExp(`The members are added.*${user.login} – Sales Active`));

  const move = `/admin/organizations/${orgId}/members/${user.id}`;
  assert.match((await agent.visit(move)).text, new RegExp(`value="${depId}" selected`), 'his department is chosen');
  const moved = await agent.submit(await agent.visit(move), 'console-form', { depId: '' });
  assert.match(wordsOf(moved), new RegExp(`${user.login} – – Active`));
  const form = await agent.visit(move);
  const removed = await agent.submit(await agent.visit(`${move}/remove`), 'console-form');
  assert.match(wordsOf(removed), /The member is removed.*no members yet/);
  assert.equal((await agent.submit(form, 'console-form', { depId })).status, 404, 'a form left open brings nobody back');
});

test('an organization’s administrator sees and changes his own, and learns of no other', async (t) => {
  const service = await startService(t);
  const [own, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  const { agent, page } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', own));
  assert.match(wordsOf(page), /Organization administrator You manage this organization, its departments and its users: Own/);
  const list = await agent.visit('/admin/organizations');
  assert.match(wordsOf(list), /1 organization .*Own/);
  assert.doesNotMatch(list.text, /Other|Create organization/);
  const detail = await agent.visit(`/admin/organizations/${own}`);
  assert.match(detail.text, /Add department/);
  assert.doesNotMatch(detail.text, /\/(rename|delete)"/);
  for (const path of ['', '/members', '/members/new', '/departments/new', '/departments/dep_x']) {
    assert.equal((await agent.visit(`/admin/organizations/${other}${path}`)).status, 404, path);
  }
  for (const path of ['/admin/organizations/new', `/admin/organizations/${own}/rename`, `/admin/organizations/${own}/delete`]) {
    const refused = await agent.visit(path);
    assert.equal(refused.status, 403, path);
    assert.match(wordsOf(refused), /You may not do this/);
  }
  const form = await agent.visit(`/admin/organizations/${own}/departments/new`);
  const post = (path: string) =>
    agent.submit({ ...form, text: form.text.replaceAll(form.url.pathname, path) }, 'console-form', { name: 'Taken over' });
  assert.equal((await post(`/admin/organizations/${other}/departments/new`)).status, 404);
  for (const path of ['/new', `/${own}/rename`, `/${other}/rename`, `/${own}/delete`])
    assert.equal((await post(`/admin/organizations${path}`)).status, 403, path);
  assert.equal((await service.api('GET', `/account/org/${other}`)).body.name, 'Other');
});

test('a read-only administrator sees everything, no button, and is refused what he posts all the same', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const depId: string = (await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' })).body.depId;
  const member = await service.createUser();
  await service.api('PUT', `/account/org/${orgId}/member/${member.id}`, { depId });
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  const home = `/admin/organizations/${orgId}`;
  for (const path of ['/admin/organizations', home, `${home}/departments/${depId}`, `${home}/members`]) {
    const page = await agent.visit(path);
    assert.equal(page.status, 200, path);
    assert.doesNotMatch(page.text, /class="button main"|\/(new|rename|edit|delete|remove)"/, path);
  }
  const form = await agent.visit('/admin/api/tokens/new');
  for (const path of [
    '/admin/organizations/new',
    `${home}/rename`,
    `${home}/departments/new`,
    `${home}/departments/${depId}/edit`,
    `${home}/members/${member.id}/remove`,
  ]) {
    assert.equal((await agent.visit(path)).status, 403, path);
    const posted = await agent.submit({ ...form, text: form.text.replaceAll('/admin/api/tokens/new', path) }, 'console-form', {
      name: 'x',
    });
    assert.equal(posted.status, 403, `posted to ${path}`);
  }
});

test('who did it, from where, and under which request is in the audit trail', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/organizations/new');
  const page = await agent.submit(form, 'console-form', { name: 'Audited' });
  const { rows } = await onServer(service.database.url, (client) =>
    client.query(`SELECT actor, client, transaction_id FROM audit_events WHERE event_type = 'org.lifecycle.create'`),
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0].actor.displayName, 'admin');
  assert.equal(rows[0].client.ipAddress, '127.0.0.1');
  assert.match(rows[0].transaction_id, /^[\w-]{36}$/);
  assert.equal(page.status, 200);
});

test('10,000 departments, deep or wide, are shown, and no page nests more than a browser can bear', async (t) => {
  const service = await startService(t);
  const { chain, paths } = await insertDepartments(service);
  const { agent } = await enter(service);
  for (const path of paths) {
    const page = await agent.visit(`/admin/organizations/${path}`);
    t.diagnostic(`${path}: ${Math.round(page.text.length / 1024)} KiB`);
    assert.equal(page.status, 200);
    let [level, deepest] = [0, 0];
    for (const [tag] of page.text.matchAll(/<ul|<\/ul/g)) {
      level += tag === '<ul' ? 1 : -1;
      deepest = Math.max(deepest, level);
    }
    assert.ok(deepest <= 6, `${deepest} levels`);
  }
  assert.match(wordsOf(await agent.visit(`/admin/organizations/${chain}`)), /Departments 10,000 .*Department 4 9,995 below/);
});

test('an organization is found by its external ID, its tree counts members, and its tab lists who administers it', async (t) => {
  const service = await startService(t);
  const { body } = await service.api('POST', '/account/org', { orgName: 'Acme', originId: 'crm-7' });
  const { body: department } = await service.api('POST', `/account/org/${body.orgId}/department`, { name: 'Sales' });
  const member = await service.createUser();
  await service.api('PUT', `/account/org/${body.orgId}/member/${member.id}`, { depId: department.depId });
  const administrator = await createAdministrator(service, 'ORG_ADMIN', body.orgId);
  const { agent } = await enter(service);
  const home = `/admin/organizations/${body.orgId}`;
  assert.match((await agent.visit('/admin/organizations?q=crm-7')).text, new RegExp(`href="${home}"`));
  assert.match(wordsOf(await agent.visit('/admin/organizations?q=CRM')), /1 organization .*crm-7/, 'by the beginning of its words');
  assert.match(wordsOf(await agent.visit('/admin/organizations?q=rm')), /No organizations match/);
  assert.match(wordsOf(await agent.visit(home)), /Sales 1 member/);
  assert.match((await agent.visit(`${home}/administrators`)).text, new RegExp(`/admin/users/${administrator.id}/roles"`));
  assert.match(wordsOf(await agent.visit(`${home}/delete`)), /It has 1 department and 1 member\. Remove them first/);
  assert.doesNotMatch((await agent.visit(home)).text, new RegExp(`href="${home}/delete"`), 'nothing is offered that cannot be done');
});

test('an organization gets an administrator on its tab; what is refused comes back with what was chosen', async (t) => {
  const service = await startService(t);
  const { body } = await service.api('POST', '/account/org', { orgName: 'Acme' });
  const user = await service.createUser();
  const { agent } = await enter(service);
  const tab = await agent.visit(`/admin/organizations/${body.orgId}/administrators`);
  assert.match(wordsOf(await agent.submit(tab, 'short-form', { user: '' })), /There is a problem/);
  const given = await agent.submit(tab, 'short-form', { user: user.id });
  assert.match(given.text, new RegExp(`/admin/users/${user.id}/roles"`));
  const { body: roles } = await service.api('GET', `/users/${user.id}/roles`);
  assert.deepEqual(
    roles.map(({ type, orgId }: { type: string; orgId: string }) => [type, orgId]),
    [['ORG_ADMIN', body.orgId]],
  );
  const again = await agent.submit(given, 'short-form', { user: user.id });
  assert.match(again.text, /id="user-problem">[^<]*already has this role/);
  assert.match(again.text, new RegExp(`<option value="${user.id}" selected`));
});
