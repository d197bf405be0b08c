import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Role } from '../../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

/** Two organizations with a department and a member each. */
interface World {
  own: { orgId: string; depId: string; userId: string };
  foreign: { orgId: string; depId: string; userId: string };
}

describe('who may do what with organizations (management API, "users", roles)', () => {
  let api: ManagementApi;
  let world: World;
  let made = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const next = () => {
    made += 1;
    return made;
  };
  const newUser = async (belongings: { orgId?: string; depId?: string } = {}) =>
    (await createUser(api.services, { profile: { login: `user${next()}` }, activate: true, ...belongings }, SYSTEM)).id;
  async function newOrganization() {
    const { orgId } = (await api.call<{ orgId: string }>('POST', `/account/org?orgName=Org%20${next()}`)).body;
    const { depId } = (await api.call<{ depId: string }>('POST', `/account/org/${orgId}/department?name=Sales`)).body;
    return { orgId, depId, userId: await newUser({ orgId, depId }) };
  }
  beforeEach(async () => {
    world = { own: await newOrganization(), foreign: await newOrganization() };
  });

  /** Calls as an administrator with these roles. */
  async function as(...roles: Role[]) {
    const { id } = await createUser(api.services, { profile: { login: `admin${next()}` }, activate: true, roles }, SYSTEM);
    const { value } = await createApiToken(api.services, { name: 'his', userId: id }, SYSTEM);
    return <T = unknown>(method: string, path: string, body?: unknown) =>
      api.call<T>(method, path, body, {
        authorization: `SSWS ${value}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      });
  }
  const ofOwn = (): Role => ({ type: 'ORG_ADMIN', orgId: world.own.orgId });
  const READER: Role = { type: 'READ_ONLY_ADMIN' };
  const snapshot = async ({ orgId }: { orgId: string }) => {
    const [detail, tree, members] = await Promise.all(
      ['', '/tree', '/member'].map((path) => api.call('GET', `/account/org/${orgId}${path}`)),
    );
    return JSON.stringify([detail?.body, tree?.body, members?.body]);
  };

  const onOne = ({ orgId, depId, userId }: World['own']): [method: string, path: string, body?: unknown][] => [
    ['GET', `/account/org/${orgId}`],
    ['GET', `/account/org/${orgId}/tree`],
    ['GET', `/account/org/${orgId}/member`],
    ['POST', `/account/org/${orgId}/department`, { name: 'New' }],
    ['PUT', `/account/org/${orgId}/department/${depId}`, { name: 'Renamed' }],
    ['PUT', `/account/org/${orgId}/member/${userId}`],
    ['DELETE', `/account/org/${orgId}/department/${depId}`],
    ['DELETE', `/account/org/${orgId}/member/${userId}`],
  ];

  it('an organization administrator does everything with his own but create, rename and delete it', async () => {
    const call = await as(ofOwn());
    for (const [method, path, body] of onOne(world.own)) {
      const answer = await call(method, path, body);
      assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(answer.body)}`);
    }
    assert.equal((await call('DELETE', `/account/org/${world.own.orgId}`)).status, 403);
    assert.equal((await call('POST', '/account/org?orgName=Mine')).status, 403);
  });

  it('wall: an organization administrator gives no name, which could be taken elsewhere: refused for a free one as for another’s', async () => {
    const call = await as(ofOwn());
    const { body } = await api.call<{ name: string }>('GET', `/account/org/${world.foreign.orgId}`);
    const [taken, free] = [body.name, `Free ${next()}`].map((name) => `/account/org/${world.own.orgId}?name=${encodeURIComponent(name)}`);
    for (const path of [taken, free]) assert.equal((await call('PUT', path ?? '')).status, 403, path);
  });

  it('finds nothing of another organization, whatever the verb, and changes nothing there', async () => {
    const call = await as(ofOwn());
    const before = await snapshot(world.foreign);
    for (const [method, path, body] of onOne(world.foreign))
      assert.equal((await call(method, path, body)).status, 404, `${method} ${path}`);
    for (const [method, query] of [
      ['DELETE', ''],
      ['PUT', '?name=Mine'],
    ])
      assert.equal((await call(method ?? '', `/account/org/${world.foreign.orgId}${query}`)).status, 403);
    assert.equal(await snapshot(world.foreign), before);
  });

  it('reaches nothing of another organization by the ids of his own', async () => {
    const { own, foreign } = world;
    const call = await as(ofOwn());
    const before = await snapshot(foreign);
    assert.equal((await call('PUT', `/account/org/${own.orgId}/department/${foreign.depId}`, { name: 'x' })).status, 404);
    assert.equal((await call('DELETE', `/account/org/${own.orgId}/department/${foreign.depId}`)).status, 404);
    assert.equal(
      (await call('PUT', `/account/org/${own.orgId}/department/${own.depId}`, { name: 'x', parentId: foreign.depId })).status,
      400,
    );
    assert.equal((await call('PUT', `/account/org/${own.orgId}/member/${own.userId}`, { depId: foreign.depId })).status, 400);
    assert.equal((await call('DELETE', `/account/org/${own.orgId}/member/${foreign.userId}`)).status, 404);
    assert.equal(await snapshot(foreign), before);
  });

  it('takes as members only people whom he can see', async () => {
    const { own, foreign } = world;
    const call = await as(ofOwn());
    const nobodys = await newUser();
    for (const userId of [foreign.userId, nobodys, api.admin.userId]) {
      assert.equal((await call('PUT', `/account/org/${own.orgId}/member/${userId}`)).status, 404);
    }
    const ofBoth = await as(ofOwn(), { type: 'ORG_ADMIN', orgId: foreign.orgId });
    assert.equal((await ofBoth('PUT', `/account/org/${own.orgId}/member/${foreign.userId}`)).status, 200);
    assert.equal((await ofBoth('PUT', `/account/org/${own.orgId}/member/${nobodys}`)).status, 404);
  });

  it('moves and removes a member who belongs elsewhere too, within his own organization only', async () => {
    const { own, foreign } = world;
    await api.call('PUT', `/account/org/${own.orgId}/member/${foreign.userId}`);
    const before = await snapshot(foreign);
    const call = await as(ofOwn());
    assert.equal((await call('PUT', `/account/org/${own.orgId}/member/${foreign.userId}`, { depId: own.depId })).status, 200);
    assert.equal((await call('DELETE', `/account/org/${own.orgId}/member/${foreign.userId}`)).status, 200);
    assert.equal(await snapshot(foreign), before);
  });

  it('his list and its count hold his own alone', async () => {
    const call = await as(ofOwn());
    const { body } = await call<{ count: number; organizations: { orgId: string }[] }>('GET', '/account/org');
    assert.deepEqual([body.count, body.organizations.map(({ orgId }) => orgId)], [1, [world.own.orgId]]);
    assert.deepEqual((await call('GET', '/account/org?page=2')).body, { count: 1, organizations: [] });
  });

  it('a reading administrator sees everything and changes nothing', async () => {
    const call = await as(READER);
    const before = await snapshot(world.own);
    for (const [method, path, body] of onOne(world.own)) {
      assert.equal((await call(method, path, body)).status, method === 'GET' ? 200 : 403, `${method} ${path}`);
    }
    assert.equal((await call('POST', '/account/org?orgName=Mine')).status, 403);
    assert.equal((await call('DELETE', `/account/org/${world.own.orgId}`)).status, 403);
    assert.equal(
      (await call<{ count: number }>('GET', '/account/org')).body.count,
      (await api.call<{ count: number }>('GET', '/account/org')).body.count,
    );
    assert.equal(await snapshot(world.own), before);
  });

  it('who reads everything and administers one organization changes that one, and takes in nobody from outside', async () => {
    const { own, foreign } = world;
    const call = await as(READER, ofOwn());
    for (const [method, path, body] of onOne(foreign)) {
      assert.equal((await call(method, path, body)).status, method === 'GET' ? 200 : 403, `${method} ${path}`);
    }
    // Once a member of his alone, such a user's password would be his to set.
    for (const userId of [foreign.userId, await newUser(), api.admin.userId]) {
      assert.equal((await call('PUT', `/account/org/${own.orgId}/member/${userId}`)).status, 403);
    }
    assert.equal((await call('POST', `/account/org/${own.orgId}/department`, { name: 'His' })).status, 200);
  });

  it('without a role or without a token nothing is open, not even what there is', async () => {
    const call = await as();
    for (const [method, path, body] of onOne(world.own)) {
      assert.equal((await call(method, path, body)).status, 401);
      assert.equal((await api.call(method, path, body, { authorization: '' })).status, 401);
    }
  });
});
