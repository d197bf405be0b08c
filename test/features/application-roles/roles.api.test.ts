import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventsAbout, person, unique } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Role {
  id: string;
  name: string;
  displayName: string;
  description: string;
}

describe('roles of applications (management API, "apps/{id}/roles" and assignments)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const application = async (...names: string[]) => {
    const settings = { oauthClient: { redirect_uris: ['https://app.example/cb'], assignment: 'EVERYONE' } };
    const { body } = await api.call<{ id: string }>('POST', '/apps', { label: unique('app'), settings });
    for (const name of names) assert.equal((await api.call('POST', `/apps/${body.id}/roles`, { name })).status, 201);
    return body.id;
  };
  const group = async (...userIds: string[]) => {
    const { id } = (await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('group') } })).body;
    for (const userId of userIds) await api.call('PUT', `/groups/${id}/users/${userId}`);
    return id;
  };

  it('are created, listed, replaced and deleted, with events; a name is one of its application', async () => {
    const [id, other] = [await application(), await application('editor')];
    const made = await api.call<Role>('POST', `/apps/${id}/roles`, { name: 'editor', description: 'Writes' });
    assert.deepEqual([made.status, made.body.displayName, made.body.description], [201, 'editor', 'Writes']);
    const twice = await api.call('POST', `/apps/${id}/roles`, { name: 'editor' });
    assert.deepEqual([twice.status, causes(twice)], [409, ['name: another role of this application has this name. Choose another name']]);
    const spaced = await api.call('POST', `/apps/${id}/roles`, { name: 'an editor' });
    assert.deepEqual(causes(spaced), ['name: must be printable ASCII characters without spaces']);
    const path = `/apps/${id}/roles/${made.body.id}`;
    const replaced = await api.call<Role>('PUT', path, { name: 'author', displayName: 'Author' });
    assert.deepEqual([replaced.body.name, replaced.body.displayName, replaced.body.description], ['author', 'Author', '']);
    assert.deepEqual(
      (await api.call<Role[]>('GET', `/apps/${id}/roles`)).body.map(({ name }) => name),
      ['author'],
    );
    assert.equal((await api.call('GET', `/apps/${other}/roles/${made.body.id}`)).status, 404);
    assert.equal((await api.call('DELETE', path)).status, 204);
    assert.equal((await api.call('GET', path)).status, 404);
    const events = await eventsAbout(api, made.body.id);
    assert.deepEqual(
      events.map(({ event_type }) => event_type),
      ['application.role.create', 'application.role.update', 'application.role.delete'],
    );
    assert.deepEqual(events[1]?.debug_context, {
      before: { name: 'editor', displayName: 'editor', description: 'Writes' },
      after: { name: 'author', displayName: 'Author', description: '' },
    });
  });

  it('come with assignments; what is not told stays, and the event has before and after', async () => {
    const id = await application('editor', 'reader');
    const user = await person(api);
    const path = `/apps/${id}/users/${user.id}`;
    const roles = async (method: string, body?: object) => {
      const answer = await api.call<{ roles: string[] }>(method, path, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.roles;
    };
    assert.deepEqual(await roles('PUT', { roles: ['reader', 'editor', 'reader'] }), ['editor', 'reader']);
    assert.deepEqual(await roles('PUT'), ['editor', 'reader']);
    assert.deepEqual(await roles('PUT', { roles: ['reader'] }), ['reader']);
    const unknown = await api.call('PUT', path, { roles: ['reader', 'owner'] });
    assert.deepEqual([unknown.status, causes(unknown)], [400, ['roles.1: owner is not a role of the application']]);
    assert.deepEqual(await roles('GET'), ['reader']);
    const events = (await eventsAbout(api, user.id)).filter(({ event_type }) => event_type.startsWith('application.'));
    const told = { applicationId: id, userId: user.id };
    assert.deepEqual(
      events.map(({ event_type, debug_context }) => [event_type, debug_context]),
      [
        ['application.user_membership.add', { after: { ...told, roles: ['editor', 'reader'] } }],
        ['application.user_membership.update', { before: { ...told, roles: ['editor', 'reader'] }, after: { ...told, roles: ['reader'] } }],
      ],
    );
    await api.call('DELETE', path);
    assert.deepEqual(await roles('PUT'), [], 'the roles went with the assignment');
    const groupId = await group();
    const ofGroup = await api.call<{ roles: string[] }>('PUT', `/apps/${id}/groups/${groupId}`, { roles: ['editor'] });
    assert.deepEqual(ofGroup.body.roles, ['editor']);
    const posted = await api.call<{ roles: string[] }>('POST', `/apps/${id}/users`, { id: (await person(api)).id, roles: ['reader'] });
    assert.deepEqual(posted.body.roles, ['reader']);
  });

  it('the simulator tells where each comes from, and puts them into the tokens of scope roles', async () => {
    const id = await application('admin', 'editor', 'reader');
    const other = await application('owner');
    const user = await person(api);
    const [first, second] = [await group(user.id), await group(user.id)];
    await api.call('PUT', `/apps/${id}/users/${user.id}`, { roles: ['reader'] });
    await api.call('PUT', `/apps/${id}/groups/${first}`, { roles: ['reader', 'editor'] });
    await api.call('PUT', `/apps/${id}/groups/${second}`, { roles: ['editor'] });
    await api.call('PUT', `/apps/${other}/users/${user.id}`, { roles: ['owner'] });
    const server = (
      await api.call<{ id: string }>('POST', '/authorizationServers', { name: unique('s'), audiences: ['https://x.example'] })
    ).body.id;
    const at = `/authorizationServers/${server}`;
    assert.equal((await api.call('POST', `${at}/scopes`, { name: 'roles' })).status, 201);
    interface Simulated {
      outcome: string;
      roles: object[];
      access: { rule: { name: string } | null };
      tokens: { access_token: { claims: Record<string, unknown> }; id_token: { claims: Record<string, unknown> } };
    }
    const simulate = async (scopes: string[]) =>
      (await api.call<Simulated>('POST', `${at}/simulate`, { client_id: id, user: user.id, grant_type: 'authorization_code', scopes }))
        .body;
    const names = await Promise.all(
      [first, second].map(async (one) => (await api.call<{ profile: { name: string } }>('GET', `/groups/${one}`)).body.profile.name),
    );
    const { roles, tokens } = await simulate(['openid', 'roles']);
    assert.deepEqual(roles, [
      { name: 'editor', direct: false, groups: [...names].sort() },
      { name: 'reader', direct: true, groups: [names[0]] },
    ]);
    assert.deepEqual(
      [tokens.access_token.claims.roles, tokens.id_token.claims.roles],
      [
        ['editor', 'reader'],
        ['editor', 'reader'],
      ],
    );
    assert.equal((await simulate(['openid'])).tokens.access_token.claims.roles, undefined);

    // A claim of one's own, of any name, without the scope.
    const claim = { name: 'permissions', claimType: 'RESOURCE', valueType: 'APP_ROLES' };
    assert.equal((await api.call('POST', `${at}/claims`, { ...claim, value: 'x' })).status, 400);
    assert.equal((await api.call('POST', `${at}/claims`, claim)).status, 201);
    assert.deepEqual((await simulate(['openid'])).tokens.access_token.claims.permissions, ['editor', 'reader']);

    // A rule for a role.
    const [policy] = (await api.call<{ id: string }[]>('GET', `${at}/policies`)).body;
    const [rule] = (await api.call<{ id: string; name: string }[]>('GET', `${at}/policies/${policy?.id}/rules`)).body;
    const changed = { name: rule?.name, conditions: { people: { roles: { include: ['editor'] } } } };
    const put = await api.call<{ conditions: object }>('PUT', `${at}/policies/${policy?.id}/rules/${rule?.id}`, changed);
    assert.deepEqual(put.body.conditions, changed.conditions);
    assert.equal((await simulate(['openid'])).outcome, 'TOKENS');
    await api.call('DELETE', `/apps/${id}/groups/${first}`);
    await api.call('DELETE', `/apps/${id}/groups/${second}`);
    assert.equal((await simulate(['openid'])).outcome, 'REFUSED');
  });
});
