/** Groups by Okta's SDK: each operation that is here, with every field that it shows (management API, "groups"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Group } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed } from './client.ts';

test('groups by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const { groupApi, userApi, applicationApi } = okta;
  const api = `${service.baseUrl}/api/v1`;

  const create = async (name: string, description?: string): Promise<Group & { id: string }> => {
    const group = await groupApi.createGroup({ group: { profile: { name, ...(description !== undefined && { description }) } } });
    return { ...group, id: String(group.id) };
  };
  const createUser = async (login: string) => String((await userApi.createUser({ body: { profile: { login } } })).id);

  await t.test('creates, reads, replaces and deletes one', async () => {
    const group = await create('Engineers', 'Who build <i>things</i>');
    const { created, lastUpdated, rest } = timed(group, 'created', 'lastUpdated');
    const { id } = group;
    assert.match(id, /^grp_\w{20}$/);
    assert.equal(created, lastUpdated);
    assert.deepEqual(rest, {
      id,
      type: 'OKTA_GROUP',
      profile: { name: 'Engineers', description: 'Who build <i>things</i>' },
      _links: { self: { href: `${api}/groups/${id}` } },
    });
    assert.deepEqual(shown(await groupApi.getGroup({ groupId: id })), shown(group));

    const read = await groupApi.getGroup({ groupId: id });
    assert.ok(read.profile !== undefined);
    read.profile.name = 'Builders';
    const replaced = await groupApi.replaceGroup({ groupId: id, group: read as { profile: { name: string; description: string } } });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.deepEqual(
      [after.created, after.rest],
      [created, { ...rest, profile: { name: 'Builders', description: 'Who build <i>things</i>' } }],
    );
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(shown(await groupApi.getGroup({ groupId: id })), shown(replaced), 'the SDK remembers nothing older');

    const bare = await groupApi.replaceGroup({ groupId: id, group: { profile: { name: 'Builders' } } });
    assert.deepEqual(shown(bare.profile), { name: 'Builders', description: '' });

    assert.equal(await groupApi.deleteGroup({ groupId: id }), undefined);
    assert.deepEqual(await refusal(groupApi.getGroup({ groupId: id })), [
      404,
      'E0000007',
      `Not found: Resource not found: ${id} (Group)`,
      [],
    ]);
  });

  await t.test('lists them in pages and finds them by q, filter and search', async () => {
    const names = Array.from({ length: 45 }, (_, turn) => `Crowd ${turn}`);
    for (const name of names) await create(name);
    const requests = requestsOf(okta);
    const listed = await all(groupApi.listGroups({ q: 'Crowd' }));
    assert.deepEqual(
      listed.map(({ profile }) => profile?.name),
      names,
    );
    assert.equal(requests.length, 3);
    const [first] = listed;
    assert.deepEqual(shown(first), shown(await groupApi.getGroup({ groupId: String(first?.id) })));

    const found = async (query: { q?: string; filter?: string; search?: string }) =>
      (await all(groupApi.listGroups(query))).map(({ profile }) => profile?.name);
    for (const query of [
      { q: 'Crowd 7', filter: 'profile.name eq "Crowd 7"' },
      { filter: `id eq "${listed[7]?.id}"` },
      { search: 'type eq "OKTA_GROUP" and profile.name eq "Crowd 7"' },
      { search: 'profile.name ew "Crowd 7" and lastUpdated gt "2020-01-01T00:00:00.000Z"' },
    ]) {
      assert.deepEqual(await found(query), ['Crowd 7'], JSON.stringify(query));
    }
    assert.deepEqual(await found({ filter: 'type eq "APP_GROUP"' }), []);
    assert.deepEqual(await refusal(all(groupApi.listGroups({ filter: 'colour eq "red"' }))), [
      400,
      'E0000001',
      'Api validation failed',
      ['filter: colour is not an attribute to filter by'],
    ]);
  });

  await t.test('have members', async () => {
    const { id: groupId } = await create('Members');
    assert.deepEqual(await all(groupApi.listGroupUsers({ groupId })), []);
    const users = [await createUser('ada'), await createUser('grace'), await createUser('alan')];
    for (const userId of [...users].reverse()) assert.equal(await groupApi.assignUserToGroup({ groupId, userId }), undefined);
    const members = await all(groupApi.listGroupUsers({ groupId, limit: 2 }));
    assert.deepEqual(
      members.map(({ id }) => id),
      users,
    );
    assert.deepEqual(shown(members[0]), shown(await userApi.getUser({ userId: 'ada' })), 'as each one is read');
    assert.equal(await groupApi.unassignUserFromGroup({ groupId, userId: String(users[1]) }), undefined);
    assert.deepEqual(
      (await all(groupApi.listGroupUsers({ groupId }))).map(({ profile }) => profile?.login),
      ['ada', 'alan'],
    );
    assert.equal((await refusal(groupApi.assignUserToGroup({ groupId, userId: 'nobody' })))[0], 404);
  });

  await t.test('have applications', async () => {
    const { id: groupId } = await create('Users of applications');
    assert.deepEqual(await all(groupApi.listAssignedApplicationsForGroup({ groupId })), []);
    const { clientId } = await service.createApp({ application_type: 'service' });
    await service.createApp({ application_type: 'service' });
    await applicationApi.assignGroupToApplication({ appId: clientId, groupId });
    assert.deepEqual((await all(groupApi.listAssignedApplicationsForGroup({ groupId }))).map(shown), [
      shown(await applicationApi.getApplication({ appId: clientId })),
    ]);
    assert.equal((await refusal(all(groupApi.listAssignedApplicationsForGroup({ groupId: 'grp_unknown' }))))[0], 404);
  });

  await t.test('are refused as the SDK expects it', async () => {
    await create('Taken');
    assert.deepEqual(await refusal(create('Taken')), [
      409,
      'E0000014',
      'The request conflicts with an existing resource',
      ['profile.name: another group has this name'],
    ]);
    assert.deepEqual(await refusal(create('')), [400, 'E0000001', 'Api validation failed', ['profile.name: must not be empty']]);
    assert.deepEqual((await refusal(groupApi.createGroup({ group: { profile: { name: 'x', dn: 'cn=x' } as never } })))[3], [
      'profile.dn: is not a field of this resource',
    ]);
  });
});
