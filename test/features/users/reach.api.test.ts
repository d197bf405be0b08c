import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administrator, administrator, organization, PASSWORD, person, type User, unique } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

/** Every call about one user that is open to organizations' administrators. */
const CALLS: [method: string, path: string, body?: unknown][] = [
  ['GET', ''],
  ['POST', '', { profile: { nickName: 'Mine' } }],
  ['POST', '', { credentials: { password: { value: 'taken over by me' } } }],
  ['PUT', '', { profile: { login: 'mine' } }],
  ['DELETE', ''],
  ...['activate', 'deactivate', 'suspend', 'unsuspend', 'unlock', 'expire_password', 'reset_password?sendEmail=false'].map(
    (step): [string, string] => ['POST', `/lifecycle/${step}`],
  ),
  ['DELETE', '/sessions?oauthTokens=true'],
  ['GET', '/grants'],
  ['GET', '/grants/gra_x'],
  ['GET', '/factors'],
  ['DELETE', '/grants'],
  ['DELETE', '/grants/gra_x'],
];

describe('who reaches which users (management API, "users", roles)', () => {
  let api: ManagementApi;
  let mine: string;
  let foreign: string;
  let admin: Administrator;
  before(async () => {
    api = await startManagementApi();
    [mine, foreign] = [await organization(api), await organization(api)];
    admin = await administrator(api, { type: 'ORG_ADMIN', orgId: mine });
  });
  after(() => api.close());

  const memberOf = (...orgIds: string[]) =>
    orgIds.slice(1).reduce(
      async (made, orgId) => {
        const user = await made;
        assert.equal((await api.call('PUT', `/account/org/${orgId}/member/${user.id}`, {})).status, 200);
        return (await api.call<User>('GET', `/users/${user.id}`)).body;
      },
      person(api, { ...(orgIds[0] !== undefined && { orgId: orgIds[0] }) }),
    );
  const untouched = async (user: User) => assert.deepEqual((await api.call('GET', `/users/${user.id}`)).body, user);

  it('lets no administrator of an organization say that an address is verified: applications open accounts by it', async () => {
    const user = await person(api, { orgId: mine, profile: { email: `${unique('a')}@example.com` } });
    const email = `${unique('b')}@example.com`;
    const say = (method: string, path: string, profile: object, more: object = {}) => admin.call<User>(method, path, { profile, ...more });
    const path = `/users/${user.id}`;
    assert.equal((await say('POST', path, { emailVerified: true })).status, 403);
    assert.equal((await say('POST', '/users', { login: unique('made'), email, emailVerified: true }, { orgId: mine })).status, 403);
    assert.equal((await api.call('POST', path, { profile: { emailVerified: true } })).status, 200);
    assert.equal((await say('POST', path, { email, emailVerified: true })).status, 403, 'not by way of one that is verified');
    assert.equal(
      (await say('POST', path, { nickName: 'Mine', emailVerified: true })).body.profile.emailVerified as unknown,
      true,
      'sent back as it was',
    );
    assert.equal((await say('POST', path, { email })).body.profile.emailVerified as unknown, false);
  });

  it('hides from an organization’s administrator whoever is not in it, on every verb, by id and by login', async () => {
    for (const user of [await memberOf(foreign), await memberOf()]) {
      for (const name of [user.id, user.profile.login]) {
        for (const [method, path, body] of CALLS) {
          const answer = await admin.call(method, `/users/${name}${path}`, body);
          assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${path}`);
          // As for one who does not exist at all.
          const nobody = await admin.call(method, `/users/usr_nobody${path}`, body);
          assert.equal(nobody.body.errorSummary.replace('usr_nobody', String(name)), answer.body.errorSummary);
        }
      }
      await untouched(user);
    }
  });

  it('shows him, but does not let him change, who belongs to another organization as well or has rights that he has not', async () => {
    const both = await memberOf(mine, foreign);
    const promoted = await memberOf(mine);
    await api.call('POST', `/users/${promoted.id}/roles`, { type: 'READ_ONLY_ADMIN' });
    const { body: superior } = await api.call<User>('GET', `/users/${promoted.id}`);
    for (const user of [both, superior]) {
      for (const [method, path, body] of CALLS) {
        const { status } = await admin.call(method, `/users/${user.id}${path}`, body);
        // Consents and factors tell where a user goes, as sessions do.
        assert.equal(status, method === 'GET' && path === '' ? 200 : 403, `${method} ${path}`);
      }
      await untouched(user);
    }
  });

  it('lets him do everything with his own people', async () => {
    const user = await memberOf(mine);
    const call = async (method: string, path: string, body?: unknown) =>
      (await admin.call(method, `/users/${user.id}${path}`, body)).status;
    assert.equal(await call('POST', '', { profile: { nickName: 'Ours' }, credentials: { password: { value: PASSWORD } } }), 200);
    for (const step of ['suspend', 'unsuspend', 'expire_password', 'reset_password?sendEmail=false', 'deactivate', 'activate']) {
      assert.equal(await call('POST', `/lifecycle/${step}`), 200, step);
    }
    assert.equal(await call('DELETE', '/sessions'), 204);
    assert.deepEqual([await call('DELETE', ''), await call('DELETE', ''), await call('GET', '')], [204, 204, 404]);
  });

  it('lists for him those of his organization alone, whatever he searches', async () => {
    const user = await memberOf(mine);
    const stranger = await memberOf(foreign);
    const ids = async (query = '') => (await admin.call<User[]>('GET', `/users?limit=200${query}`)).body.map(({ id }) => id);
    const all = await ids();
    assert.ok(all.includes(user.id) && !all.includes(stranger.id) && !all.includes(api.admin.userId));
    assert.deepEqual(await ids(`&q=${stranger.profile.login}`), []);
    const either = encodeURIComponent(`id eq "${stranger.id}" or id eq "${user.id}"`);
    assert.deepEqual(await ids(`&search=${either}`), [user.id]);
    assert.deepEqual(await ids(`&filter=${encodeURIComponent('not (id eq "x")')}&search=${encodeURIComponent('status pr')}`), [
      ...(await ids(`&search=${encodeURIComponent('status pr')}`)),
    ]);
  });

  it('lets him create users in his organization only', async () => {
    const create = (more: object) => admin.call<User>('POST', '/users', { profile: { login: unique('new') }, ...more });
    assert.equal((await create({ orgId: mine })).status, 200);
    for (const [more, cause] of [
      [{}, 'orgId: is required'],
      [{ orgId: foreign }, 'orgId: does not exist'],
      [{ orgId: 'org_nowhere' }, 'orgId: does not exist'],
      [{ orgId: mine, roles: [{ type: 'SUPER_ADMIN' }] }, 'roles: is not a field of this resource'],
    ] as const) {
      const answer = await admin.call('POST', '/users', { profile: { login: unique('new') }, ...more });
      assert.deepEqual([answer.status, causes(answer)], [400, [cause]]);
    }
  });

  it('lets READ_ONLY_ADMIN read everybody and change nobody, on every verb', async () => {
    const reader = await administrator(api, { type: 'READ_ONLY_ADMIN' });
    const user = await memberOf(foreign);
    for (const [method, path, body] of CALLS) {
      const { status } = await reader.call(method, `/users/${user.id}${path}`, body);
      assert.equal(status, method === 'GET' ? (path === '/grants/gra_x' ? 404 : 200) : 403, `${method} ${path}`);
    }
    assert.equal((await reader.call('POST', '/users', { profile: { login: unique('new') } })).status, 403);
    assert.ok((await reader.call<User[]>('GET', `/users?q=${user.profile.login}`)).body.length === 1);
    await untouched(user);
  });

  it('refuses whoever has no role', async () => {
    const nobody = await administrator(api);
    const user = await memberOf(mine);
    for (const [method, path, body] of CALLS) assert.equal((await nobody.call(method, `/users/${user.id}${path}`, body)).status, 401);
    assert.equal((await nobody.call('GET', '/users')).status, 401);
  });
});
