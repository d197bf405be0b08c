/** The number of members is exact: after every way in and out, for requests at once, before and after the rows are added up. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { foldMemberCounts } from '../../../src/features/organizations/memberships.store.ts';
import { organization, person } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('the member count of an organization', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const counted = async (orgId: string): Promise<number> =>
    (await api.call<{ memberCount: number }>('GET', `/account/org/${orgId}`)).body.memberCount;
  const rows = async (orgId: string): Promise<number> =>
    Number((await api.services.database.knex('member_counts').where({ org_id: orgId }).count({ n: '*' }).first())?.n);
  const foldAll = async () => {
    while ((await foldMemberCounts(api.services.database.knex, 100)) > 0);
  };

  it('counts added, removed and deleted users, and adding up changes nothing', async () => {
    const [orgId, other] = [await organization(api), await organization(api)];
    assert.equal(await counted(orgId), 0);
    const people = await Promise.all(Array.from({ length: 8 }, () => person(api, { orgId })));
    assert.equal(await counted(orgId), 8, 'of users made at once');
    const [first, second] = people;
    await api.call('PUT', `/account/org/${other}/member/${first?.id}`, {});
    await api.call('DELETE', `/account/org/${orgId}/member/${first?.id}`);
    await api.call('POST', `/users/${second?.id}/lifecycle/deactivate`);
    assert.equal((await api.call('DELETE', `/users/${second?.id}`)).status, 204);
    assert.deepEqual([await counted(orgId), await counted(other)], [6, 1]);

    await Promise.all([foldAll(), foldAll(), person(api, { orgId })]);
    assert.equal(await counted(orgId), 7);
    await foldAll();
    assert.deepEqual([await counted(orgId), await rows(orgId)], [7, 1]);
  });

  it('an organization that has become empty keeps no row, and is deleted', async () => {
    const orgId = await organization(api);
    const { id } = await person(api, { orgId });
    assert.notEqual((await api.call('DELETE', `/account/org/${orgId}`)).status, 200);
    await api.call('DELETE', `/account/org/${orgId}/member/${id}`);
    await foldAll();
    assert.deepEqual([await counted(orgId), await rows(orgId)], [0, 0]);
    assert.equal((await api.call('DELETE', `/account/org/${orgId}`)).status, 200);
  });

  it('a change that is undone counts nothing', async () => {
    const orgId = await organization(api);
    const { id } = await person(api);
    const { knex } = api.services.database;
    const undone = api.services.database.transaction(async (trx) => {
      await trx('memberships').insert({ org_id: orgId, user_id: id, created: new Date() });
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.equal(await counted(orgId), 0);
    assert.deepEqual(await knex('member_counts').where({ org_id: orgId }), []);
  });
});
