/** The number of a group's members is exact after every way in and out, before and after the rows are added up, also for a former version's changes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { searchGroups } from '../../../src/features/groups/groups.service.ts';
import { foldGroupCounts } from '../../../src/features/groups/groups.store.ts';
import { person } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('the member count of a group', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const made = async (name: string): Promise<string> => (await api.call<{ id: string }>('POST', '/groups', { profile: { name } })).body.id;
  const window = { page: 1, size: 50, sort: { by: 'members', descending: true } } as const;
  const counts = async (): Promise<[string, number][]> =>
    (await searchGroups(api.services, undefined, window)).items.map(({ name, members }) => [name, members]);
  const rows = async (id: string): Promise<number[]> => {
    const found = await api.services.database.knex('group_counts').where({ group_id: id }).select<{ n: string }[]>('n');
    return found.map(({ n }) => Number(n));
  };
  const foldAll = async () => {
    while ((await foldGroupCounts(api.services.database.knex, 100)) > 0);
  };

  it('counts added, removed and deleted users, and orders groups by it', async () => {
    const [small, large] = [await made('Small'), await made('Large')];
    const people = await Promise.all(Array.from({ length: 5 }, () => person(api)));
    await Promise.all(people.map(({ id }) => api.call('PUT', `/groups/${large}/users/${id}`)));
    await api.call('PUT', `/groups/${large}/users/${people[0]?.id}`);
    await api.call('PUT', `/groups/${small}/users/${people[0]?.id}`);
    assert.deepEqual(await counts(), [
      ['Large', 5],
      ['Small', 1],
    ]);
    await api.call('DELETE', `/groups/${large}/users/${people[1]?.id}`);
    await api.call('POST', `/users/${people[0]?.id}/lifecycle/deactivate`);
    assert.equal((await api.call('DELETE', `/users/${people[0]?.id}`)).status, 204);
    const expected = [
      ['Large', 3],
      ['Small', 0],
    ];
    assert.deepEqual(await counts(), expected);
    await Promise.all([foldAll(), foldAll()]);
    await foldAll();
    assert.deepEqual(await counts(), expected);
    assert.deepEqual([await rows(large), await rows(small)], [[3], []]);
  });

  it('a deleted group leaves no row, a change that is undone counts nothing', async () => {
    const id = await made('Gone');
    const { id: userId } = await person(api);
    await api.call('PUT', `/groups/${id}/users/${userId}`);
    assert.equal((await api.call('DELETE', `/groups/${id}`)).status, 204);
    await foldAll();
    assert.deepEqual(await rows(id), []);

    const kept = await made('Kept');
    const undone = api.services.database.transaction(async (trx) => {
      await trx('group_members').insert({ group_id: kept, user_id: userId, created: new Date() });
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await rows(kept), []);
  });
});
