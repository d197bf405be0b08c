/** Files of lists: they are read in pieces, and a row that comes, goes or moves meanwhile moves no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteGroup, searchGroups } from '../../../src/features/groups/groups.service.ts';
import { unique } from '../../api/people.ts';
import { startManagementApi } from '../../support/management-api.ts';

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
