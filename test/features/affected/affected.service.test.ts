/** The numbers of a confirmation page: exact while they are small, bounded when they are not. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { affectedBy, affectedByAll, countedUpTo } from '../../../src/features/affected/affected.service.ts';
import { organization, person, unique } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

const MOST = 10_000;

describe('what a deletion affects', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const application = async (): Promise<string> => {
    const settings = { oauthClient: { redirect_uris: ['https://app.example/cb'] } };
    return (await api.call<{ id: string }>('POST', '/apps', { label: unique('app'), settings })).body.id;
  };
  const group = async (...userIds: string[]): Promise<string> => {
    const { id } = (await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('group') } })).body;
    for (const userId of userIds) await api.call('PUT', `/groups/${id}/users/${userId}`);
    return id;
  };
  const assign = async (applicationId: string, kind: 'users' | 'groups', id: string, roles?: readonly string[]) => {
    const answer = await api.call('PUT', `/apps/${applicationId}/${kind}/${id}`, roles && { roles });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
  };

  it('of a membership counts the applications that the user has by this group alone', async () => {
    const { id: userId } = await person(api);
    const [left, other] = [await group(userId), await group(userId)];
    const [alone, shared, own] = [await application(), await application(), await application()];
    for (const id of [alone, shared, own]) await assign(id, 'groups', left);
    await assign(shared, 'groups', other);
    await assign(own, 'users', userId);
    assert.deepEqual(await affectedBy(api.services, 'groupMember', { id: left, userId }), { applications: 1 });
    assert.deepEqual(await affectedBy(api.services, 'groupMember', { id: other, userId }), { applications: 0 });
  });

  it('of an application and its role counts users and groups', async () => {
    const [{ id: userId }, applicationId] = [await person(api), await application()];
    const { id: roleId } = (await api.call<{ id: string }>('POST', `/apps/${applicationId}/roles`, { name: 'editor' })).body;
    await assign(applicationId, 'users', userId, ['editor']);
    await assign(applicationId, 'groups', await group(), ['editor']);
    await assign(applicationId, 'groups', await group());
    assert.deepEqual(await affectedBy(api.services, 'applicationRole', { applicationId, id: roleId }), { users: 1, groups: 1 });
    const whole = await affectedBy(api.services, 'application', { id: applicationId });
    assert.deepEqual(whole, { users: 1, groups: 2, consents: 0 });
  });

  it('of several objects is counted together', async () => {
    const [{ id: userId }, { id: other }] = [await person(api), await person(api)];
    const ids = [await group(userId, other), await group(userId), await group()];
    await assign(await application(), 'groups', ids[0] ?? '');
    const keys = ids.map((id) => ({ id }));
    assert.deepEqual(await affectedByAll(api.services, 'group', keys), { members: 3, applications: 1 });
    assert.deepEqual(await affectedByAll(api.services, 'group', []), { members: 0, applications: 0 });
  });

  it('of a user counts what only that user has', async () => {
    const orgId = await organization(api);
    const { id } = await person(api, { orgId });
    await group(id);
    await assign(await application(), 'users', id);
    const expected = { organizations: 1, groups: 1, applications: 1, consents: 0, links: 0 };
    assert.deepEqual(await affectedBy(api.services, 'user', { id }), expected);
    assert.deepEqual(await affectedBy(api.services, 'member', { orgId, id }), { roles: 0, invitations: 0, joined: 0 });
  });

  it('ends at ten thousand', async () => {
    const applicationId = await application();
    const { knex } = api.services.database;
    await knex.raw(
      `WITH made AS (INSERT INTO users (id, login, status, profile, created, last_updated)
        SELECT 'usr_many' || n, 'many' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, ?::int) n RETURNING id)
       INSERT INTO application_users (application_id, user_id, created) SELECT ?, id, now() FROM made`,
      [MOST + 5, applicationId],
    );
    const { users } = await affectedBy(api.services, 'application', { id: applicationId });
    assert.deepEqual(
      [users, countedUpTo(users), countedUpTo(MOST)],
      [MOST + 1, { count: MOST, isMore: true }, { count: MOST, isMore: false }],
    );
  });
});
