/** Files of lists: they are read in pieces, and a row that comes, goes or moves meanwhile moves no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteGroup, searchGroups } from '../../../src/features/groups/groups.service.ts';
import { unique } from '../../api/people.ts';
import { startManagementApi } from '../../support/management-api.ts';
import { startService } from '../../support/service.ts';
import { enter } from './administrators.ts';
import { startOnTour } from './tours.ts';

test('a row that is deleted between two pieces hides none of the others', async () => {
  const api = await startManagementApi();
  try {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1)
      ids.push((await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('piece') } })).body.id);
    const window = { page: 1, size: 2, sort: { by: 'created', descending: false } };
    const read = async (after: Parameters<typeof searchGroups>[2]['after']) => searchGroups(api.services, 'piece', { ...window, after });
    const first = await read('first');
    await deleteGroup(api.services, ids[0] ?? '', { actor: { id: 'usr_nobody', type: 'User', displayName: 'nobody' }, roles: [] } as never);
    const second = await read(first.next);
    const third = await read(second.next);
    assert.deepEqual(
      [first, second, third].map(({ items }) => items.map(({ id }) => ids.indexOf(id))),
      [[0, 1], [2, 3], [4]],
    );
    assert.equal(third.next, undefined);
  } finally {
    await api.close();
  }
});

/** Fields that would open something, or are kept sealed. */
const SECRET = /secret|token_?hash|password|sealed|signing_?secret|authorization|headers/i;

test('every list with files exports its rows, no secret, and an event', async (t) => {
  const { service, stops } = await startOnTour(t);
  const { agent } = await enter(service);
  const exported = new Set<string>();
  for (const stop of stops) {
    const { text } = await agent.visit(`/admin${stop}`);
    const [, href] = /href="([^"]*\/download\?[^"]*format=csv[^"]*)"/.exec(text) ?? [];
    // The log has its own files.
    if (href === undefined || stop.startsWith('/reports') || exported.has(stop.split('?', 1)[0] ?? '')) continue;
    exported.add(stop.split('?', 1)[0] ?? '');
    const address = href.replaceAll('&amp;', '&');
    const csv = await agent.visit(address);
    assert.equal(csv.status, 200, `${stop}: ${csv.text}`);
    const [header = '', ...rows] = csv.text
      .replace(/^\uFEFF/, '')
      .trim()
      .split('\n');
    const columns = header.split(',');
    assert.deepEqual(
      columns.filter((column) => SECRET.test(column)),
      [],
      stop,
    );
    const records = (await agent.visit(address.replace('format=csv', 'format=ndjson'))).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.ok(rows.length >= records.length && records.length > 0, `${stop}: a line for each record`);
    if (stop.split('?', 1)[0] !== '/users')
      assert.deepEqual(
        records.flatMap((record) => Object.keys(record)).filter((field) => !columns.includes(field)),
        [],
        `${stop}: nothing beside the columns`,
      );
    const [last] = (await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&limit=1&sortOrder=DESCENDING')).body;
    assert.match(last.eventType, /^system\.export\.(list|users)$/, stop);
    assert.equal(last.actor.displayName, 'admin');
  }
  const lists = [...exported].map((stop) => stop.replaceAll(/\/\w{3}_\w+|\/[\w-]{20,}/g, ''));
  for (const list of [
    '/users',
    '/groups',
    '/applications',
    '/organizations',
    '/api/tokens',
    '/api/servers',
    '/api/event-hooks',
    '/security/administrators',
    '/security/identity-providers',
  ])
    assert.ok(lists.includes(list), `${list}: ${lists}`);
  for (const list of ['/members', '/invitations', '/consents', '/scopes', '/assignments/groups'])
    assert.ok(
      lists.some((one) => one.endsWith(list)),
      `${list}: ${lists}`,
    );
});

test('a file has what the search finds, and a formula is text', async (t) => {
  const service = await startService(t);
  for (const name of ['=1+1', 'Nightly', 'Nachtwache']) {
    const { agent } = await enter(service);
    const form = await agent.visit('/admin/api/tokens/new');
    await agent.submit(form, 'console-form', { name, type: 'API', expires: '30' });
  }
  const { agent } = await enter(service);
  const { id } = (await service.api('GET', '/users/admin')).body;
  const [session] = (await agent.visit(`/admin/users/${id}/sessions/download?format=ndjson`)).text.trim().split('\n');
  assert.deepEqual(Object.keys(JSON.parse(session ?? '{}')).slice(0, 3), ['id', 'browser', 'ipAddress']);
  const file = async (query: string) =>
    (await agent.visit(`/admin/api/tokens/download?${query}`)).text
      .replace(/^\uFEFF/, '')
      .trim()
      .split('\n');
  assert.match((await file('format=csv&q=%3D1')).join(), /'=1\+1/);
  assert.deepEqual(
    (await file('format=ndjson&q=na')).map((line) => JSON.parse(line).name),
    ['Nachtwache'],
  );
  const [event] = (await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&limit=1&sortOrder=DESCENDING')).body;
  assert.equal(event.eventType, 'system.export.list');

  const csrf = /name="csrf" value="([^"]*)"/.exec((await agent.visit('/admin/users')).text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, action: 'users.suspend', scope: 'all' });
  for (const refused of [
    await agent.visit('/admin/users/download?q=%00'),
    await agent.visit('/admin/users?q=%00', { method: 'POST', body, headers: { origin: service.baseUrl } }),
  ])
    assert.equal(refused.status, 400);
  const nothing = await agent.visit('/admin/groups/download?list=scopes&q=%00&type=x&format=ndjson');
  assert.deepEqual([nothing.status, nothing.text], [200, ''], 'unprintable characters match nothing');
  const [forged] = (await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&limit=1&sortOrder=DESCENDING')).body;
  assert.deepEqual(
    forged.debugContext.after,
    { list: 'groups', format: 'ndjson', type: 'x' },
    'the address does not say which list it was',
  );
});
