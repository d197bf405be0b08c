/** Directory → Attributes, and what becomes of an attribute: the console, files, the account page, claims; without JavaScript, seen from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { arriveAt, fieldsOf } from '../../pages/account/arrival.ts';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { createClient, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const SCHEMA = '/meta/schemas/user/default';

test('an attribute is added, changed and removed in the console', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const custom = async () => (await service.api('GET', SCHEMA)).body.definitions.custom.properties;
  assert.match(wordsOf(await agent.visit('/admin/attributes')), /There are only the built-in attributes/);
  const form = await agent.visit('/admin/attributes/new');
  const typed = { name: 'tier', title: 'Tier <b>', type: 'string', choices: 'gold = Gold customer\nsilver', self: 'READ_WRITE' };
  assert.match(wordsOf(await agent.submit(form, 'console-form', typed)), /The attribute is added.*tier Text/);
  const oneOf = [
    { const: 'gold', title: 'Gold customer' },
    { const: 'silver', title: 'silver' },
  ];
  const { tier } = await custom();
  assert.deepEqual([tier.title, tier.oneOf, tier.permissions[0].action], ['Tier <b>', oneOf, 'READ_WRITE']);

  const twice = await agent.submit(form, 'console-form', typed);
  assert.match(twice.text, /id="name-problem">Already exists/);
  const poor = await agent.submit(form, 'console-form', { ...typed, name: 'x', choices: '', type: 'integer', pattern: '(' });
  assert.match(poor.text, /id="pattern-problem">Cannot be used with type integer/);
  const numbers = await agent.submit(form, 'console-form', { name: 'size', title: 'Size', type: 'integer', choices: '1\n2', self: 'HIDE' });
  assert.equal(numbers.status, 200);
  assert.deepEqual((await custom()).size.enum, [1, 2]);

  const edit = await agent.visit('/admin/attributes/tier');
  assert.match(edit.text, /gold = Gold customer\nsilver/);
  assert.match(wordsOf(await agent.submit(edit, 'console-form', { title: 'Level' })), /The attribute is changed/);
  assert.equal((await custom()).tier.title, 'Level');
  const gone = await agent.submit(await agent.visit('/admin/attributes/size/remove'), 'console-form');
  assert.match(wordsOf(gone), /The attribute is removed/);
  assert.deepEqual(Object.keys(await custom()), ['tier']);
  assert.equal((await agent.visit('/admin/attributes/size')).status, 404);
});

test('its values: forms and pages of the console, CSV, the account page, the download, tokens', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const self = (action: string) => ({ permissions: [{ principal: 'SELF', action }] });
  const properties = {
    tier: { title: 'Tier', type: 'string', oneOf: [{ const: 'gold', title: 'Gold customer' }], required: true, ...self('READ_ONLY') },
    seats: { title: 'Seats', type: 'integer', ...self('READ_WRITE') },
    vip: { title: 'VIP', type: 'boolean', ...self('READ_WRITE') },
    tags: { title: 'Tags', type: 'array', ...self('READ_WRITE') },
    likes: { title: 'Likes', type: 'array', items: { type: 'string', enum: ['tea', 'rum'] }, ...self('READ_WRITE') },
    card: { title: 'Card', type: 'string', unique: 'UNIQUE_VALIDATED', ...self('READ_WRITE') },
    score: { title: 'Score', type: 'number', ...self('HIDE') },
  };
  assert.equal((await service.api('POST', SCHEMA, { definitions: { custom: { properties } } })).status, 200);
  const { agent } = await enter(service);
  const password = 'correct horse battery';
  const profileOf = async (login: string) => (await service.api('GET', `/users/${login}`)).body.profile;

  await t.test('the form to create a user has them, and says what is wrong beside them', async () => {
    const form = await agent.visit('/admin/users/new');
    const typed = { login: 'anna', way: 'password', password, 'attribute.seats': 'many', 'attribute.tags': 'a\n b ' };
    const poor = await agent.submit(form, 'console-form', typed);
    assert.match(poor.text, /id="attribute\.tier-problem">Is required/);
    assert.match(poor.text, /id="attribute\.seats-problem">Must be a whole number/);
    const good = { ...typed, 'attribute.tier': 'gold', 'attribute.seats': '3', 'attribute.score': '1.5', 'attribute.vip': 'false' };
    assert.match(wordsOf(await agent.submit(form, 'console-form', good)), /More attributes Tier Gold customer Seats 3 VIP No Tags a, b/);
    assert.deepEqual(await profileOf('anna'), { login: 'anna', tier: 'gold', seats: 3, vip: false, tags: ['a', 'b'], score: 1.5 });
  });

  await t.test('editing the profile keeps what stays, and empties what is emptied', async () => {
    const { id } = (await service.api('GET', '/users/anna')).body;
    const edit = await agent.visit(`/admin/users/${id}/edit`);
    await agent.submit(edit, 'console-form', { 'attribute.seats': '', 'attribute.tags': '', lastName: 'Ark' });
    assert.deepEqual(await profileOf('anna'), { login: 'anna', lastName: 'Ark', tier: 'gold', vip: false, score: 1.5 });
  });

  await t.test('they are columns of the CSV file, and come back from it in their types', async () => {
    await service.api('POST', '/users/anna', { profile: { tags: ['x', 'y|"z"'], seats: 7 } });
    const csv = await agent.visit('/admin/users/download?format=csv&q=anna');
    const [header = '', row = ''] = csv.text.trim().split('\n');
    assert.match(header, /,tier,seats,vip,tags,likes,card,score$/);
    const form = await agent.visit('/admin/users/import');
    const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(form.text) ?? [];
    const body = new FormData();
    body.set('csrf', csrf);
    body.set('file', new Blob([`${header}\n${row.replace('anna', 'annabel')}\n`]), 'users.csv');
    const confirm = await agent.visit('/admin/users/import', { method: 'POST', body, headers: { origin: service.baseUrl } });
    await agent.submit(confirm, 'console-form');
    await eventually(async () => (await service.api('GET', '/users/annabel')).status !== 404, 'the user is there');
    const { login: _, ...imported } = await profileOf('annabel');
    assert.deepEqual(imported, { lastName: 'Ark', tier: 'gold', vip: false, score: 1.5, tags: ['x', 'y|"z"'], seats: 7 });
  });

  await t.test('users change what they may, see what they may not change, and nothing of what is hidden', async () => {
    await service.api('POST', '/users/annabel', { profile: { card: 'C1' } });
    const user = { id: (await service.api('GET', '/users/anna')).body.id, login: 'anna', password };
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    assert.match(page.text, /<dt>Tier<\/dt><dd dir="auto">Gold customer<\/dd>/);
    assert.doesNotMatch(page.text, />Score<|attribute\.score|attribute\.tier/);
    const typed = (more: Record<string, string>) => ({ ...fieldsOf(page, 'profile-form'), ...more });
    const taken = await browser.submit(page, 'profile-form', typed({ 'attribute.card': 'c1' }));
    assert.equal(taken.status, 400);
    assert.match(taken.text, /id="attribute-card-problem">Another account already uses this “Card”/);
    const wrong = await browser.submit(page, 'profile-form', typed({ 'attribute.seats': 'x' }));
    assert.match(wrong.text, /href="#attribute-seats"/);
    assert.match(wrong.text, /name="attribute\.seats" type="text" value="x"/);
    const more = { 'attribute.seats': '9', 'attribute.vip': 'true', 'attribute.tags': 'one', 'attribute.card': 'C2' };
    const saved = await browser.submit(
      page,
      'profile-form',
      typed({ ...more, 'attribute.likes': 'tea', 'attribute.score': '9', 'attribute.tier': '' }),
    );
    assert.match(saved.text, /id="notice"[^>]*>Your profile is saved/);
    const after = { seats: 9, vip: true, tags: ['one'], likes: ['tea'], card: 'C2', tier: 'gold', score: 1.5 };
    assert.deepEqual(await profileOf('anna'), { login: 'anna', lastName: 'Ark', ...after });
    const data = await browser.submit(await browser.visit('/account/data'), 'data-form');
    const { profile } = JSON.parse(data.text).user;
    assert.deepEqual([profile.seats, profile.tags, 'score' in profile], [9, ['one'], false]);
  });

  await t.test('a claim tells them in their types, in the ID token and at userinfo', async () => {
    const server = (
      await service.api('POST', '/authorizationServers', { name: 'Shop', profile: 'openid', audiences: ['https://shop.example'] })
    ).body;
    for (const name of ['seats', 'tags', 'vip']) {
      const claim = { name, claimType: 'IDENTITY', valueType: 'USER_ATTRIBUTE', value: `user.profile.${name}` };
      assert.equal((await service.api('POST', `/authorizationServers/${server.id}/claims`, claim)).status, 201);
    }
    const client = await createClient(service);
    const user = { login: 'anna', password };
    const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: server.id, scope: 'openid' });
    const { seats, tags, vip } = decodeJwt(body.id_token);
    assert.deepEqual([seats, tags, vip], [9, ['one'], true]);
    const told = (await userinfo(service, server.id, body.access_token)).body;
    assert.deepEqual([told.seats, told.tags, told.vip], [9, ['one'], true]);
  });
});
