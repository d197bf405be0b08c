import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { administrator, eventsAbout, organization, person } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Role {
  id: string;
  type: string;
  created: string;
}

describe('roles of users (management API, "users")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('gives, lists, reads and takes a role, in the shape of Okta’s', async () => {
    const { id } = await person(api);
    const orgId = await organization(api);
    const { status, body } = await api.call<Role>('POST', `/users/${id}/roles`, { type: 'ORG_ADMIN', orgId });
    assert.equal(status, 201);
    const self = `${api.services.config.baseUrl}/api/v1/users/${id}`;
    assert.deepEqual(body, {
      id: body.id,
      label: 'Organization Administrator',
      type: 'ORG_ADMIN',
      status: 'ACTIVE',
      orgId,
      created: body.created,
      lastUpdated: body.created,
      assignmentType: 'USER',
      _links: { self: { href: `${self}/roles/${body.id}` }, assignee: { href: self } },
    });
    const { body: reader } = await api.call<Role>('POST', `/users/${id}/roles`, { ...body, type: 'READ_ONLY_ADMIN', orgId: undefined });
    assert.ok(!('orgId' in reader));
    assert.deepEqual((await api.call('GET', `/users/${id}/roles`)).body, [body, reader]);
    assert.deepEqual((await api.call('GET', `/users/${id}/roles/${body.id}`)).body, body);
    assert.equal((await api.call('DELETE', `/users/${id}/roles/${body.id}`)).status, 204);
    assert.deepEqual((await api.call('GET', `/users/${id}/roles`)).body, [reader]);
    for (const method of ['GET', 'DELETE']) assert.equal((await api.call(method, `/users/${id}/roles/${body.id}`)).status, 404);
    const told = (await eventsAbout(api, id)).slice(1).map((event) => [event.event_type, event.debug_context]);
    assert.deepEqual(told, [
      ['user.account.privilege.grant', { after: { type: 'ORG_ADMIN', orgId } }],
      ['user.account.privilege.grant', { after: { type: 'READ_ONLY_ADMIN' } }],
      ['user.account.privilege.revoke', { before: { type: 'ORG_ADMIN', orgId } }],
    ]);
  });

  it('gives a role once: of twenty at once one is 201, the others 409', async () => {
    const { id } = await person(api);
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', `/users/${id}/roles`, { type: 'SUPER_ADMIN' })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array<number>(19).fill(409)]);
    const [{ id: roleId } = { id: '' }] = (await api.call<Role[]>('GET', `/users/${id}/roles`)).body;
    assert.equal((await api.call('DELETE', `/users/${id}/roles/${roleId}`)).status, 204);
  });

  it('counts from the next request on, given or taken', async () => {
    const admin = await administrator(api);
    const status = async () => (await admin.call('GET', '/users/root')).status;
    assert.equal(await status(), 401);
    const { body } = await api.call<Role>('POST', `/users/${admin.id}/roles`, { type: 'READ_ONLY_ADMIN' });
    assert.equal(await status(), 200);
    await api.call('DELETE', `/users/${admin.id}/roles/${body.id}`);
    assert.equal(await status(), 401);
  });

  const refused: [what: string, body: unknown, cause: string][] = [
    ['no type', {}, 'type: is required'],
    ['an unknown type', { type: 'GOD' }, 'type: must be SUPER_ADMIN or ORG_ADMIN or READ_ONLY_ADMIN'],
    ['ORG_ADMIN of nothing', { type: 'ORG_ADMIN' }, 'orgId: is required for ORG_ADMIN'],
    ['SUPER_ADMIN of an organization', { type: 'SUPER_ADMIN', orgId: 'org_x' }, 'orgId: can only be used with ORG_ADMIN'],
    ['ORG_ADMIN of an organization that is not there', { type: 'ORG_ADMIN', orgId: 'org_x' }, 'orgId: does not exist'],
    ['an organization of 10,000 characters', { type: 'ORG_ADMIN', orgId: 'x'.repeat(10_000) }, 'orgId: must have at most 255 characters'],
    ['an organization with NUL', { type: 'ORG_ADMIN', orgId: 'org_\u0000' }, 'orgId: must not contain control characters'],
  ];
  for (const [what, body, cause] of refused) {
    it(`refuses ${what}`, async () => {
      const { id } = await person(api);
      const answer = await api.call('POST', `/users/${id}/roles`, body);
      assert.deepEqual([answer.status, causes(answer)], [400, [cause]]);
      assert.deepEqual((await api.call('GET', `/users/${id}/roles`)).body, []);
    });
  }

  it('is out of sight for organizations’ administrators, and only to be read by READ_ONLY_ADMIN', async () => {
    const orgId = await organization(api);
    const { id } = await person(api, { orgId });
    const { body: role } = await api.call<Role>('POST', `/users/${id}/roles`, { type: 'ORG_ADMIN', orgId });
    const ofOrg = await administrator(api, { type: 'ORG_ADMIN', orgId });
    const reader = await administrator(api, { type: 'READ_ONLY_ADMIN' });
    const calls: [method: string, path: string, body?: unknown][] = [
      ['GET', `/users/${id}/roles`],
      ['GET', `/users/${id}/roles/${role.id}`],
      ['POST', `/users/${id}/roles`, { type: 'SUPER_ADMIN' }],
      ['POST', `/users/${ofOrg.id}/roles`, { type: 'SUPER_ADMIN' }],
      ['DELETE', `/users/${id}/roles/${role.id}`],
    ];
    for (const call of calls) {
      assert.equal((await ofOrg.call(...call)).status, 403, call.join(' '));
      assert.equal((await reader.call(...call)).status, call[0] === 'GET' ? 200 : 403, call.join(' '));
    }
    assert.deepEqual((await api.call('GET', `/users/${id}/roles`)).body, [role]);
  });

  it('does not take a role by another user’s path', async () => {
    const [one, other] = [await person(api), await person(api)];
    const { body: role } = await api.call<Role>('POST', `/users/${one.id}/roles`, { type: 'READ_ONLY_ADMIN' });
    assert.equal((await api.call('DELETE', `/users/${other.id}/roles/${role.id}`)).status, 404);
    assert.equal((await api.call('POST', '/users/nobody/roles', { type: 'READ_ONLY_ADMIN' })).status, 404);
  });
});
