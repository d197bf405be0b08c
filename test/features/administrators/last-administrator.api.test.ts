import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administrator, administrator } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface RoleBody {
  id: string;
}

/** Ways to stop being one who administers the service. */
const WAYS: [what: string, method: string, path: (roleId: string) => string][] = [
  ['deactivate', 'POST', () => '/lifecycle/deactivate'],
  ['suspend', 'POST', () => '/lifecycle/suspend'],
  ['reset the password of', 'POST', () => '/lifecycle/reset_password?sendEmail=false'],
  ['delete', 'DELETE', () => ''],
  ['take the role of', 'DELETE', (roleId) => `/roles/${roleId}`],
];

describe('the last active SUPER_ADMIN (management API, "users")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
    await api.call('POST', `/users/${api.admin.userId}`, { credentials: { password: { value: 'correct horse battery' } } });
  });
  after(() => api.close());

  async function superAdmin(): Promise<Administrator & { roleId: string }> {
    const made = await administrator(api, { type: 'SUPER_ADMIN' });
    await api.call('POST', `/users/${made.id}`, { credentials: { password: { value: 'correct horse battery' } } });
    const [role] = (await api.call<RoleBody[]>('GET', `/users/${made.id}/roles`)).body;
    return { ...made, roleId: role?.id ?? '' };
  }
  const activeSuperAdmins = async (): Promise<string[]> => {
    const rows = api.services.database.knex('roles').join('users', 'users.id', 'user_id').where({ type: 'SUPER_ADMIN', status: 'ACTIVE' });
    return rows.pluck('user_id');
  };

  for (const [what, method, path] of WAYS) {
    it(`stays when two ${what} each other at once: exactly one succeeds, ten times over`, async () => {
      for (let round = 0; round < 10; round += 1) {
        // The one who serves the other tests steps aside.
        const [one, other] = [await superAdmin(), await superAdmin()];
        await api.services.database.knex('users').where({ id: api.admin.userId }).update({ status: 'SUSPENDED' });
        const before = await activeSuperAdmins();
        assert.deepEqual(before.sort(), [one.id, other.id].sort());
        const answers = await Promise.all([
          one.call(method, `/users/${other.id}${path(other.roleId)}`),
          other.call(method, `/users/${one.id}${path(one.roleId)}`),
        ]);
        assert.equal((await activeSuperAdmins()).length, 1, JSON.stringify(answers.map(({ body }) => body)));
        // The second may have lost his rights before he was asked for them.
        const refusals = answers.filter(({ status }) => status >= 300);
        assert.equal(refusals.length, 1);
        assert.ok([401, 403].includes(refusals[0]?.status ?? 0));
        await api.services.database.knex('users').where({ id: api.admin.userId }).update({ status: 'ACTIVE' });
        for (const { id } of [one, other]) await api.services.database.knex('users').where({ id }).delete();
      }
    });
  }

  it('keeps role and status even against his own wish, and says why', async () => {
    const [role] = (await api.call<RoleBody[]>('GET', `/users/${api.admin.userId}/roles`)).body;
    for (const path of [`/roles/${role?.id}`, '']) {
      const answer = await api.call('DELETE', `/users/${api.admin.userId}${path}`);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
    }
    const answer = await api.call('POST', `/users/${api.admin.userId}/lifecycle/reset_password?sendEmail=false`);
    assert.match(answer.body.errorSummary, /the last active SUPER_ADMIN/);
    assert.deepEqual(await activeSuperAdmins(), [api.admin.userId]);
  });

  it('is one without a password, too, and another one counts who can sign in', async () => {
    const { knex } = api.services.database;
    const other = await superAdmin();
    const credential = { user_id: other.id, public_key: Buffer.alloc(0), sign_count: 0, transports: '{}', multi_device: false };
    const leave = () => api.call('DELETE', `/users/${api.admin.userId}/roles/${roleId}`);
    const [role] = (await api.call<RoleBody[]>('GET', `/users/${api.admin.userId}/roles`)).body;
    const roleId = role?.id;
    await knex('users').where({ id: other.id }).update({ password_hash: null });
    await knex('users').where({ id: api.admin.userId }).update({ password_hash: null });
    assert.equal((await leave()).status, 403, 'the other one has no way to sign in');
    await knex('passkeys').insert({
      id: 'fac1',
      credential_id: 'x',
      backed_up: false,
      aaguid: '',
      name: 'x',
      created: new Date(),
      ...credential,
    });
    assert.equal((await leave()).status, 204);
    assert.equal((await other.call('DELETE', `/users/${other.id}/roles/${other.roleId}`)).status, 403, 'the last one, with a passkey');
    assert.deepEqual(await activeSuperAdmins(), [other.id]);
  });
});
