/** Lists of the console that have one mechanism for all: sorted by the heads of their columns, and searched by words. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { createOrganization, enter } from './administrators.ts';

const HEADERS = /<th role="rowheader" scope="row">(.*?)<\/th>/gs;
const namesIn = (text: string): string[] => [...text.matchAll(HEADERS)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '').trim());

test('short lists are sorted by a head without regard to case, and searched by words of the name', async (t) => {
  const service = await startService(t);
  const claims = '/authorizationServers/default/claims';
  for (const name of ['beta', 'Alpha', ...Array.from({ length: 20 }, (_, n) => `zz${String(n).padStart(2, '0')}_city`)])
    await service.api('POST', claims, { name, valueType: 'STATIC', value: 'x', claimType: 'RESOURCE' });
  for (const [name, title] of [
    ['shoeSize', 'Größe'],
    ['badge', 'badge'],
    ['area', 'Area'],
    ['district', 'Østerbro'],
  ])
    await service.api('POST', '/meta/schemas/user/default', {
      definitions: { custom: { properties: { [String(name)]: { title, type: 'string' } } } },
    });
  const { agent } = await enter(service);
  const list = async (path: string) => (await agent.visit(`/admin${path}`)).text;

  const home = '/api/servers/default/claims';
  assert.deepEqual(namesIn(await list(`${home}?sort=name`)).slice(0, 3), ['Alpha', 'beta', 'zz00_city']);
  const backwards = await list(`${home}?sort=-name&size=50`);
  assert.deepEqual(namesIn(backwards).slice(-2), ['beta', 'Alpha']);
  assert.match(backwards, /aria-sort="descending"><a class="sort" href="[^"]+\?sort=name&amp;size=50"/, 'the size stays');
  assert.match(await list(`${home}?sort=value`), /<p class="count">22 claims/, 'an order that is not offered is none');
  assert.deepEqual(namesIn(await list(`${home}?q=CITY+zz07`)), ['zz07_city'], 'each word begins one, case does not count');
  const none = await list(`${home}?q=ity`);
  assert.match(none, /Nothing matches\. Try fewer or shorter words.*Show all|Show all.*Nothing matches/s);
  assert.match(await list(`${home}?q=%01`), /Nothing matches/);

  assert.deepEqual(namesIn(await list('/attributes?sort=title')), ['Area', 'badge', 'Größe', 'Østerbro']);
  assert.deepEqual(namesIn(await list('/attributes?sort=-title')), ['Østerbro', 'Größe', 'badge', 'Area']);
  for (const q of ['osterbro', 'ØSTERBRO', 'ost'])
    assert.deepEqual(namesIn(await list(`/attributes?q=${encodeURIComponent(q)}`)), ['Østerbro'], 'letters that have no accent');
  assert.deepEqual(namesIn(await list('/attributes?q=gross')), ['Größe'], 'in memory as in the database');
});

test('scopes, identity providers and servers are found by any word, by the API too', async (t) => {
  const service = await startService(t);
  const settings = { displayName: 'See your invoices', consent: 'REQUIRED' };
  await service.api('POST', '/authorizationServers/default/scopes', { name: 'billing:read', ...settings });
  await service.api('POST', '/authorizationServers', { id: 'stock', name: 'Stock API', audiences: ['https://stock.example/v2'] });
  const { agent } = await enter(service);
  const list = async (path: string) => namesIn((await agent.visit(`/admin${path}`)).text);
  for (const q of ['read', 'invoi', 'billing:read']) {
    assert.deepEqual(await list(`/api/servers/default/scopes?q=${q}`), ['billing:read'], q);
    const { body } = await service.api('GET', `/authorizationServers/default/scopes?q=${q}`);
    assert.deepEqual(
      body.map(({ name }: { name: string }) => name),
      ['billing:read'],
      q,
    );
  }
  assert.deepEqual(await list('/api/servers?q=v2'), ['Stock API']);
});

test('lists on one page with others are searched on their own pages', async (t) => {
  const service = await startService(t);
  const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const groups: string[] = [];
  for (let n = 0; n < 21; n += 1) {
    const user = await service.createUser({ firstName: n === 7 ? 'Ørjan' : 'Bo' });
    await service.api('POST', `/apps/${app}/users`, { id: user.id });
    groups.push((await service.api('POST', '/groups', { profile: { name: `Group ${n}` } })).body.id);
    await service.api('PUT', `/apps/${app}/groups/${groups.at(-1)}`, {});
    await service.api('POST', `/apps/${app}/roles`, { name: `role-${n}` });
  }
  const user = await service.createUser();
  for (const id of groups) await service.api('PUT', `/groups/${id}/users/${user.id}`);
  const { agent } = await enter(service);
  const access = (await agent.visit(`/admin/users/${user.id}/access`)).text;
  assert.doesNotMatch(access, /id="search"/);
  assert.match(access, new RegExp(`href="/admin/users/${user.id}/groups"[^>]*>(<svg[^]*?</svg>)?Search`));
  for (const page of ['access', 'assignments']) {
    const { text } = await agent.visit(`/admin/applications/${app}/${page}`);
    assert.doesNotMatch(text, /id="search"/, `${page}: a form would search all lists of the page`);
    for (const kind of ['users', 'groups'])
      assert.match(text, new RegExp(`href="/admin/applications/${app}/assignments/${kind}"[^>]*>(<svg[^]*?</svg>)?Search`), page);
  }
  const found = (await agent.visit(`/admin/applications/${app}/assignments/users?q=orjan`)).text;
  assert.equal(namesIn(found).length, 1);
  assert.match(found, /id="search"/);
});

test('users who are linked to a provider, and domains with accents, are found by what the list shows', async (t) => {
  const service = await startService(t);
  const credentials = { client: { client_id: 'at-the-provider', client_secret: 'a-secret-of-the-provider' } };
  const policy = { accountLink: { action: 'AUTO' } };
  const { body: idp } = await service.api('POST', '/idps', { name: 'Away', type: 'GOOGLE', protocol: { credentials }, policy });
  const logins: string[] = [];
  for (const firstName of ['Ada', 'Grace']) {
    const user = await service.createUser({ firstName });
    await service.api('POST', `/idps/${idp.id}/users/${user.id}`, { externalId: `subject of ${firstName}` });
    logins.push(user.login);
  }
  const orgId = await createOrganization(service, 'Acme');
  for (const domain of ['xn--bcher-kva.example', 'other.example']) await service.api('POST', `/account/org/${orgId}/domain`, { domain });
  const { agent } = await enter(service);
  const list = async (path: string) => namesIn((await agent.visit(`/admin${path}`)).text);
  const users = `/security/identity-providers/${idp.id}/users`;
  assert.deepEqual(await list(`${users}?q=grace`), [logins[1]]);
  assert.deepEqual(await list(`${users}?sort=login`), logins.toSorted());
  const domains = `/organizations/${orgId}/domains`;
  assert.deepEqual(await list(`${domains}?q=b%C3%BCch`), ['bücher.example']);
  assert.deepEqual(await list(domains), ['other.example', 'bücher.example'], 'newest first');
});

test('consents and signal streams are found and sorted by the names of their applications, too', async (t) => {
  const service = await startService(t);
  const { id } = await service.createUser();
  const apps: string[] = [];
  for (const label of ['Zebra', 'Éditeur', 'Archive']) {
    const settings = { oauthClient: { redirect_uris: ['https://app.example/cb'] } };
    apps.push((await service.api('POST', '/apps', { name: 'oidc_client', label, signOnMode: 'OPENID_CONNECT', settings })).body.id);
  }
  const [zebra = '', editor = '', archive = ''] = apps;
  const events = ['https://schemas.openid.net/secevent/caep/event-type/session-revoked'];
  const streamOf = (applicationId: string, description: string) =>
    service.api('POST', '/ssf/streams', { applicationId, description, events, delivery: { method: 'POLL' } });
  await streamOf(zebra, 'Night shift');
  await streamOf(archive, 'Day shift');
  await streamOf(editor, 'Gateway');
  await onServer(service.database.url, async (sql) => {
    const insert = (app: string, scope: string, detail: string | null) =>
      sql.query(
        `INSERT INTO consents (user_id, application_id, server_id, scope, detail, created) VALUES ($1, $2, 'default', $3, $4, now())`,
        [id, app, scope, detail],
      );
    await insert(zebra, 'orders.read', null);
    await insert(editor, 'detail x', '{"type":"payment"}');
    await insert(archive, 'email', null);
  });
  const { agent } = await enter(service);
  const list = async (path: string) => namesIn((await agent.visit(`/admin${path}`)).text);

  const consents = `/users/${id}/consents`;
  for (const [q, found] of Object.entries({
    editeur: ['payment {&#34;type&#34;:&#34;payment&#34;}'],
    pay: ['payment {&#34;type&#34;:&#34;payment&#34;}'],
    'orders zeb': ['orders.read'],
    [archive]: ['email'],
    detail: [],
  }))
    assert.deepEqual(await list(`${consents}?q=${q}`), found, q);
  assert.deepEqual((await list(`${consents}?sort=application`))[0], 'email');
  assert.deepEqual((await list(`${consents}?sort=-application`))[0], 'orders.read');
  assert.deepEqual((await list(`${consents}?sort=scope`))[0], 'email');
  assert.equal((await list(`${consents}?sort=server`)).length, 3);
  const file = await agent.visit(`/admin${consents}/download?format=ndjson&q=zebra`);
  assert.equal(JSON.parse(file.text).scope, 'orders.read', 'the file has what the search finds');

  const streams = '/api/signal-streams';
  assert.deepEqual(await list(`${streams}?q=SHIFT`), ['Day shift', 'Night shift']);
  assert.deepEqual(await list(`${streams}?q=edit`), ['Gateway'], 'by the application');
  assert.deepEqual(await list(`${streams}?sort=application`), ['Day shift', 'Gateway', 'Night shift']);
  assert.deepEqual(await list(`${streams}?sort=-description`), ['Night shift', 'Gateway', 'Day shift']);
});

test('states are sorted in the order of the life cycle, not by their codes or the words for them', async (t) => {
  const service = await startService(t);
  const labels = ['Émile', 'Zoë', 'emilia'];
  for (const label of labels) {
    const oauthClient = { redirect_uris: ['https://app.example/cb'] };
    const { body } = await service.api('POST', '/apps', {
      name: 'oidc_client',
      label,
      signOnMode: 'OPENID_CONNECT',
      settings: { oauthClient },
    });
    if (label === 'emilia') await service.api('POST', `/apps/${body.id}/lifecycle/deactivate`);
  }
  for (const [login, step] of [
    ['away', 'deactivate'],
    ['works', undefined],
    ['paused', 'suspend'],
  ] as const) {
    const { id } = await service.createUser({ login });
    if (step !== undefined) await service.api('POST', `/users/${id}/lifecycle/${step}`);
  }
  const { agent } = await enter(service);
  for (const language of ['en', 'de']) {
    const list = async (path: string) => {
      const { text } = await agent.visit(`/admin${path}`, { headers: { 'accept-language': language } });
      return namesIn(text).flatMap((name) => [...labels, 'works', 'paused', 'away'].find((one) => name.endsWith(one)) ?? []);
    };
    assert.deepEqual(await list('/applications?sort=label'), ['Émile', 'emilia', 'Zoë']);
    assert.equal((await list('/applications?sort=status')).at(-1), 'emilia', 'active ones first');
    assert.deepEqual(await list('/users?status=any&sort=status'), ['works', 'paused', 'away']);
    assert.deepEqual(await list('/users?status=any&sort=-status'), ['away', 'paused', 'works']);
  }
});

test('a column of codes says in which order they come', () => {
  const unsaid = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.console.ts'))
    .flatMap((file) => {
      const source = readFileSync(`src/${file}`, 'utf8');
      if (!source.includes('pageIn(')) return [];
      return [...source.matchAll(/\{[^{}]*by: '(?:status|state|type|kind|consent|method|action|self)'[^{}]*\}/g)]
        .map(([column]) => column)
        .filter((column) => !column.includes('codes:'))
        .map((column) => `${file}: ${column}`);
    });
  assert.deepEqual(unsaid, []);
});
