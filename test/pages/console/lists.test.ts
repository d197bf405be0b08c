/** Lists of the console that have one mechanism for all: sorted by the heads of their columns, and searched by words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { enter } from './administrators.ts';

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

  assert.deepEqual(namesIn(await list('/attributes?sort=title')), ['Area', 'badge', 'Größe']);
  assert.deepEqual(namesIn(await list('/attributes?sort=-title')), ['Größe', 'badge', 'Area']);
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
