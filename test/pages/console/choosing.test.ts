/** How one is found among many without JavaScript: organizations by words, members by department, and what a form lets one choose among thousands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';
import { createAdministrator, createOrganization, enter, enterInBrowser, SUPER, typedIn, wordsOf } from './administrators.ts';

const options = ({ text }: Page, name: string): string[] => {
  const [, content = ''] = new RegExp(`<select id="${name}"[^>]*>([\\s\\S]*?)</select>`).exec(text) ?? [];
  return [...content.matchAll(/<option[^>]*>([^<]*)</g)].map(([, label = '']) => label.trim());
};

/** A tree of many departments: `Team n` below `Area n`, and three called `Sales`. */
async function manyDepartments(service: Service, orgId: string): Promise<void> {
  const row = `'${orgId}', %parent, %name, now(), now()`;
  const insert = (id: string, parent: string, name: string) =>
    `INSERT INTO departments (id, org_id, parent_id, name, created, last_updated)
      SELECT ${id}, ${row.replace('%parent', parent).replace('%name', name)} FROM generate_series(1, 110) n`;
  await onServer(service.database.url, async (client) => {
    await client.query(insert(`'dep_area' || n`, 'NULL', `'Area ' || n`));
    await client.query(insert(`'dep_team' || n`, `'dep_area' || n`, `'Team ' || n`));
    await client.query(`${insert(`'dep_sales' || n`, `'dep_area' || n`, `'Sales'`)} WHERE n <= 3`);
  });
}

test('organizations are found by words of their name or external ID, whatever the case and the accents, within reach alone', async (t) => {
  const service = await startService(t);
  const own = await createOrganization(service, 'Fern 100% & Söhne');
  for (let n = 1; n <= 21; n += 1) await createOrganization(service, `House of FERN ${n}`);
  await service.api('POST', '/account/org', { orgName: 'Moss', originId: 'CRM-0815' });
  const { agent } = await enter(service);
  const found = await agent.visit('/admin/organizations?q=fern');
  assert.match(wordsOf(found), /22 organizations .*House of FERN 21.*House of FERN 2 .*Page 1 of 2/);
  assert.doesNotMatch(found.text, /Moss/);
  const next = /rel="next" href="([^"]+)"/.exec(found.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(wordsOf(await agent.visit(next)), /House of FERN 1 .*Fern 100% &amp; Söhne.*Page 2 of 2/);
  assert.match(wordsOf(await agent.visit('/admin/organizations?q=sohne+100%25')), /1 organization .*Fern 100%/);
  assert.match(wordsOf(await agent.visit('/admin/organizations?q=crm+08')), /1 organization .*Moss CRM-0815/);
  assert.match(wordsOf(await agent.visit('/admin/organizations?q=%00')), /No organizations match/);
  const { agent: his } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', own));
  assert.match(wordsOf(await his.visit('/admin/organizations?q=FERN')), /1 organization /);
});

test('members are narrowed by department and by user name', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { depId } = (await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' })).body;
  const [inSales, outside] = [await service.createUser({ login: 'anna_1' }), await service.createUser({ login: 'annika' })];
  await service.api('PUT', `/account/org/${orgId}/member/${inSales.id}`, { depId });
  await service.api('PUT', `/account/org/${orgId}/member/${outside.id}`, {});
  const { agent } = await enter(service);
  const home = `/admin/organizations/${orgId}`;
  assert.match((await agent.visit(`${home}/departments/${depId}`)).text, new RegExp(`href="${home}/members\\?department=${depId}"`));
  for (const query of [`department=${depId}`, 'q=ANNA_']) {
    const page = await agent.visit(`${home}/members?${query}`);
    assert.match(page.text, /anna_1/, query);
    assert.doesNotMatch(page.text, /annika/, query);
    assert.match(wordsOf(page), /1 member /, query);
  }
  assert.match(wordsOf(await agent.visit(`${home}/members`)), /2 members .*annika.*anna_1/, 'the newest first');
  const sorted = await agent.visit(`${home}/members?q=ann&sort=login&size=50`);
  assert.match(wordsOf(sorted), /2 members .*anna_1 – Sales Active .*annika – – Active /);
  assert.match(sorted.text, /<input type="hidden" name="sort" value="login">\s*<input type="hidden" name="size" value="50">/);
  assert.match(wordsOf(await agent.visit(`${home}/members?department=dep_of_nobody`)), /No members match/);
});

test('among thousands one types a part of a name: the one that fits is taken, of several one is chosen', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  await manyDepartments(service, orgId);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const path = `/admin/organizations/${orgId}/members/new`;
  const form = await agent.visit(path);
  assert.deepEqual(options(form, 'depId'), [], 'no list of all');
  const unknown = await agent.submit(form, 'console-form', { chosen: user.id, depId: 'Purchasing' });
  assert.match(unknown.text, /id="depId-problem">Does not exist here/);
  assert.equal(typedIn(unknown, 'depId'), 'Purchasing');
  const tooMany = await agent.submit(form, 'console-form', { chosen: user.id, depId: 'team' });
  assert.match(tooMany.text, /id="depId-problem">Matches too many/);

  const several = await agent.submit(form, 'console-form', { chosen: user.id, depId: 'sales' });
  assert.match(several.text, /id="depId-problem">Matches several/);
  assert.deepEqual(options(several, 'depId').slice(1), ['Sales – in Area 1', 'Sales – in Area 2', 'Sales – in Area 3']);
  const added = await agent.submit(several, 'console-form', { chosen: user.id, depId: 'dep_sales2' });
  assert.match(wordsOf(added), /The members are added/);
  const memberOf = async () => (await service.api('GET', `/account/org/${orgId}/member`)).body;
  assert.match(JSON.stringify(await memberOf()), /dep_sales2/);

  const move = await agent.visit(`/admin/organizations/${orgId}/members/${user.id}`);
  assert.equal(typedIn(move, 'depId'), 'Sales (dep_sales2)');
  await agent.submit(move, 'console-form');
  assert.match(JSON.stringify(await memberOf()), /dep_sales2/, 'sent as it is, nothing changes');
  await agent.submit(move, 'console-form', { depId: 'Team 11' });
  assert.match(JSON.stringify(await memberOf()), /dep_team11"/, 'the whole name goes before a part of longer ones');
});

test(
  'many departments and identity providers are suggested while one types, in a filter too, and only to those who can see them',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const [orgId, other] = [await createOrganization(service, 'Acme'), await createOrganization(service, 'Other')];
    await manyDepartments(service, orgId);
    await onServer(service.database.url, (client) =>
      client.query(
        `INSERT INTO identity_providers (id, name, type, protocol, created, last_updated)
          SELECT 'idp_' || n, 'Provider ' || n, 'OIDC', '{}', now(), now() FROM generate_series(1, 210) n`,
      ),
    );
    const user = await service.createUser({ login: 'anna' });
    for (const [id, depId] of [
      [user.id, 'dep_sales2'],
      [(await service.createUser({ login: 'bert' })).id, 'dep_team7'],
    ])
      await service.api('PUT', `/account/org/${orgId}/member/${id}`, { depId });
    const members = `/admin/organizations/${orgId}/members`;
    const { window, page } = await enterInBrowser(browser, service, `/organizations/${orgId}/members`);
    const department = page.getByRole('combobox', { name: 'Department' });
    await department.fill('sales');
    const suggested = page.locator('#department-options li');
    await suggested.nth(2).waitFor();
    await suggested.filter({ hasText: 'in Area 2' }).click();
    assert.equal(await department.inputValue(), 'Sales (dep_sales2)');
    await department.press('Enter');
    await page.waitForURL(/department=Sales/);
    assert.match((await page.textContent('main .list tbody')) ?? '', /anna/);
    assert.equal(await page.locator('main .list tbody tr').count(), 1);
    assert.equal(await department.inputValue(), 'Sales (dep_sales2)', 'the filter stays');

    await page.goto(`${service.baseUrl}/admin/organizations/${orgId}/departments/new`);
    await page.getByRole('combobox', { name: 'Below' }).fill('team 77');
    await page.locator('#parentId-options li').click();
    assert.equal(await page.getByRole('combobox', { name: 'Below' }).inputValue(), 'Team 77 (dep_team77)');
    await page.goto(`${service.baseUrl}/admin/organizations/${orgId}/sign-in/new`);
    const provider = page.getByRole('combobox', { name: 'Provider' });
    await provider.fill('provider 117');
    await page.locator('#idpId-options li').click();
    assert.equal(await provider.inputValue(), 'Provider 117 (idp_117)');
    window.assertQuiet();

    const { agent } = await enter(service);
    assert.match(wordsOf(await agent.visit(`${members}?department=team+7`)), /1 member .*bert/, 'a name is enough without script');
    assert.match(wordsOf(await agent.visit(`${members}?department=team`)), /No members match/);
    assert.match(wordsOf(await agent.visit('/admin/search?q=provider+117')), /Identity providers .*Provider 117/);
    const suggestions = (id: string) => `/admin/search?${new URLSearchParams({ q: 'sales', only: `organizations/${id}/departments` })}`;
    const { agent: others } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', other));
    assert.equal((await others.visit(suggestions(orgId))).status, 404);
    assert.equal((await others.visit(suggestions(other))).status, 200);
    assert.doesNotMatch(wordsOf(await others.visit('/admin/search?q=provider')), /Provider 117/);
  }),
);

test('a user is created in one of many organizations by its name', async (t) => {
  const service = await startService(t);
  const insert = `INSERT INTO organizations (id, name, origin_id, type, created, last_updated)
    SELECT 'org_many' || n, 'Company ' || n, '', 'LOCAL', now(), now() FROM generate_series(1, 250) n`;
  await onServer(service.database.url, (client) => client.query(insert));
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/users/new?org=org_many7');
  assert.equal(typedIn(form, 'orgId'), 'Company 7 (org_many7)');
  const several = await agent.submit(form, 'console-form', { login: 'anna', way: 'later', orgId: 'comp 24' });
  assert.match(several.text, /id="orgId-problem">Matches several/);
  assert.equal(options(several, 'orgId').length, 12);
  const created = await agent.submit(several, 'console-form', { orgId: 'org_many240' });
  assert.match(wordsOf(created), /The user is created/);
  const { body } = await service.api('GET', '/account/org/org_many240/member');
  assert.match(JSON.stringify(body), /anna/);
  await agent.submit(form, 'console-form', { login: 'bert', way: 'later', orgId: 'COMPANY 24' });
  const whole = await service.api('GET', '/account/org/org_many24/member');
  assert.match(JSON.stringify(whole.body), /bert/, 'the whole name goes before a part of longer ones');
});

test('a search for an administrator keeps the organization that the page was opened for', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { login } = await service.createUser();
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/security/administrators/new?org=${orgId}`);
  const searched = await agent.visit(`/admin/security/administrators/new?q=${login}&org=${typedIn(form, 'org')}`);
  assert.match(searched.text, new RegExp(`id="show-all" href="/admin/security/administrators/new\\?org=${orgId}"`));
  assert.match(searched.text, new RegExp(`<option value="${orgId}" selected`));
});

test(
  'one box selects all rows of a page, those that are left out, and none',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Sales' } });
    for (let n = 0; n < 3; n += 1) await service.createUser({ lastName: `Newcomer ${n}` });
    const page = await browser.newPage();
    await page.goto(`${service.baseUrl}/admin/groups/${group.id}/members/new?q=newcomer`);
    await page.fill('[name=username]', SUPER.login);
    await page.fill('[name=password]', SUPER.password);
    await page.click('#sign-in-form button[type=submit]');
    const all = page.getByLabel('Select all rows of this page');
    const chosen = () => page.locator('.list .choose input:checked').count();
    await all.check();
    assert.equal(await chosen(), 3);
    await page.locator('.list .choose input').first().uncheck();
    assert.deepEqual([await all.isChecked(), await all.evaluate((box: { indeterminate: boolean }) => box.indeterminate)], [false, true]);
    await all.focus();
    await page.keyboard.press('Space');
    assert.equal(await chosen(), 3);
    assert.match((await page.textContent('#choose-button')) ?? '', / \(3\)$/, 'the button says how many');
    await page.click('#choose-button');
    await page.waitForURL(/\/members$|\/members\?/);
    assert.equal((await service.api('GET', `/groups/${group.id}/users`)).body.length, 3);
  }),
);
