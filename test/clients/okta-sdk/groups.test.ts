/** Groups by Okta's SDK (management API, "groups"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, oktaClient, shown, wholeLife } from './client.ts';

test('groups by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const { groupApi, userApi } = oktaClient(service);

  await t.test('create, read, list, replace, delete', async () => {
    const profile = { name: 'Engineers', description: 'Who build <i>things</i>' };
    await wholeLife(
      groupApi,
      { name: 'Group', id: 'groupId', body: 'group' },
      { profile },
      (id) => ({ id, type: 'OKTA_GROUP', profile, _links: { self: { href: `${service.baseUrl}/api/v1/groups/${id}` } } }),
      { profile: { ...profile, name: 'Builders' } },
    );
  });

  await t.test('found by q with filter, and by search; members', async () => {
    const group = await groupApi.createGroup({ group: { profile: { name: 'Crowd' } } });
    const search = 'profile.name ew "owd" and lastUpdated gt "2020-01-01T00:00:00.000Z"';
    for (const query of [{ q: 'Cro', filter: 'profile.name eq "Crowd"' }, { search }]) {
      assert.deepEqual((await all(groupApi.listGroups(query))).map(shown), [shown(group)]);
    }
    const groupId = String(group.id);
    const users = [];
    for (const login of ['ada', 'grace', 'alan']) users.push(await userApi.createUser({ body: { profile: { login } } }));
    for (const { id } of users) assert.equal(await groupApi.assignUserToGroup({ groupId, userId: String(id) }), undefined);
    assert.deepEqual((await all(groupApi.listGroupUsers({ groupId, limit: 2 }))).map(shown), users.map(shown));
    assert.equal(await groupApi.unassignUserFromGroup({ groupId, userId: String(users[0]?.id) }), undefined);
    assert.equal((await all(groupApi.listGroupUsers({ groupId }))).length, 2);
  });
});
