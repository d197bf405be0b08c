/** What managers and administrators of organizations try in order to get rights, or accounts, that are not theirs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ORGANIZATION_PERMISSIONS, type OrganizationPermission } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { joinByInvitation } from '../../src/features/organization-invitations/accept-invitation.service.ts';
import { type InvitationRow, insertInvitation } from '../../src/features/organization-invitations/organization-invitations.store.ts';
import { digest, randomToken } from '../../src/platform/crypto/secrets.ts';
import { administrator, eventsAbout, organization, PASSWORD, person, setPassword, type User, unique } from '../api/people.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

describe('attacks by those who administer organizations', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const memberPath = (orgId: string, userId: string) => `/account/org/${orgId}/member/${userId}`;
  const give = async (orgId: string, userId: string, ...roles: string[]) => {
    const answer = await api.call('PUT', `${memberPath(orgId, userId)}/role`, { roles });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const define = async (orgId: string, name: string, permissions: readonly OrganizationPermission[]) =>
    assert.equal((await api.call('POST', `/account/org/${orgId}/role`, { name, permissions })).status, 201);

  /** One that waits. @returns the token of its link */
  async function invitation(
    orgId: string,
    createdBy: string,
    given: Partial<Pick<InvitationRow, 'role' | 'roleId'>> = {},
  ): Promise<string> {
    const [token, now] = [randomToken(), new Date()];
    const row = { id: unique('inv'), orgId, email: `${unique('guest')}@example.com`, role: 'member', roleId: null, depId: null } as const;
    const times = { created: now, sent: now, expiresAt: new Date(now.getTime() + 60_000) };
    await insertInvitation(api.services.database.knex, { ...row, ...given, tokenHash: digest(token), createdBy, ...times });
    return token;
  }
  const join = (userId: string, token: string) => joinByInvitation(api.services, token, userId, SYSTEM);
  const waysIn = async ({ profile: { login } }: User) => {
    const { status } = await api.call('POST', '/authn', { username: login, password: PASSWORD }, { authorization: '' });
    return status === 200 ? 'password' : 'none';
  };

  /** Calls by a token of the user. */
  async function callerOf(id: string) {
    const { value } = await createApiToken(api.services, { name: 'x', userId: id }, SYSTEM);
    return async (method: string, path: string, body?: unknown) =>
      (await api.call(method, path, body, { authorization: `SSWS ${value}` })).status;
  }

  it('a role with every permission does not lead to admin, who may set passwords', async () => {
    const orgId = await organization(api);
    await define(orgId, 'all', ORGANIZATION_PERMISSIONS);
    const { id } = await person(api, { orgId });
    await give(orgId, id, 'all');
    const call = await callerOf(id);
    assert.equal(await call('PUT', `${memberPath(orgId, id)}/role`, { roles: ['admin', 'all'] }), 403);
    assert.equal(await call('POST', `/account/org/${orgId}/invitation`, { email: 'own@example.com', role: 'admin' }), 403);
    assert.equal(await call('POST', `/account/org/${orgId}/invitation`, { email: 'own@example.com', role: 'all' }), 201);
  });

  it('who manages members elsewhere does not take one along, whose account would then be theirs', async () => {
    const [own, other] = [await organization(api), await organization(api)];
    await define(other, 'manager', ['MANAGE_MEMBERS']);
    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId: own });
    await api.call('PUT', memberPath(other, admin.id), {});
    await give(other, admin.id, 'manager');
    const call = async (method: string, path: string, body?: unknown) => (await admin.call(method, path, body)).status;
    const victim = await person(api, { orgId: other });
    assert.equal(await call('PUT', memberPath(own, victim.id), {}), 403);
    assert.equal((await api.call('GET', `${memberPath(own, victim.id)}/role`)).status, 404);
    await give(other, admin.id, 'manager', 'admin');
    assert.equal(await call('PUT', memberPath(own, victim.id), {}), 200, 'an admin of both could change the account before');
  });

  it('an account that existed before and joined by invitation does not become the administrators’ to change, here or where they take it', async () => {
    const [own, second] = [await organization(api), await organization(api)];
    const user = await person(api);
    assert.deepEqual(await join(user.id, await invitation(own, (await administrator(api, { type: 'SUPER_ADMIN' })).id)), {
      kind: 'joined',
    });

    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId: own }, { type: 'ORG_ADMIN', orgId: second });
    const refused = async (where: string) => {
      for (const [method, path, body] of [
        ['POST', `/users/${user.id}`, { credentials: { password: { value: 'a password of the administrator' } } }],
        ['POST', `/users/${user.id}`, { profile: { email: 'administrator@example.com' } }],
        ['POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`, undefined],
        ['POST', `/users/${user.id}/lifecycle/deactivate`, undefined],
        ['DELETE', `/users/${user.id}/factors`, undefined],
      ] as const)
        assert.equal((await admin.call(method, path, body)).status, 403, `${where} ${method} ${path}`);
    };
    assert.equal((await admin.call('GET', `/users/${user.id}`)).status, 200);
    await refused('where the user joined');
    assert.equal((await admin.call('PUT', memberPath(second, user.id), {})).status, 200);
    assert.equal((await admin.call('DELETE', memberPath(own, user.id))).status, 200);
    await refused('where the user was taken');
  });

  it('a removed member administers nothing any more, and only those who could take the role remove its holder', async () => {
    const orgId = await organization(api);
    await define(orgId, 'manager', ['MANAGE_MEMBERS']);
    await define(orgId, 'reader', ['READ_LOG']);
    const people: string[] = [];
    for (const role of ['admin', 'manager', 'reader', 'manager']) {
      const { id } = await person(api, { orgId });
      await give(orgId, id, role);
      people.push(id);
    }
    const [admin = '', manager = '', reader = '', peer = ''] = people;
    const asAdmin = await callerOf(admin);
    const asManager = await callerOf(manager);
    for (const id of [admin, reader]) assert.equal(await asManager('DELETE', memberPath(orgId, id)), 403);
    assert.equal(await asManager('DELETE', memberPath(orgId, peer)), 200);
    assert.equal(await asAdmin('GET', `/account/org/${orgId}/member`), 200);
    assert.equal((await api.call('DELETE', memberPath(orgId, admin))).status, 200);
    assert.equal(await asAdmin('GET', `/account/org/${orgId}/member`), 401);
    assert.deepEqual((await api.call('GET', `/users/${admin}/roles`)).body, []);
    const types = (await eventsAbout(api, admin)).map(({ event_type }) => event_type);
    for (const type of ['user.account.privilege.grant', 'user.account.privilege.revoke', 'org.membership.remove'])
      assert.ok(types.includes(type), type);
    assert.equal(await api.services.database.knex('api_tokens').where({ user_id: admin }).first(), undefined);
  });

  it('a member who becomes an owner keeps no password that an admin may have set, by a role or by an invitation', async () => {
    const orgId = await organization(api);
    const owner = await person(api, { orgId });
    await give(orgId, owner.id, 'owner');
    assert.equal(await waysIn(owner), 'none');
    await setPassword(api, owner.id);
    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
    const password = { credentials: { password: { value: PASSWORD } } };
    const [byRole, byInvitation, remains] = [await person(api), await person(api), await person(api)];
    for (const { id } of [byRole, byInvitation, remains]) {
      assert.equal((await api.call('PUT', memberPath(orgId, id), {})).status, 200);
      assert.equal((await admin.call('POST', `/users/${id}`, password)).status, 200);
    }
    await give(orgId, byRole.id, 'owner');
    assert.equal(await waysIn(byRole), 'none');
    const joined = await join(byInvitation.id, await invitation(orgId, owner.id, { role: 'owner' }));
    assert.equal(joined.kind, 'password', 'they choose another one');
    assert.equal(await waysIn(byInvitation), 'none');
    assert.equal((await join(remains.id, await invitation(orgId, owner.id, { role: 'admin' }))).kind, 'joined');
    assert.equal(await waysIn(remains), 'password', 'an admin may do no more than an admin');
    await give(orgId, byRole.id, 'owner', 'admin');
  });

  it('who has a role that gets more permissions loses links and sessions that others may hold; one that gets fewer ends nothing', async () => {
    const orgId = await organization(api);
    await define(orgId, 'wide', []);
    const [{ id: roleId } = { id: '' }] = (await api.call<{ id: string }[]>('GET', `/account/org/${orgId}/role`)).body;
    const { id } = await person(api, { orgId });
    await give(orgId, id, 'wide');
    const link = async () => {
      const { status } = await api.call('POST', `/users/${id}/lifecycle/reset_password?sendEmail=false`);
      assert.equal(status, 200);
    };
    const links = async () => (await api.services.database.knex('one_time_links').where({ user_id: id })).length;
    const change = async (permissions: readonly OrganizationPermission[]) =>
      assert.equal((await api.call('PUT', `/account/org/${orgId}/role/${roleId}`, { name: 'wide', permissions })).status, 200);
    await link();
    await change(['MANAGE_MEMBERS', 'READ_LOG']);
    assert.equal(await links(), 0);
    await link();
    await change(['MANAGE_MEMBERS']);
    assert.equal(await links(), 1);
  });

  it('an invitation gives nothing any more that its sender may not give: demoted, deactivated or deleted', async () => {
    const orgId = await organization(api);
    await define(orgId, 'inviter', ['MANAGE_INVITATIONS']);
    const sender = async () => {
      const { id } = await person(api, { orgId });
      await give(orgId, id, 'admin', 'inviter');
      return id;
    };
    const outcomes: unknown[] = [];
    const tryAfter = async (change: (id: string) => Promise<unknown>, role: 'admin' | 'member') => {
      const id = await sender();
      const token = await invitation(orgId, id, { role });
      await change(id);
      outcomes.push((await join((await person(api)).id, token)).kind);
    };
    await tryAfter((id) => give(orgId, id, 'inviter'), 'admin');
    await tryAfter((id) => give(orgId, id, 'inviter'), 'member');
    await tryAfter((id) => give(orgId, id), 'member');
    await tryAfter((id) => api.call('POST', `/users/${id}/lifecycle/deactivate`), 'member');
    await tryAfter((id) => api.call('POST', `/users/${id}/lifecycle/suspend`), 'member');
    assert.deepEqual(outcomes, ['gone', 'joined', 'gone', 'gone', 'gone']);
  });

  it('the log has every membership, role and invitation that begins or ends by itself', async () => {
    const orgId = await organization(api);
    const { id } = await person(api, { orgId });
    await give(orgId, id, 'admin');
    const guest = await person(api);
    await join(guest.id, await invitation(orgId, id, { role: 'admin' }));
    const types = (await eventsAbout(api, guest.id)).map(({ event_type }) => event_type);
    for (const type of ['org.membership.add', 'user.account.privilege.grant', 'org.invitation.accept'])
      assert.ok(types.includes(type), type);
    await invitation(orgId, id);
    assert.equal((await api.call('DELETE', memberPath(orgId, id))).status, 200);
    const about = (await eventsAbout(api, orgId)).map(({ event_type }) => event_type);
    assert.ok(about.includes('org.invitation.revoke'), String(about));
  });
});
