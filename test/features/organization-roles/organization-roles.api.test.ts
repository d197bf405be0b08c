/** Roles in an organization: what each allows, who may give it, and that the last owner stays. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ORGANIZATION_PERMISSIONS, type OrganizationPermission } from '../../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { organization, person, setPassword } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('roles in an organization (account/org/{orgId}/role)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const roleOf = async (orgId: string, name: string, permissions: readonly OrganizationPermission[]) => {
    const answer = await api.call<{ id: string }>('POST', `/account/org/${orgId}/role`, { name, permissions });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.id;
  };
  const rolesPath = (orgId: string, userId: string) => `/account/org/${orgId}/member/${userId}/role`;

  /** A member with these roles, who calls by a token. */
  async function member(orgId: string, ...roles: string[]) {
    const { id } = await person(api, { orgId });
    if (roles.length > 0) {
      const given = await api.call('PUT', rolesPath(orgId, id), { roles });
      assert.equal(given.status, 200, JSON.stringify(given.body));
    }
    if (roles.includes('owner')) await setPassword(api, id);
    const { value } = await createApiToken(api.services, { name: 'x', userId: id }, SYSTEM);
    const call = <T = { roles: string[] }>(method: string, path: string, body?: unknown) =>
      api.call<T>(method, path, body, { authorization: `SSWS ${value}` });
    return { id, call };
  }

  it('a member has member, and what is given beside it, the built-in ones first', async () => {
    const orgId = await organization(api);
    await roleOf(orgId, 'billing', []);
    const { id, call } = await member(orgId);
    assert.deepEqual((await api.call<{ roles: string[] }>('GET', rolesPath(orgId, id))).body.roles, ['member']);
    assert.equal((await call('GET', `/account/org/${orgId}`)).status, 401, 'a member administers nothing');
    const set = await api.call<{ roles: string[] }>('PUT', rolesPath(orgId, id), { roles: ['billing', 'admin'] });
    assert.deepEqual(set.body.roles, ['admin', 'member', 'billing']);
    assert.equal((await call('GET', `/account/org/${orgId}`)).status, 200);
    const roles = (await api.call<{ type: string }[]>('GET', `/users/${id}/roles`)).body.map(({ type }) => type);
    assert.deepEqual(roles, ['ORG_ADMIN'], 'admin is ORG_ADMIN');
    const risen = await api.call<{ roles: string[] }>('PUT', rolesPath(orgId, id), { roles: ['billing', 'admin', 'owner'] });
    assert.deepEqual(risen.body.roles, ['owner', 'admin', 'member', 'billing']);
    assert.equal((await api.call('PUT', rolesPath(orgId, id), { roles: ['nobody'] })).status, 400);
    assert.equal((await api.call('POST', `/account/org/${orgId}/role`, { name: 'owner' })).status, 400);
    assert.equal((await api.call('POST', `/account/org/${orgId}/role`, { name: 'billing' })).status, 409);
  });

  it('each permission opens what it is for, and nothing else', async () => {
    const orgId = await organization(api);
    const other = await member(orgId);
    const credentials = { client: { client_id: 'gatehouse', client_secret: 'known to the provider' } };
    const provider = { name: 'Provider', type: 'OIDC', protocol: { issuer: { url: 'https://idp.example' }, credentials } };
    const { id: idpId } = (await api.call<{ id: string }>('POST', '/idps', provider)).body;
    assert.equal((await api.call('PUT', `/account/org/${orgId}/idp/${idpId}`, {})).status, 200);
    for (const permission of ORGANIZATION_PERMISSIONS) {
      await roleOf(orgId, permission, [permission]);
      const { call } = await member(orgId, permission);
      const manages = permission === 'MANAGE_MEMBERS';
      const status = async (method: string, path: string, body?: unknown) => (await call(method, path, body)).status;
      assert.equal(await status('GET', `/account/org/${orgId}`), 200, permission);
      assert.equal(await status('GET', `/account/org/${orgId}/member`), manages ? 200 : 403, permission);
      assert.equal(await status('GET', `/account/org/${orgId}/tree`), manages ? 200 : 403, permission);
      assert.equal(await status('POST', `/account/org/${orgId}/department`, { name: permission }), manages ? 200 : 403, permission);
      assert.equal(await status('GET', `/users/${other.id}`), manages ? 200 : 404, permission);
      const invites = permission === 'MANAGE_INVITATIONS';
      assert.equal(await status('GET', `/account/org/${orgId}/invitation`), invites ? 200 : 403, permission);
      const brands = permission === 'MANAGE_BRANDING';
      assert.equal(await status('GET', `/account/org/${orgId}/branding`), brands ? 200 : 403, permission);
      assert.equal(await status('PUT', `/account/org/${orgId}/branding`, { name: 'Acme' }), brands ? 200 : 403, permission);
      assert.equal(await status('GET', `/account/org/${orgId}/log`), permission === 'READ_LOG' ? 200 : 403, permission);
      const domains = permission === 'MANAGE_DOMAINS';
      const domain = `by-${permission.toLowerCase().replace('_', '-')}.example`;
      assert.equal(await status('POST', `/account/org/${orgId}/domain`, { domain }), domains ? 200 : 403, permission);
      assert.equal(await status('DELETE', `/account/org/${orgId}/domain/${domain}`), domains ? 204 : 403, permission);
      const provides = permission === 'MANAGE_PROVIDERS';
      assert.equal(await status('PUT', `/account/org/${orgId}/policy`, { mfa: 'INHERIT' }), provides ? 200 : 403, permission);
      assert.equal(await status('PUT', `/account/org/${orgId}/idp/${idpId}`, {}), provides ? 200 : 403, permission);
      assert.equal(await status('GET', '/authorizationServers'), 403, permission);
      const email = `by-${permission.toLowerCase()}@example.com`;
      assert.equal(await status('POST', `/account/org/${orgId}/invitation`, { email }), invites ? 201 : 403, permission);
      for (const role of ['owner', 'admin'])
        assert.equal(await status('POST', `/account/org/${orgId}/invitation`, { email: `x${email}`, role }), 403, permission);
      // Accounts are for those who may do everything: a password would open what its user may do.
      for (const [method, path, body] of [
        ['PUT', `/account/org/${orgId}?name=Renamed`],
        ['POST', `/users/${other.id}`, { credentials: { password: { value: 'a password of the manager' } } }],
        ['POST', `/users/${other.id}/lifecycle/reset_password?sendEmail=false`],
        ['DELETE', `/users/${other.id}/factors`],
      ] as const)
        assert.ok([403, 404].includes(await status(method, path, body)), `${permission} ${method} ${path}`);
      assert.equal(await status('POST', '/users', { profile: { login: `by-${permission}` }, orgId }), 400, permission);
    }
  });

  it('nobody gives, makes or takes what they may not do themselves', async () => {
    const orgId = await organization(api);
    const great = await roleOf(orgId, 'great', ['MANAGE_MEMBERS', 'READ_LOG']);
    await roleOf(orgId, 'manager', ['MANAGE_MEMBERS']);
    await roleOf(orgId, 'plain', []);
    const manager = await member(orgId, 'manager');
    const admin = await member(orgId, 'admin');
    const owner = await member(orgId, 'owner');
    const target = await member(orgId);
    const gives = async ({ call }: typeof manager, ...roles: string[]) =>
      (await call('PUT', rolesPath(orgId, target.id), { roles })).status;
    assert.equal(await gives(manager, 'plain', 'manager'), 200);
    for (const role of ['great', 'admin', 'owner']) assert.equal(await gives(manager, role), 403, role);
    assert.equal((await manager.call('POST', `/account/org/${orgId}/role`, { name: 'x', permissions: ['READ_LOG'] })).status, 403);
    assert.equal((await manager.call('PUT', `/account/org/${orgId}/role/${great}`, { name: 'great' })).status, 403);
    assert.equal((await manager.call('DELETE', `/account/org/${orgId}/role/${great}`)).status, 403);
    assert.equal((await manager.call('PUT', rolesPath(orgId, manager.id), { roles: ['admin'] })).status, 403);
    assert.equal((await manager.call('PUT', rolesPath(orgId, admin.id), { roles: [] })).status, 403);
    assert.equal(await gives(admin, 'great', 'admin'), 200);
    assert.equal(await gives(admin, 'owner'), 403);
    assert.equal((await admin.call('PUT', rolesPath(orgId, owner.id), { roles: [] })).status, 403);
    assert.equal((await admin.call('DELETE', `/account/org/${orgId}/member/${owner.id}`)).status, 403);
    assert.equal((await admin.call('POST', `/users/${owner.id}/lifecycle/reset_password?sendEmail=false`)).status, 403);
    assert.equal(await gives(owner, 'owner'), 200);
  });

  it('the last owner cannot be removed or lose the role while there are other members; of two at once one stays', async () => {
    const orgId = await organization(api);
    const [first, second] = [await member(orgId, 'owner'), await member(orgId, 'owner')];
    const answers = await Promise.all([first, second].map(({ id }) => api.call('DELETE', `/account/org/${orgId}/member/${id}`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200], 'the last one leaves an empty organization');

    const [owner, another] = [await member(orgId, 'owner'), await member(orgId)];
    assert.equal((await api.call('DELETE', `/account/org/${orgId}/member/${owner.id}`)).status, 403);
    assert.equal((await owner.call('PUT', rolesPath(orgId, owner.id), { roles: [] })).status, 403);
    const both = await Promise.all([
      owner.call('PUT', rolesPath(orgId, another.id), { roles: ['owner'] }),
      api.call('DELETE', `/account/org/${orgId}/member/${owner.id}`),
    ]);
    const { rows } = await api.services.database.knex.raw('SELECT count(*)::int AS n FROM memberships WHERE org_id = ? AND is_owner', [
      orgId,
    ]);
    assert.ok(rows[0].n >= 1, JSON.stringify(both.map(({ status }) => status)));
  });

  it('who loses the last right loses the API tokens, and who leaves loses the roles', async () => {
    const orgId = await organization(api);
    await roleOf(orgId, 'manager', ['MANAGE_MEMBERS']);
    const manager = await member(orgId, 'manager');
    assert.equal((await manager.call('GET', '/api-tokens')).status, 200);
    await api.call('PUT', rolesPath(orgId, manager.id), { roles: [] });
    assert.equal((await manager.call('GET', '/api-tokens')).status, 401);
    const another = await member(orgId, 'manager');
    await api.call('DELETE', `/account/org/${orgId}/member/${another.id}`);
    assert.equal((await another.call('GET', '/api-tokens')).status, 401);
    assert.equal((await api.call('GET', rolesPath(orgId, another.id))).status, 404);
  });

  it('invitations end with the inviter', async () => {
    const orgId = await organization(api);
    const admin = await member(orgId, 'admin');
    const path = `/account/org/${orgId}/invitation`;
    assert.equal((await admin.call('POST', path, { email: 'friend@example.com', role: 'admin' })).status, 201);
    await api.call('DELETE', `/account/org/${orgId}/member/${admin.id}`);
    assert.deepEqual((await api.call('GET', path)).body, []);
  });

  it('a new right ends links to the password that others may hold, and each change is an event', async () => {
    const orgId = await organization(api);
    const { id } = await person(api, { orgId });
    await api.call('POST', `/users/${id}/lifecycle/reset_password?sendEmail=false`);
    const links = async () =>
      Number((await api.services.database.knex('one_time_links').where({ user_id: id }).count({ n: '*' }).first())?.n);
    assert.equal(await links(), 1);
    await api.call('PUT', rolesPath(orgId, id), { roles: ['owner'] });
    assert.equal(await links(), 0);
    const filter = encodeURIComponent(`eventType eq "org.membership.roles" and target.id eq "${id}"`);
    const { body } = await api.call<{ debugContext: unknown }[]>('GET', `/logs?filter=${filter}`);
    assert.deepEqual(
      body.map(({ debugContext }) => debugContext),
      [{ before: { roles: ['member'] }, after: { roles: ['owner', 'member'] } }],
    );
  });

  it('the log of an organization has its events alone, and the network of its members alone', async () => {
    const [orgId, other] = [await organization(api), await organization(api)];
    const admin = await member(orgId, 'admin');
    await admin.call('POST', `/account/org/${orgId}/department`, { name: 'Sales' });
    await api.call('POST', `/account/org/${other}/department`, { name: 'Foreign' });
    const events = (await admin.call<LogEvent[]>('GET', `/account/org/${orgId}/log`)).body;
    assert.ok(
      events.every(({ target }) => target.some(({ id }) => id === orgId)),
      JSON.stringify(events),
    );
    const of = (type: string) => events.find(({ eventType }) => eventType === type);
    assert.notEqual(of('department.create')?.client.ipAddress, null);
    assert.equal(of('org.lifecycle.create')?.client.ipAddress, null, 'of an administrator of the service');
    const whole = (await api.call<LogEvent[]>('GET', `/account/org/${orgId}/log`)).body;
    assert.notEqual(whole.find(({ eventType }) => eventType === 'org.lifecycle.create')?.client.ipAddress, null);
    assert.equal((await admin.call('GET', `/account/org/${other}/log`)).status, 404);
  });
});

interface LogEvent {
  readonly eventType: string;
  readonly target: readonly { readonly id: string }[];
  readonly client: { readonly ipAddress: string | null };
}
