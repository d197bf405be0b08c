/** Which language the console speaks: the choice in the user menu, the profile, the browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { createAdministrator, enter } from './administrators.ts';

const languageOf = (html: string): string | undefined => /<html lang="([^"]*)"/.exec(html)?.[1];

test('the console speaks the language that was chosen, else that of the profile, else that of the browser', async (t) => {
  const service = await startService(t);
  const { agent, page } = await enter(service);
  assert.equal(languageOf(page.text), 'en');
  const spanish = await (await agent.send('/admin/users', { headers: { 'accept-language': 'es-MX,en;q=0.5' } })).text();
  assert.equal(languageOf(spanish), 'es', 'the browser');

  const chosen = await agent.send('/admin/users?q=a%26b&language=de');
  assert.equal(chosen.status, 303);
  assert.equal(chosen.headers.get('location'), '/admin/users?q=a%26b', 'an address that is passed on names no language');
  const german = await (await agent.send('/admin/users', { headers: { 'accept-language': 'es' } })).text();
  assert.equal(languageOf(german), 'de', 'the choice');
  assert.match(german, /<a href="\?language=zh-Hans" lang="zh-Hans" hreflang="zh-Hans">简体中文<\/a>/);
  assert.match(german, /hreflang="de" aria-current="true"/);

  const unknown = await agent.send('/admin/users?language=xx');
  assert.equal(unknown.status, 303);
  assert.equal(languageOf((await agent.visit('/admin/users')).text), 'de', 'a language that no page speaks changes nothing');

  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN', undefined, { locale: 'zh_CN' });
  assert.equal(languageOf((await enter(service, reader)).page.text), 'zh-Hans', 'the profile');
});

test('names are data, whatever they are', async (t) => {
  const service = await startService(t);
  const group = (await service.api('POST', '/groups', { profile: { name: 'Active', description: 'Users' } })).body;
  const user = await service.createUser({ login: 'Users', displayName: 'Groups', email: 'x@example.com' });
  const { body: app } = await service.api('POST', '/authorizationServers', { name: 'Settings', description: 'Active', audiences: ['x'] });
  const { agent } = await enter(service);
  await agent.visit('/admin?language=de');
  const shown = async (path: string) => (await agent.visit(`/admin${path}`)).text;
  assert.match(await shown('/groups'), />Active</);
  const ofGroup = await shown(`/groups/${group.id}`);
  assert.match(ofGroup, /<h1[^>]*>Active<\/h1>/);
  assert.match(ofGroup, />Users</, 'a description');
  const ofUser = await shown(`/users/${user.id}`);
  assert.match(ofUser, /<h1[^>]*>Groups<\/h1>/);
  assert.match(ofUser, /<p class="lead">Users<\/p>/i);
  const edit = await shown(`/users/${user.id}/edit`);
  assert.match(edit, /<bdi>Groups<\/bdi>/, 'a step of the way');
  assert.match(await shown(`/users/${user.id}/access`), /<h1[^>]*>Groups<\/h1>/);
  const server = await shown(`/api/servers/${app.id}`);
  assert.match(server, /<h1[^>]*>Settings<\/h1>/);
  assert.match(server, /<p class="lead">Active<\/p>/);
});

test('numbers and lists follow the language', async (t) => {
  const service = await startService(t);
  const { id } = (await service.api('POST', '/groups', { profile: { name: 'Many' } })).body;
  await onServer(service.database.url, (client) => client.query('INSERT INTO group_counts (group_id, n) VALUES ($1, 12345)', [id]));
  await service.api('PUT', '/settings/registration', { allowedDomains: ['a.example', 'b.example'] });
  const { agent } = await enter(service);
  await agent.visit('/admin?language=de');
  assert.match((await agent.visit('/admin/groups')).text, />12\.345</);
  await agent.visit('/admin?language=zh-Hans');
  assert.match((await agent.visit('/admin/security/sign-up')).text, />a\.example、b\.example</);
});
