import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Tree {
  levelCount: number;
  treeStruct: { depId: string; name: string; originId: string; parentId: string }[];
}
interface Done {
  depId: string;
  success: boolean;
}

describe('departments ("Department node")', () => {
  let api: ManagementApi;
  let made = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const newOrg = async (): Promise<string> => {
    made += 1;
    return (await api.call<{ orgId: string }>('POST', `/account/org?orgName=Org%20${made}`)).body.orgId;
  };
  const add = async (orgId: string, name: string, parentId?: string): Promise<string> => {
    const body = { name, ...(parentId !== undefined && { parentId }) };
    const answer = await api.call<Done>('POST', `/account/org/${orgId}/department`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.depId;
  };
  const put = <T = Done>(orgId: string, depId: string, body: unknown) =>
    api.call<T>('PUT', `/account/org/${orgId}/department/${depId}`, body);
  const remove = <T = ErrorObject>(orgId: string, depId: string) => api.call<T>('DELETE', `/account/org/${orgId}/department/${depId}`);
  const tree = async (orgId: string) => (await api.call<Tree>('GET', `/account/org/${orgId}/tree`)).body;
  const names = async (orgId: string) => (await tree(orgId)).treeStruct.map(({ name }) => name).join(' ');
  const eventsAbout = (depId: string): Promise<{ event_type: string; debug_context: unknown; target: { id: string; type: string }[] }[]> =>
    api.services.database.knex('audit_events').whereRaw("target->0->>'id' = ?", [depId]).orderBy('seq').select('*');

  it('an organization without departments has an empty tree', async () => {
    const orgId = await newOrg();
    assert.deepEqual(await tree(orgId), { levelCount: 0, treeStruct: [] });
  });

  it('the tree has each department before those below it, siblings as created, and their number', async () => {
    const orgId = await newOrg();
    const a = await add(orgId, 'a');
    const b = await add(orgId, 'b', '');
    const b1 = await add(orgId, 'b1', b);
    const a1 = await add(orgId, 'a1', a);
    const a2 = await add(orgId, 'a2', a);
    const a11 = await add(orgId, 'a11', a1);
    assert.match(a, /^dep_[0-9A-Za-z]{20}$/);
    const node = (depId: string, name: string, parentId: string) => ({ depId, name, originId: '', parentId });
    assert.deepEqual(await tree(orgId), {
      levelCount: 6,
      treeStruct: [node(a, 'a', ''), node(a1, 'a1', a), node(a11, 'a11', a1), node(a2, 'a2', a), node(b, 'b', ''), node(b1, 'b1', b)],
    });
  });

  it('create answers depId and success, no more, and takes its parameters from the query too, which wins', async () => {
    const orgId = await newOrg();
    const answer = await api.call<Done>('POST', `/account/org/${orgId}/department?name=Query&originId=Q-1`, {
      name: 'Body',
      originId: 'B-1',
    });
    assert.deepEqual([answer.status, Object.keys(answer.body).sort(), answer.body.success], [200, ['depId', 'success'], true]);
    const { treeStruct } = await tree(orgId);
    assert.deepEqual(treeStruct, [{ depId: answer.body.depId, name: 'Query', originId: 'Q-1', parentId: '' }]);
    assert.equal((await api.call('POST', `/account/org/${orgId}/department?name=Alone`)).status, 200);
  });

  it('PUT replaces: name, originId and parent; without a parent it moves to the top level', async () => {
    const orgId = await newOrg();
    const [a, b] = [await add(orgId, 'a'), await add(orgId, 'b')];
    const moved = await put(orgId, b, { name: 'below a', originId: 'B', parentId: a });
    assert.deepEqual([moved.status, moved.body], [200, { success: true, depId: b }]);
    assert.deepEqual((await tree(orgId)).treeStruct[1], { depId: b, name: 'below a', originId: 'B', parentId: a });
    for (const parent of [{ parentId: '' }, { parentId: null }, {}]) {
      await put(orgId, b, { name: 'below a', parentId: a });
      await put(orgId, b, { name: 'on top', ...parent });
      assert.deepEqual((await tree(orgId)).treeStruct[1], { depId: b, name: 'on top', originId: '', parentId: '' });
    }
  });

  it('a node of the tree may be sent back', async () => {
    const orgId = await newOrg();
    const a = await add(orgId, 'a');
    await add(orgId, 'a1', a);
    for (const node of (await tree(orgId)).treeStruct) assert.equal((await put(orgId, node.depId, node)).status, 200);
    assert.equal(await names(orgId), 'a a1');
  });

  it('takes everything below it along', async () => {
    const orgId = await newOrg();
    const a = await add(orgId, 'a');
    await add(orgId, 'a11', await add(orgId, 'a1', a));
    const b = await add(orgId, 'b');
    await put(orgId, a, { name: 'a', parentId: b });
    assert.equal(await names(orgId), 'b a a1 a11');
  });

  it('refuses a parent that is the department itself, below it, of another organization, or nothing', async () => {
    const [orgId, otherId] = [await newOrg(), await newOrg()];
    const a = await add(orgId, 'a');
    const a1 = await add(orgId, 'a1', a);
    const a11 = await add(orgId, 'a11', a1);
    const foreign = await add(otherId, 'foreign');
    for (const parentId of [a, a1, a11]) {
      const answer = await put<ErrorObject>(orgId, a, { name: 'a', parentId });
      assert.deepEqual(
        [answer.status, answer.body.errorCode, causes(answer)],
        [400, 'E0000001', ['parentId: must not be the department itself or a department below it']],
      );
    }
    for (const parentId of [foreign, 'dep_unknown', orgId, `'; DROP TABLE departments;--`]) {
      for (const answer of [
        await put<ErrorObject>(orgId, a, { name: 'a', parentId }),
        await api.call('POST', `/account/org/${orgId}/department`, { name: 'new', parentId }),
      ]) {
        assert.deepEqual([answer.status, causes(answer)], [400, ['parentId: does not exist']]);
      }
    }
    assert.equal(await names(orgId), 'a a1 a11');
  });

  it('deletes one that is empty, and none that has departments or members', async () => {
    const orgId = await newOrg();
    const a = await add(orgId, 'a');
    const a1 = await add(orgId, 'a1', a);
    const withChild = await remove(orgId, a);
    assert.deepEqual([withChild.status, withChild.body.errorCode], [403, 'E0000038']);
    assert.match(withChild.body.errorSummary, /still has departments/);
    await api.call('PUT', `/account/org/${orgId}/member/${api.admin.userId}`, { depId: a1 });
    const withMember = await remove(orgId, a1);
    assert.deepEqual([withMember.status, withMember.body.errorCode], [403, 'E0000038']);
    assert.match(withMember.body.errorSummary, /still has members/);
    await api.call('DELETE', `/account/org/${orgId}/member/${api.admin.userId}`);
    const done = await remove<Done>(orgId, a1);
    assert.deepEqual([done.status, done.body], [200, { success: true, depId: a1 }]);
    assert.equal((await remove(orgId, a1)).status, 404);
    assert.equal((await remove(orgId, a)).status, 200);
    assert.equal((await tree(orgId)).levelCount, 0);
  });

  it('writes one event for every change, with before and after', async () => {
    const orgId = await newOrg();
    const a = await add(orgId, 'a');
    const b = await add(orgId, 'b');
    await put(orgId, b, { name: 'b1', parentId: a });
    await put(orgId, b, { name: 'refused', parentId: b });
    await remove(orgId, b);
    const events = await eventsAbout(b);
    assert.deepEqual(
      events.map(({ event_type, debug_context }) => [event_type, debug_context]),
      [
        ['department.create', { after: { name: 'b', originId: '', parentId: '' } }],
        ['department.update', { before: { name: 'b', originId: '', parentId: '' }, after: { name: 'b1', originId: '', parentId: a } }],
        ['department.delete', { before: { name: 'b1', originId: '', parentId: a } }],
      ],
    );
    for (const { target } of events)
      assert.deepEqual(
        target.map(({ id, type }) => [id, type]),
        [
          [b, 'Department'],
          [orgId, 'Organization'],
        ],
      );
  });

  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no name', {}, ['name: is required']],
    ['a blank name', { name: '\t ' }, ['name: must not be empty']],
    ['10,000 characters', { name: 'x'.repeat(10_000) }, ['name: must have at most 255 characters']],
    [
      'control characters everywhere',
      { name: '\u0000', originId: '\u0001', parentId: '\u0000' },
      [
        'name: must not contain control characters',
        'originId: must not contain control characters',
        'parentId: must not contain control characters',
      ],
    ],
    [
      'other types',
      { name: 1, originId: null, parentId: [] },
      ['name: must be of type string', 'originId: must be of type string', 'parentId: must be of type string'],
    ],
    ['other fields', { name: 1, colour: 'red', size: 1 }, ['colour: is not a field of this resource']],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, at creation and change alike`, async () => {
      const orgId = await newOrg();
      const depId = await add(orgId, 'a');
      for (const answer of [await api.call('POST', `/account/org/${orgId}/department`, body), await put<ErrorObject>(orgId, depId, body)]) {
        assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
      }
      assert.equal(await names(orgId), 'a');
    });
  }

  it('keeps names of markup and right-to-left script, and two departments of one name', async () => {
    const orgId = await newOrg();
    for (const name of ['<b>x</b>', 'قسم \u202e', 'same', 'same']) await add(orgId, name);
    assert.deepEqual(
      (await tree(orgId)).treeStruct.map(({ name }) => name),
      ['<b>x</b>', 'قسم \u202e', 'same', 'same'],
    );
  });

  it('knows no department by another organization, and no organization that is not there', async () => {
    const [orgId, otherId] = [await newOrg(), await newOrg()];
    const depId = await add(orgId, 'a');
    assert.equal((await put(otherId, depId, { name: 'stolen' })).status, 404);
    assert.equal((await remove(otherId, depId)).status, 404);
    assert.equal((await put('org_unknown', depId, { name: 'stolen' })).status, 404);
    assert.equal((await api.call('POST', '/account/org/org_unknown/department', { name: 'a' })).status, 404);
    assert.equal((await api.call('GET', '/account/org/org_unknown/tree')).status, 404);
    assert.equal(await names(orgId), 'a');
  });

  it('twenty opposite moves at once never make a cycle', async () => {
    const orgId = await newOrg();
    const ids: string[] = [];
    for (let at = 0; at < 20; at += 1) ids.push(await add(orgId, `d${at}`));
    // Each below the next, the last below the first: together a ring, of which one move at least has to be refused.
    const answers = await Promise.all(
      ids.map((depId, at) => put<ErrorObject>(orgId, depId, { name: `d${at}`, parentId: ids[(at + 1) % 20] })),
    );
    const refusals = answers.filter(({ status }) => status !== 200);
    assert.equal(refusals.length, 1);
    assert.deepEqual(refusals.flatMap(causes), ['parentId: must not be the department itself or a department below it']);
    const { treeStruct, levelCount } = await tree(orgId);
    assert.deepEqual([treeStruct.length, levelCount], [20, 20]);
    assert.deepEqual(new Set(treeStruct.map(({ depId }) => depId)), new Set(ids));
  });

  it('a department is deleted or given departments, never both', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const orgId = await newOrg();
      const a = await add(orgId, 'a');
      const answers = await Promise.all([
        remove(orgId, a),
        ...Array.from({ length: 8 }, () => api.call('POST', `/account/org/${orgId}/department`, { name: 'a1', parentId: a })),
      ]);
      const [removed, ...added] = answers.map(({ status }) => status);
      const created = added.filter((status) => status === 200).length;
      assert.ok(added.every((status) => status === 200 || status === 400));
      assert.equal(removed, created === 0 ? 200 : 403);
      assert.equal((await tree(orgId)).levelCount, removed === 200 ? 0 : created + 1);
    }
  });
});
