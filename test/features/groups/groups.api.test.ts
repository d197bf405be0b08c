import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventsOf, type Named, nextPage, tokenWith } from '../../api/administrators.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Group {
  id: string;
  type: string;
  origin: string;
  created: string;
  lastUpdated: string;
  profile: { name: string; description: string };
  _links: { self: { href: string } };
}

describe('groups (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const create = async (name: string, description?: string): Promise<Group> => {
    const { status, body } = await api.call<Group>('POST', '/groups', { profile: { name, description } });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const createUser = async (login: string): Promise<string> => (await api.call<Named>('POST', '/users', { profile: { login } })).body.id;
  const namesOf = (groups: readonly Group[]) => groups.map(({ profile }) => profile.name);

  it('creates, reads, replaces and deletes one', async () => {
    const made = await create('Engineers', 'Who build things');
    assert.match(made.id, /^grp_\w{20}$/);
    assert.deepEqual(made, {
      id: made.id,
      type: 'OKTA_GROUP',
      origin: 'ADMIN',
      created: made.created,
      lastUpdated: made.created,
      profile: { name: 'Engineers', description: 'Who build things' },
      _links: { self: { href: `${api.services.config.baseUrl}/api/v1/groups/${made.id}` } },
    });
    assert.deepEqual((await api.call('GET', `/groups/${made.id}`)).body, made);

    const replaced = await api.call<Group>('PUT', `/groups/${made.id}`, { profile: { name: 'Builders' } });
    assert.equal(replaced.status, 200);
    assert.deepEqual(replaced.body.profile, { name: 'Builders' }, 'what is not given returns to its default');
    assert.equal(replaced.body.created, made.created);
    assert.deepEqual((await api.call('GET', `/groups/${made.id}`)).body, replaced.body);
    const sentBack = await api.call<Group>('PUT', `/groups/${made.id}`, { ...replaced.body, id: 'another', lastUpdated: 'never' });
    assert.deepEqual([sentBack.status, sentBack.body.id], [200, made.id], 'fields of an answer may be sent back ("Conventions")');

    assert.equal((await api.call('DELETE', `/groups/${made.id}`)).status, 204);
    for (const [method, body] of [['GET'], ['PUT', { profile: { name: 'x' } }], ['DELETE']] as const) {
      const gone = await api.call(method, `/groups/${made.id}`, body);
      assert.deepEqual([gone.status, gone.body.errorCode], [404, 'E0000007'], method);
    }
    assert.deepEqual(await eventsOf(api, made.id), [
      ['group.lifecycle.create', undefined, { name: 'Engineers', description: 'Who build things' }],
      ['group.profile.update', { name: 'Engineers', description: 'Who build things' }, { name: 'Builders', description: '' }],
      ['group.profile.update', { name: 'Builders', description: '' }, { name: 'Builders', description: '' }],
      ['group.lifecycle.delete', { name: 'Builders', description: '' }, undefined],
    ]);
  });

  it('lets one of twenty have a name, at creation and at renaming, and tells the others 409', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => api.call<Group>('POST', '/groups', { profile: { name: 'Wanted' } })));
    assert.deepEqual(made.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    const others = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`Other ${index}`)));
    const renamed = await Promise.all(others.map(({ id }) => api.call('PUT', `/groups/${id}`, { profile: { name: 'Coveted' } })));
    assert.deepEqual(renamed.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    const refused = renamed.find(({ status }) => status === 409);
    assert(refused);
    assert.deepEqual(
      [refused.body.errorCode, causes(refused)],
      ['E0000014', ['profile.name: another group has this name. Choose another name']],
    );
    const { body } = await api.call<Group[]>('GET', '/groups?q=Other&limit=200');
    assert.equal(body.length, 19, 'the refused ones kept their names');
  });

  for (const name of [
    '<script>alert(1)</script>',
    'مهندسون',
    '\u202eabc',
    `x'; DROP TABLE groups; --`,
    '100 % _\\',
    '😀'.repeat(127),
    'é',
  ]) {
    it(`keeps the name ${JSON.stringify(name.slice(0, 30))} as it is, and finds it by its beginning`, async () => {
      const made = await create(name);
      assert.equal(made.profile.name, name);
      const found = await api.call<Group[]>('GET', `/groups?q=${encodeURIComponent(name)}`);
      assert.deepEqual(namesOf(found.body), [name]);
      const filtered = await api.call<Group[]>('GET', `/groups?filter=${encodeURIComponent(`profile.name eq ${JSON.stringify(name)}`)}`);
      assert.deepEqual(namesOf(filtered.body), [name]);
    });
  }

  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no profile', {}, ['profile: is required']],
    ['no name', { profile: { description: 'x' } }, ['profile.name: is required']],
    ['an empty name', { profile: { name: '  ' } }, ['profile.name: must not be empty']],
    ['10,000 characters', { profile: { name: 'x'.repeat(10_000) } }, ['profile.name: must have at most 255 characters']],
    [
      'a long description',
      { profile: { name: 'x', description: 'x'.repeat(1025) } },
      ['profile.description: must have at most 1024 characters'],
    ],
    ['control characters', { profile: { name: 'a\u0000b' } }, ['profile.name: must not contain control characters']],
    ['unknown fields', { profile: { name: 'x', colour: 1 }, a: 1 }, ['profile.colour: is not a field of this resource']],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, at creation and at replacing`, async () => {
      const { id } = await create(`Before ${why}`);
      for (const [method, path] of [
        ['POST', '/groups'],
        ['PUT', `/groups/${id}`],
      ] as const) {
        const answer = await api.call(method, path, body);
        assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
      }
    });
  }

  it('lists in pages that stay as they are while groups are made; q, search and filter narrow', async () => {
    for (const number of [1, 2, 3, 4, 5]) await create(`Page ${number}`, number < 3 ? 'low' : 'high');
    const read = (query: string) => api.call<Group[]>('GET', `/groups?${query}`);
    const first = await read('q=PAGE&limit=2');
    assert.deepEqual(namesOf(first.body), ['Page 1', 'Page 2'], 'whatever the case of the letters');
    await create('Page 6');
    const second = await api.call<Group[]>('GET', nextPage(first));
    assert.deepEqual(namesOf(second.body), ['Page 3', 'Page 4']);
    const third = await api.call<Group[]>('GET', nextPage(second));
    assert.deepEqual(namesOf(third.body), ['Page 5', 'Page 6']);
    assert.equal(third.headers.get('link'), null);

    const high = encodeURIComponent('profile.description eq "HIGH" and profile.name sw "page"');
    for (const parameter of ['search', 'filter'])
      assert.deepEqual(namesOf((await read(`${parameter}=${high}`)).body), ['Page 3', 'Page 4', 'Page 5']);
    const both = `q=page&search=${high}&filter=${encodeURIComponent('not (profile.name eq "Page 4")')}`;
    assert.deepEqual(namesOf((await read(both)).body), ['Page 3', 'Page 5']);
    assert.deepEqual((await read(`filter=${encodeURIComponent('created gt "2999-01-01T00:00:00Z"')}`)).body, []);
    assert.deepEqual((await read('q=age')).body, [], 'the beginning, not the middle');
    const wrong = await api.call('GET', `/groups?filter=${encodeURIComponent('members eq "x"')}`);
    assert.deepEqual([wrong.status, causes(wrong)], [400, ['filter: members is not an attribute that can be filtered']]);
  });

  it('holds users; adding one twice and removing one who is not there change nothing', async () => {
    const { id } = await create('Members');
    const users = [await createUser('ada'), await createUser('grace'), await createUser('<b>linus</b>')];
    // Against the order of their creation: the list is in that of the users.
    for (const user of [...users].reverse()) assert.equal((await api.call('PUT', `/groups/${id}/users/${user}`)).status, 204);
    assert.equal((await api.call('PUT', `/groups/${id}/users/${users[0]}`)).status, 204);

    const first = await api.call<Named[]>('GET', `/groups/${id}/users?limit=2`);
    const second = await api.call<Named[]>('GET', nextPage(first));
    assert.deepEqual(
      [...first.body, ...second.body].map((user) => user.id),
      users,
    );
    assert.deepEqual(first.body[0], (await api.call('GET', `/users/${users[0]}`)).body, 'as everywhere else');

    assert.equal((await api.call('DELETE', `/groups/${id}/users/${users[1]}`)).status, 204);
    assert.equal((await api.call('DELETE', `/groups/${id}/users/${users[1]}`)).status, 204);
    assert.deepEqual(
      (await api.call<Named[]>('GET', `/groups/${id}/users`)).body.map((user) => user.id),
      [users[0], users[2]],
    );

    const changes = (await eventsOf(api, id)).filter(([type]) => type.startsWith('group.user_membership'));
    assert.deepEqual(changes, [
      ...[...users].reverse().map((userId) => ['group.user_membership.add', undefined, { groupId: id, userId }]),
      ['group.user_membership.remove', { groupId: id, userId: users[1] }, undefined],
    ]);
  });

  it('adds one of twenty times, and only to what exists', async () => {
    const { id } = await create('Crowded');
    const user = await createUser('crowd');
    const added = await Promise.all(Array.from({ length: 20 }, () => api.call('PUT', `/groups/${id}/users/${user}`)));
    assert.deepEqual(
      added.map(({ status }) => status),
      Array(20).fill(204),
    );
    assert.equal((await eventsOf(api, id)).filter(([type]) => type === 'group.user_membership.add').length, 1);
    for (const method of ['PUT', 'DELETE']) {
      for (const path of [
        `/groups/nothing/users/${user}`,
        `/groups/${id}/users/nobody`,
        `/groups/${id}/users/%00`,
        `/groups/${id}/users/crowd`,
      ]) {
        const answer = await api.call(method, path);
        assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${path}`);
      }
    }
    assert.equal((await api.call('GET', '/groups/nothing/users')).status, 404);
  });

  it('has a user from his creation on, by groupIds; by SUPER_ADMIN alone, and all or nothing', async () => {
    const [first, second] = [await create('From the beginning'), await create('As well')];
    const groupIds = [first.id, second.id, first.id];
    const { body: user } = await api.call<Named>('POST', '/users', { profile: { login: 'joined' }, groupIds });
    assert.deepEqual((await api.call<Group[]>('GET', `/users/${user.id}/groups`)).body, [first, second]);
    const page = await api.call<Group[]>('GET', '/users/joined/groups?limit=1');
    assert.deepEqual([page.body, (await api.call<Group[]>('GET', nextPage(page))).body], [[first], [second]]);
    assert.deepEqual((await eventsOf(api, user.id)).slice(1), [
      ['group.user_membership.add', undefined, { groupId: first.id, userId: user.id }],
      ['group.user_membership.add', undefined, { groupId: second.id, userId: user.id }],
    ]);

    const body = { profile: { login: 'not joined' }, groupIds: [first.id, 'grp_unknown'] };
    const unknown = await api.call('POST', '/users', body);
    assert.deepEqual([unknown.status, causes(unknown)], [400, ['groupIds: grp_unknown does not exist']]);
    const { rows } = await api.services.database.pool.query('SELECT 1 FROM audit_events WHERE target @> $1', [
      JSON.stringify([{ displayName: 'not joined' }]),
    ]);
    assert.deepEqual(rows, [], 'the event goes with the user who was not created');
    const organization = await tokenWith(api, 'ORG_ADMIN');
    const { body: orgs } = await api.call<{ organizations: { orgId: string }[] }>('GET', '/account/org', undefined, organization);
    const inOrg = { profile: { login: 'not joined' }, orgId: orgs.organizations[0]?.orgId };
    assert.equal((await api.call('POST', '/users', { ...inOrg, groupIds: [first.id] }, organization)).status, 403);
    assert.equal((await api.call('GET', '/users/not%20joined')).status, 404);
    assert.equal((await api.call('POST', '/users', { ...inOrg, groupIds: [] }, organization)).status, 200, 'none is what he may give');
  });

  it('is deleted while users are added to it: none is left half done', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await create(`Short-lived ${round}`);
      const users = await Promise.all(Array.from({ length: 10 }, (_, index) => createUser(`short-${round}-${index}`)));
      const [deleted, ...added] = await Promise.all([
        api.call('DELETE', `/groups/${id}`),
        ...users.map((user) => api.call('PUT', `/groups/${id}/users/${user}`)),
      ]);
      assert.equal(deleted.status, 204);
      for (const { status } of added) assert.ok(status === 204 || status === 404, String(status));
    }
    const left = await api.services.database
      .knex('group_members')
      .whereNotIn('group_id', api.services.database.knex('groups').select('id'));
    assert.deepEqual(left, []);
  });

  it('is read by READ_ONLY_ADMIN and changed by SUPER_ADMIN alone; ORG_ADMIN has no part in it', async () => {
    const { id } = await create('Guarded');
    const user = await createUser('guarded');
    const reads = ['/groups', `/groups/${id}`, `/groups/${id}/users`];
    const writes: [method: string, path: string, body?: unknown][] = [
      ['POST', '/groups', { profile: { name: 'Never' } }],
      ['PUT', `/groups/${id}`, { profile: { name: 'Never' } }],
      ['PUT', `/groups/${id}/users/${user}`],
      ['DELETE', `/groups/${id}/users/${user}`],
      ['DELETE', `/groups/${id}`],
    ];
    const reader = await tokenWith(api, 'READ_ONLY_ADMIN');
    const organization = await tokenWith(api, 'ORG_ADMIN');
    for (const path of reads) {
      assert.equal((await api.call('GET', path, undefined, reader)).status, 200, path);
      assert.equal((await api.call('GET', path, undefined, organization)).status, 403, path);
    }
    for (const [method, path, body] of writes) {
      for (const caller of [reader, organization]) {
        const answer = await api.call(method, path, body, caller);
        assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000006'], `${method} ${path}`);
      }
    }
    assert.deepEqual((await api.call<Group>('GET', `/groups/${id}`)).body.profile.name, 'Guarded');
  });
});
