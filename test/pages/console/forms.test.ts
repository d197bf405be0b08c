/** Forms of the console: units, folded fields, choices out of many, and what was typed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { initialsOf } from '../../../src/pages/console/avatar.ts';
import { DOCUMENTATION_PAGES } from '../../../src/pages/console/documentation.ts';
import { durationIn, shownDuration } from '../../../src/pages/console/durations.ts';
import { assertAccessible } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { enter, enterInBrowser, typedIn, wordsOf } from './administrators.ts';

test('a length of time is shown in the largest unit that fits, and read back in its own', () => {
  for (const [value, unit, amount, chosen] of [
    ['129600', 'minute', '90', 'day'],
    ['60', 'minute', '1', 'hour'],
    ['61', 'minute', '61', 'minute'],
    ['0', 'minute', '0', 'minute'],
    ['', 'minute', '', 'minute'],
    ['many', 'day', 'many', 'day'],
  ] as const) {
    const shown = shownDuration(value, unit, null);
    assert.deepEqual([shown.amount, shown.chosen], [amount, chosen], value);
    if (/^\d+$/.test(value)) assert.equal(durationIn(Number(shown.amount), unit, shown.chosen), Number(value));
  }
  const typed = shownDuration('90', 'minute', 'day');
  assert.deepEqual([typed.amount, typed.chosen], ['90', 'day'], 'a form that came back keeps what was typed');
  assert.equal(durationIn(2, 'hour', 'second'), 2, 'a smaller unit is not offered');
});

test('initials are those of the first and the last name', () => {
  const names = ['Ada Lovelace', 'María José García', 'ada.lovelace@example.com', '张伟', 'admin', ''];
  assert.deepEqual(names.map(initialsOf), ['AL', 'MG', 'AL', '张', 'A', '?']);
});

test('every page of the documentation that a form links to is there', () => {
  for (const page of DOCUMENTATION_PAGES) assert.ok(existsSync(new URL(`../../../../docs/${page}.md`, import.meta.url)), page);
});

test('days are typed as days; a rule names users and groups out of a search, without script', async (t) => {
  const service = await startService(t);
  const ada = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Engineers of all kinds' } });
  await service.api('POST', '/authorizationServers', { id: 'forms', name: 'Forms' });
  const { body: policies } = await service.api('GET', '/authorizationServers/forms/policies');
  const { agent } = await enter(service);

  const server = await agent.visit('/admin/api/servers/forms/edit');
  assert.equal(typedIn(server, 'refreshTokenLifetimeMinutes'), '90');
  assert.match(server.text, /<option value="day" selected>/);
  await agent.submit(server, 'console-form', { refreshTokenLifetimeMinutes: '2', 'refreshTokenLifetimeMinutes-unit': 'day' });
  assert.equal((await service.api('GET', '/authorizationServers/forms')).body.refreshTokenLifetimeMinutes, 2880);

  const form = await agent.visit(`/admin/api/servers/forms/policies/${policies[0].id}/rules/new`);
  const looked = await agent.submit(form, 'console-form', {
    ...{ name: 'Engineers', people: 'some', 'users-q': 'love ada', 'look-up': 'users' },
  });
  assert.equal(looked.status, 200);
  assert.match(looked.text, new RegExp(`value="${ada.id}"`), 'the search finds by words of the name');
  assert.match(looked.text, /<span class="avatar" aria-hidden="true">AL<\/span> <bdi>Ada Lovelace/);
  assert.equal(typedIn(looked, 'name'), 'Engineers', 'what was typed stays');
  assert.equal(
    (await service.api('GET', `/authorizationServers/forms/policies/${policies[0].id}/rules`)).body.length,
    1,
    'nothing is saved',
  );
  const more = await agent.submit(looked, 'console-form', { users: ada.id, 'groups-q': 'engin', 'look-up': 'groups' });
  assert.match(more.text, new RegExp(`value="${ada.id}" checked`));
  const saved = await agent.submit(more, 'console-form', { users: ada.id, groups: group.id });
  assert.match(wordsOf(saved), /The rule is created\./);
  const { body: rules } = await service.api('GET', `/authorizationServers/forms/policies/${policies[0].id}/rules`);
  const { people } = rules.find(({ name }: { name: string }) => name === 'Engineers').conditions;
  assert.deepEqual(people, { users: { include: [ada.id] }, groups: { include: [group.id] } });
  assert.doesNotMatch(wordsOf(await agent.visit(saved.url.pathname)), /The rule is created\./, 'a notice shows once');
});

test('a manager, roles and scopes are chosen from a search; what another system wrote stays', async (t) => {
  const service = await startService(t);
  const ada = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });
  const bob = await service.createUser({ firstName: 'Bob', lastName: 'Byron' });
  await service.api('POST', `/users/${bob.id}`, { profile: { managerId: 'E-4711' } });
  await service.api('POST', '/authorizationServers', {
    id: 'forms',
    name: 'Forms',
    registration: { mode: 'OPEN', allowedScopes: ['gone'] },
  });
  for (const label of ['Shop', 'Store']) {
    const app = await service.api('POST', '/apps', { label, settings: { oauthClient: { redirect_uris: ['https://app.example/cb'] } } });
    assert.equal((await service.api('POST', `/apps/${app.body.id}/roles`, { name: 'order-editor' })).status, 201);
  }
  const { agent } = await enter(service);
  const managerOf = async () => (await service.api('GET', `/users/${bob.id}`)).body.profile.managerId;
  const edit = `/admin/users/${bob.id}/edit`;
  const before = await agent.visit(edit);
  assert.match(before.text, /<option value="E-4711" selected>E-4711</);
  await agent.submit(before, 'console-form', { title: 'Poet' });
  assert.equal(await managerOf(), 'E-4711');
  const unknown = await agent.submit(before, 'console-form', { managerId: 'E-4712' });
  assert.match(unknown.text, /id="managerId-problem">Does not exist here/);
  const chosen = await agent.submit(before, 'console-form', { managerId: ada.id });
  assert.equal(await managerOf(), ada.id);
  assert.match(chosen.text, new RegExp(`<a href="/admin/users/${ada.id}"><bdi>Ada Lovelace – `));
  await agent.submit(await agent.visit(edit), 'console-form', { managerId: '' });
  assert.equal(await managerOf(), undefined);

  const server = await agent.visit('/admin/api/servers/forms/edit');
  const scopes = await agent.submit(server, 'console-form', { 'registrationScopes-q': 'prof', 'look-up': 'registrationScopes' });
  assert.match(scopes.text, /value="gone" checked/);
  assert.match(scopes.text, /type="checkbox" value="profile">/);
  await agent.submit(scopes, 'console-form', { registrationScopes: ['gone', 'profile'] });
  const { registration } = (await service.api('GET', '/authorizationServers/forms')).body;
  assert.deepEqual(registration.allowedScopes, ['gone', 'profile']);

  const { body: policies } = await service.api('GET', '/authorizationServers/forms/policies');
  const rule = await agent.visit(`/admin/api/servers/forms/policies/${policies[0].id}/rules/new`);
  const found = await agent.submit(rule, 'console-form', { name: 'Editors', people: 'some', 'roles-q': 'editor', 'look-up': 'roles' });
  assert.equal([...found.text.matchAll(/value="order-editor"/g)].length, 1, 'a name once, whatever the number of its applications');
  await agent.submit(found, 'console-form', { roles: 'order-editor' });
  const { body: rules } = await service.api('GET', `/authorizationServers/forms/policies/${policies[0].id}/rules`);
  assert.deepEqual(rules.at(-1).conditions.people.roles, { include: ['order-editor'] });
  const search = async (query: string) => wordsOf(await agent.visit(`/admin/search?${query}`));
  assert.match(await search('q=order&only=application-roles'), /Roles Name Application order-editor 2 applications/);
  assert.match(await search('q=prof&only=scopes&within=forms'), /Scopes Name Display name profile/);
  assert.doesNotMatch(await search('q=order-editor'), /Roles Name/, 'only for pickers');
  assert.match(await search('q=prof&only=scopes&within=%00'), /Scopes/);
});

test('an emptied field has the default that its hint names', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', { id: 'forms', name: 'Forms', accessTokenLifetimeMinutes: 5 });
  await service.api('PUT', '/settings/sign-in', { rememberBrowserDays: 30 });
  await service.api('PUT', '/settings/telephony', { url: null, mostPerDay: 7 });
  const { agent } = await enter(service);
  for (const [page, names, hint, api, values] of [
    ['security/sign-in-policy', ['rememberBrowserDays'], 'Empty: 0.', 'settings/sign-in', [0]],
    ['settings/telephony', ['mostPerDay'], 'Empty: 500.', 'settings/telephony', [500]],
    [
      'api/servers/forms',
      ['accessTokenLifetimeMinutes', 'refreshTokenLifetimeMinutes'],
      'Empty: 1 hour.',
      'authorizationServers/forms',
      [60, 129_600],
    ],
  ] as const) {
    const form = await agent.visit(`/admin/${page}/edit`);
    assert.ok(wordsOf(form).includes(hint), page);
    const saved = await agent.submit(form, 'console-form', Object.fromEntries(names.map((name) => [name, ''])));
    assert.equal(saved.url.pathname, `/admin/${page}`, wordsOf(saved));
    const { body } = await service.api('GET', `/${api}`);
    assert.deepEqual(
      names.map((name) => body[name]),
      values,
      page,
    );
  }
  const google = await agent.visit('/admin/security/identity-providers/new/google');
  const emptied = { clientId: 'mine', clientSecret: 'kept', issuer: '', userName: '' };
  assert.match(wordsOf(await agent.submit(google, 'console-form', emptied)), /The identity provider is added/);
  const { protocol, policy } = (await service.api('GET', '/idps')).body[0];
  assert.deepEqual([protocol.issuer.url, policy.subject.userNameTemplate.template], ['https://accounts.google.com', 'idpuser.email']);
});

test(
  'an e-mail address, a phone number and a URL have their own keyboards, and an address with other letters stays as it is',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { window, page } = await enterInBrowser(browser, service, '/users/new');
    const typeOf = (name: string) => page.locator(`#${name}`).evaluate(({ type, inputMode }: never) => `${type} ${inputMode}`);
    assert.equal(await typeOf('email'), 'email email');
    await page.fill('#login', 'joerg');
    await page.fill('#email', 'jörg@example.com');
    await page.getByLabel('Not yet').check();
    await page.click('#submit');
    await page.waitForURL(/\/users\/usr_\w+$/);
    await page.goto(`${page.url()}/edit`);
    assert.equal(await typeOf('email'), 'text email');
    assert.equal(await page.inputValue('#email'), 'jörg@example.com');
    await page.click('.advanced-fields > summary');
    const kinds = { secondEmail: 'email email', mobilePhone: 'tel ', primaryPhone: 'tel ', website: 'url ' };
    for (const [name, kind] of Object.entries(kinds)) assert.equal(await typeOf(name), kind, name);
    await page.fill('#email', 'no address');
    await page.click('#submit');
    assert.equal(await page.textContent('#email-problem'), 'Must be an e-mail address');
    assert.equal(await page.inputValue('#email'), 'no address', 'what was typed stays');
    window.assertQuiet();
  }),
);

test(
  'with script a rule finds users while one types, and a choice shows its fields',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const ada = await service.createUser({ firstName: 'Ada Picked', lastName: 'Lovelace', email: 'ada@example.org' });
    for (const lastName of ['Picked', 'Pickering']) await service.createUser({ firstName: 'Zoe', lastName });
    const { body: policies } = await service.api('GET', '/authorizationServers/default/policies');
    const { window, page } = await enterInBrowser(browser, service, `/api/servers/default/policies/${policies[0].id}/rules/new`);
    await page.fill('#name', 'Ada alone');
    assert.equal(await page.isVisible('#users'), false);
    await page.click('#people-1');
    assert.equal(await page.isVisible('#users'), true);
    const input = page.getByRole('combobox', { name: 'Search: Users' });
    const list = page.getByRole('listbox', { name: 'Search: Users' });
    const chips = page.locator('#users .chosen li');
    const status = page.locator('#users [role=status]');
    const active = async () => (await list.locator('[aria-selected=true]').allTextContents()).join();
    const isExpanded = () => input.getAttribute('aria-expanded');
    const press = (key: string) => page.keyboard.press(key);
    await input.fill('pick');
    await list.getByRole('option').nth(2).waitFor();
    assert.equal(await isExpanded(), 'true');
    assert.equal(await input.getAttribute('aria-controls'), await list.getAttribute('id'));
    assert.equal(await status.textContent(), 'Matches: 3');
    const [first = '', , last = ''] = await list.getByRole('option').allTextContents();
    assert.match(first, /^ALAda Picked Lovelace.*ada@example\.org/, 'initials, name and e-mail address');
    await press('ArrowUp');
    assert.equal(await active(), last);
    await press('Home');
    assert.equal(await active(), first);
    assert.equal(await input.getAttribute('aria-activedescendant'), await list.locator('[aria-selected=true]').getAttribute('id'));
    await press('End');
    assert.equal(await active(), last);
    await press('ArrowDown');
    assert.equal(await active(), first);
    await page.setViewportSize({ width: 390, height: 800 });
    await assertAccessible(page, 'the picker, open');
    await press('Escape');
    assert.equal(await isExpanded(), 'false');
    assert.equal(await input.inputValue(), 'pick', 'the words stay');
    for (const number of [1, 2]) {
      await input.fill('pick');
      await list.getByRole('option').first().waitFor();
      await press('ArrowDown');
      await press('Enter');
      assert.equal(await chips.count(), number);
    }
    assert.match((await status.textContent()) ?? '', /Selected: 2$/);
    await chips.last().getByRole('button').focus();
    await press('Enter');
    assert.equal(await chips.count(), 1);
    assert.match((await status.textContent()) ?? '', /^Remove: .* Selected: 1$/);
    assert.equal(
      await page.evaluate('document.activeElement.closest("li")?.textContent.includes("Ada")'),
      true,
      'the focus is on the next chip',
    );
    assert.equal(await chips.locator('.avatar').textContent(), 'AL');
    await assertAccessible(page, 'a rule for one user');
    await page.click('#submit');
    await page.waitForURL(/\/policies\/pol_\w+$/);
    const { body: rules } = await service.api('GET', `/authorizationServers/default/policies/${policies[0].id}/rules`);
    assert.deepEqual(rules.at(-1).conditions.people.users, { include: [ada.id] });

    await page.goto(`${service.baseUrl}/admin/api/servers/default/edit`);
    await page.click('.advanced-fields > summary');
    await page.getByRole('combobox', { name: 'Search: Scopes of registered clients' }).fill('prof');
    await page.locator('#registrationScopes-q-options li').first().waitFor();
    await press('ArrowDown');
    await press('Enter');
    assert.equal(await page.locator('#registrationScopes .chosen input').inputValue(), 'profile', 'a scope is chosen by its name');

    await page.goto(`${service.baseUrl}/admin/reports/log?target=x`);
    const target = page.getByRole('combobox', { name: 'Target' });
    await target.fill('ada picked');
    await page.locator('#target-options li').first().waitFor();
    await press('ArrowDown');
    await press('Enter');
    assert.equal(await target.inputValue(), `Ada Picked Lovelace – ${ada.login} (${ada.id})`);
    await press('Enter');
    await page.waitForURL(/target=Ada/);
    assert.match((await page.textContent('main .list tbody')) ?? '', /Ada Picked Lovelace|user\.lifecycle\.create/);

    await page.goto(`${service.baseUrl}/admin/api/servers/default/simulator`);
    const user = page.getByRole('combobox', { name: 'User', exact: true });
    assert.equal(await user.getAttribute('placeholder'), 'None: with client credentials');
    await user.focus();
    await press('ArrowDown');
    assert.ok((await page.locator('#user-options li').count()) > 3, 'a short list opens without words');
    await user.fill('ada picked');
    await page.locator('#user-options li', { hasText: 'ada@example.org' }).click();
    assert.equal(await user.inputValue(), `Ada Picked Lovelace – ${ada.login}`);
    await assertAccessible(page, 'a picker over a list');
    await user.fill('nobody chosen');
    await press('Tab');
    assert.equal(await user.inputValue(), `Ada Picked Lovelace – ${ada.login}`, 'words that match nothing choose nothing');
    await user.fill('Zoe Pickering');
    await press('Tab');
    assert.match(await user.inputValue(), /^Zoe Pickering – /, 'words that match one entry choose it');
    await user.fill(ada.id);
    await press('Tab');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.waitForURL(new RegExp(`user=${ada.id}`));
    window.assertQuiet();
  }),
);

test(
  'a list shows the fields of its choice, and empties them when nothing is chosen',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { clientId } = await service.createApp({ jwks_uri: 'https://app.example/keys', redirect_uris: ['https://app.example/callback'] });
    const form = `/applications/${clientId}/settings/responses`;
    const { window, page } = await enterInBrowser(browser, service, form);
    const save = async (): Promise<Record<string, unknown>> => {
      await page.click('#submit');
      await page.waitForURL(/\/settings$/);
      await page.goto(`${service.baseUrl}/admin${form}`);
      return (await service.api('GET', `/apps/${clientId}`)).body.settings.oauthClient;
    };
    assert.equal(await page.isVisible('#userinfo_encrypted_response_enc'), false);
    await page.selectOption('#userinfo_encrypted_response_alg', 'RSA-OAEP-256');
    assert.equal(await page.isVisible('#userinfo_encrypted_response_enc'), true);
    assert.equal(await page.isVisible('#id_token_encrypted_response_enc'), false);
    await page.selectOption('#userinfo_encrypted_response_enc', 'A256GCM');
    await assertAccessible(page, 'encrypted responses');
    assert.equal((await save()).userinfo_encrypted_response_enc, 'A256GCM');
    assert.equal(await page.isVisible('#userinfo_encrypted_response_enc'), true);
    await page.selectOption('#userinfo_encrypted_response_alg', '');
    assert.equal(await page.isVisible('#userinfo_encrypted_response_enc'), false);
    const { userinfo_encrypted_response_alg: alg, userinfo_encrypted_response_enc: enc } = await save();
    assert.deepEqual([alg, enc], [undefined, undefined]);
    window.assertQuiet();
  }),
);
