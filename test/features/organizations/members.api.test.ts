import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Member {
  userId: string;
  login: string;
  status: string;
  depId: string;
  created: string;
}

describe('members of an organization (management API, "account/org…")', () => {
  let api: ManagementApi;
  let made = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const next = () => {
    made += 1;
    return made;
  };
  const newOrg = async (): Promise<string> =>
    (await api.call<{ orgId: string }>('POST', `/account/org?orgName=Org%20${next()}`)).body.orgId;
  const newDepartment = async (orgId: string): Promise<string> =>
    (await api.call<{ depId: string }>('POST', `/account/org/${orgId}/department`, { name: `Department ${next()}` })).body.depId;
  const newUser = async (belongings: object = {}): Promise<string> =>
    (await api.call<{ id: string }>('POST', '/users', { profile: { login: `user${next()}` }, ...belongings })).body.id;
  const put = <T = ErrorObject>(orgId: string, userId: string, body?: unknown) =>
    api.call<T>('PUT', `/account/org/${orgId}/member/${userId}`, body);
  const remove = <T = ErrorObject>(orgId: string, userId: string) => api.call<T>('DELETE', `/account/org/${orgId}/member/${userId}`);
  const list = (orgId: string, query = '') => api.call<Member[]>('GET', `/account/org/${orgId}/member${query}`);
  const memberCount = async (orgId: string) => (await api.call<{ memberCount: number }>('GET', `/account/org/${orgId}`)).body.memberCount;
  const departmentOf = async (orgId: string, userId: string) =>
    (await list(orgId, '?limit=200')).body.find((member) => member.userId === userId)?.depId;
  const eventsAbout = (orgId: string): Promise<{ event_type: string; debug_context: unknown; target: { id: string }[] }[]> =>
    api.services.database
      .knex('audit_events')
      .whereRaw("target->1->>'id' = ? AND event_type LIKE 'org.membership.%'", [orgId])
      .orderBy('seq');

  it('adds, moves and removes a member, with one event for each', async () => {
    const orgId = await newOrg();
    const [depId, userId] = [await newDepartment(orgId), await newUser()];
    const added = await put(orgId, userId);
    assert.deepEqual([added.status, added.body], [200, { success: true, orgId, userId }]);
    assert.equal(await departmentOf(orgId, userId), '');
    for (const [body, expected] of [
      [{ depId }, depId],
      [{ depId: '' }, ''],
      [{ depId }, depId],
      [{ depId: null }, ''],
      [{ depId }, depId],
      [{}, ''],
    ] as const) {
      assert.equal((await put(orgId, userId, body)).status, 200);
      assert.equal(await departmentOf(orgId, userId), expected);
    }
    assert.equal((await api.call('PUT', `/account/org/${orgId}/member/${userId}?depId=${depId}`, { depId: '' })).status, 200);
    assert.equal(await departmentOf(orgId, userId), depId, 'the query wins');
    const removed = await remove(orgId, userId);
    assert.deepEqual([removed.status, removed.body], [200, { success: true, orgId, userId }]);
    assert.equal((await remove(orgId, userId)).status, 404);
    assert.deepEqual((await list(orgId)).body, []);
    assert.equal((await api.call('GET', `/users/${userId}`)).status, 200, 'the user stays');

    const events = await eventsAbout(orgId);
    assert.deepEqual(
      [events[0], events[1], events.at(-1)].map((event) => [event?.event_type, event?.debug_context]),
      [
        ['org.membership.add', { after: { depId: '' } }],
        ['org.membership.update', { before: { depId: '' }, after: { depId } }],
        ['org.membership.remove', { before: { depId } }],
      ],
    );
    assert.ok(events.every(({ target }) => target[0]?.id === userId));
  });

  it('changes nothing, and records nothing, when the member is there already', async () => {
    const orgId = await newOrg();
    const userId = await newUser({ orgId });
    for (let turn = 0; turn < 3; turn += 1) assert.equal((await put(orgId, userId)).status, 200);
    assert.equal((await eventsAbout(orgId)).length, 0);
  });

  it('counts every user once, those of departments included; a user may belong to several organizations', async () => {
    const [orgId, otherId] = [await newOrg(), await newOrg()];
    const depId = await newDepartment(orgId);
    const users = [await newUser({ orgId, depId }), await newUser({ orgId }), await newUser()];
    for (const userId of users) await put(otherId, userId);
    assert.deepEqual([await memberCount(orgId), await memberCount(otherId)], [2, 3]);
    for (const userId of users.slice(0, 2)) await put(orgId, userId, { depId });
    assert.equal(await memberCount(orgId), 2);
    await remove(orgId, users[0] ?? '');
    assert.deepEqual([await memberCount(orgId), await memberCount(otherId)], [1, 3]);
  });

  it('lists them with userId, login, status, department and time, no more', async () => {
    const orgId = await newOrg();
    const depId = await newDepartment(orgId);
    const userId = await newUser({ orgId, depId });
    const { body } = await list(orgId);
    assert.equal(body.length, 1);
    assert.deepEqual(Object.keys(body[0] ?? {}).sort(), ['created', 'depId', 'login', 'status', 'userId']);
    assert.deepEqual([body[0]?.userId, body[0]?.depId, body[0]?.status], [userId, depId, 'ACTIVE']);
    assert.match(body[0]?.login ?? '', /^user\d+$/);
    assert.match(body[0]?.created ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('goes on by the link to the next page; nobody is shown twice or left out when others come and go ("Conventions")', async () => {
    const orgId = await newOrg();
    const users: string[] = [];
    for (let at = 0; at < 7; at += 1) users.push(await newUser({ orgId }));
    const seen: string[] = [];
    let path: string | undefined = `/account/org/${orgId}/member?limit=2`;
    for (let page = 0; path !== undefined; page += 1) {
      const answer: Awaited<ReturnType<typeof list>> = await api.call<Member[]>('GET', path);
      seen.push(...answer.body.map(({ userId }) => userId));
      const link: string | undefined = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      path = link?.replace(`${api.services.config.baseUrl}/api/v1`, '');
      await newUser({ orgId });
      // The one the next page begins after.
      if (page === 0) await remove(orgId, seen.at(-1) ?? '');
      if (page === 10) break;
    }
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(seen.filter((userId) => users.includes(userId)).sort(), users.toSorted());
  });

  it('goes on after somebody whose account is deleted', async () => {
    const orgId = await newOrg();
    const users: string[] = [];
    for (let at = 0; at < 3; at += 1) users.push(await newUser({ orgId }));
    const first = await list(orgId, '?limit=1');
    const after = /after=([\w.-]+)/.exec(first.headers.get('link') ?? '')?.[1];
    for (let step = 0; step < 2; step += 1) await api.call('DELETE', `/users/${first.body[0]?.userId}`);
    const rest = await list(orgId, `?after=${after}`);
    assert.deepEqual(
      [first, rest].flatMap(({ body }) => body.map(({ userId }) => userId)),
      users,
    );
  });

  for (const query of ['limit=0', 'limit=201', 'limit=x', 'after=-1', 'after=x', 'limit=1&limit=2']) {
    it(`refuses ${query}`, async () => {
      const answer = await api.call('GET', `/account/org/org_x/member?${query}`);
      assert.deepEqual([answer.status, answer.body.errorCode], [400, 'E0000001']);
      assert.ok(causes(answer)[0]?.startsWith(`${query.split('=')[0]}: `));
    });
  }

  it('refuses departments that are not there, or not in this organization, and changes nothing', async () => {
    const [orgId, otherId] = [await newOrg(), await newOrg()];
    const [depId, foreign, member, stranger] = [await newDepartment(orgId), await newDepartment(otherId), await newUser(), await newUser()];
    await put(orgId, member, { depId });
    for (const userId of [member, stranger]) {
      for (const wrong of [foreign, 'dep_unknown', orgId]) {
        const answer = await put(orgId, userId, { depId: wrong });
        assert.deepEqual([answer.status, causes(answer)], [400, ['depId: does not exist']]);
      }
      for (const [body, cause] of [
        [{ depId: 7 }, 'depId: must be of type string'],
        [{ depId: '\u0000' }, 'depId: must not contain control characters'],
        [{ role: 'boss' }, 'role: is not a field of this resource'],
      ] as const) {
        assert.deepEqual(causes(await put(orgId, userId, body)), [cause]);
      }
    }
    assert.equal(await departmentOf(orgId, member), depId);
    assert.equal(await memberCount(orgId), 1);
  });

  it('knows neither organizations nor users that are not there', async () => {
    const [orgId, userId] = [await newOrg(), await newUser()];
    for (const [org, user] of [
      ['org_unknown', userId],
      [orgId, 'usr_unknown'],
      [orgId, '%00'],
    ] as const) {
      for (const answer of [await put(org, user), await remove(org, user)]) {
        assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
      }
    }
    assert.equal((await remove(orgId, userId)).status, 404, 'no member');
    assert.equal((await list('org_unknown')).status, 404);
  });

  it('twenty additions of one user at once make one member and one event', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const [orgId, userId] = [await newOrg(), await newUser()];
      const depId = await newDepartment(orgId);
      const answers = await Promise.all(Array.from({ length: 20 }, () => put(orgId, userId, { depId })));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(await memberCount(orgId), 1);
      assert.deepEqual(
        (await eventsAbout(orgId)).map(({ event_type }) => event_type),
        ['org.membership.add'],
      );
    }
  });

  it('a user is made a member while he is given a role there: neither waits for the other in a circle', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const orgId = await newOrg();
      const users = await Promise.all(Array.from({ length: 4 }, () => newUser()));
      const answers = await Promise.all(
        users.flatMap((userId) => [put(orgId, userId), api.call('POST', `/users/${userId}/roles`, { type: 'ORG_ADMIN', orgId })]),
      );
      for (const { status } of answers) assert.ok(status < 300, String(status));
    }
  });

  it('the count is right after additions and removals at once', async () => {
    const orgId = await newOrg();
    const stay = await Promise.all(Array.from({ length: 10 }, () => newUser()));
    const leave = await Promise.all(Array.from({ length: 10 }, () => newUser({ orgId })));
    const answers = await Promise.all([...stay.map((userId) => put(orgId, userId)), ...leave.map((userId) => remove(orgId, userId))]);
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(await memberCount(orgId), 10);
    assert.deepEqual(new Set((await list(orgId)).body.map(({ userId }) => userId)), new Set(stay));
  });

  it('an organization or department is deleted or given people, never both, whichever way they come', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const orgId = await newOrg();
      const depId = await newDepartment(orgId);
      const users = await Promise.all(Array.from({ length: 4 }, () => newUser()));
      const [removed, ...joined] = await Promise.all([
        api.call('DELETE', `/account/org/${orgId}/department/${depId}`),
        ...users.map((userId) => put(orgId, userId, { depId })),
        ...users.map(() => api.call('POST', '/users', { profile: { login: `user${next()}` }, orgId, depId })),
      ]);
      assert.ok(joined.every(({ status }) => status === 200 || status === 400));
      const inDepartment = joined.filter(({ status }) => status === 200).length;
      assert.equal(removed?.status, inDepartment === 0 ? 200 : 403);
      assert.equal(await memberCount(orgId), inDepartment);

      const shortLived = await newOrg();
      const [deleted, ...entered] = await Promise.all([
        api.call('DELETE', `/account/org/${shortLived}`),
        ...users.map((userId) => put(shortLived, userId)),
        api.call('POST', '/users', { profile: { login: `user${next()}` }, orgId: shortLived }),
      ]);
      const members = entered.filter(({ status }) => status === 200).length;
      assert.equal(deleted?.status, members === 0 ? 200 : 403);
      assert.ok(entered.every(({ status }) => status === 200 || status === 400 || status === 404));
    }
  });
});
