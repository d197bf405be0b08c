import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { administrator, eventsAbout, PASSWORD, person, type User, unique } from '../../api/people.ts';
import { moveClock } from '../../support/clock.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('the life cycle of users (management API, "users")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const step = (id: string, name: string) => api.call<Record<string, string>>('POST', `/users/${id}/lifecycle/${name}`);
  const read = async (id: string) => (await api.call<User>('GET', `/users/${id}`)).body;
  const signsIn = async ({ profile }: User) =>
    (await authenticatePassword(api.services, { username: profile.login ?? '', password: PASSWORD }, SYSTEM)) !== undefined;

  it('goes from STAGED to ACTIVE and through suspension, and offers in _links what is possible', async () => {
    const body = { profile: { login: unique('user') }, credentials: { password: { value: PASSWORD } } };
    const { body: user } = await api.call<User>('POST', '/users?activate=false', body);
    assert.deepEqual(Object.keys(user._links).sort(), ['activate', 'deactivate', 'self']);
    assert.deepEqual(user._links.activate, { href: `${user._links.self?.href}/lifecycle/activate`, method: 'POST' });

    assert.deepEqual([(await step(user.id, 'activate')).status, await signsIn(user)], [200, true]);
    const active = await read(user.id);
    assert.equal(active.status, 'ACTIVE');
    assert.ok(active.activated !== null && active.activated === active.statusChanged);

    assert.deepEqual([(await step(user.id, 'suspend')).body, await signsIn(user)], [{}, false]);
    const suspended = await read(user.id);
    assert.deepEqual([suspended.status, suspended.activated], ['SUSPENDED', active.activated]);
    assert.deepEqual(Object.keys(suspended._links).sort(), ['deactivate', 'self', 'unsuspend']);
    assert.deepEqual([(await step(user.id, 'unsuspend')).body, await signsIn(user)], [{}, true]);

    const events = await eventsAbout(api, user.id);
    const lifecycle = events.filter(({ event_type }) => event_type.startsWith('user.lifecycle'));
    assert.deepEqual(
      lifecycle.map(({ event_type, debug_context }) => [event_type, debug_context.before?.status, debug_context.after?.status]),
      [
        ['user.lifecycle.create', undefined, 'STAGED'],
        ['user.lifecycle.activate', 'STAGED', 'ACTIVE'],
        ['user.lifecycle.suspend', 'ACTIVE', 'SUSPENDED'],
        ['user.lifecycle.unsuspend', 'SUSPENDED', 'ACTIVE'],
      ],
    );
    assert.equal(lifecycle.at(-1)?.actor.id, api.admin.userId);
  });

  it('refuses a step that the status does not offer: 403 E0000038 with the reason, and nothing happens', async () => {
    const user = await person(api);
    const count = (await eventsAbout(api, user.id)).length;
    for (const name of ['activate', 'unsuspend', 'unlock']) {
      const answer = await step(user.id, name);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
      assert.match(answer.body.errorSummary ?? '', new RegExp(`the user is ACTIVE, but ${name} requires `));
    }
    assert.deepEqual(await read(user.id), user);
    assert.equal((await eventsAbout(api, user.id)).length, count);
  });

  it('unlocks who is locked out', async () => {
    const user = await person(api);
    const lockOut = async () => {
      const wrong = { username: user.profile.login ?? '', password: 'wrong' };
      for (let n = 0; n < 10; n += 1) await authenticatePassword(api.services, wrong, SYSTEM);
    };
    const found = async (status: string): Promise<boolean> => {
      const search = encodeURIComponent(`status eq "${status}" and profile.login eq "${user.profile.login}"`);
      return (await api.call<User[]>('GET', `/users?search=${search}`)).body.length === 1;
    };
    await lockOut();
    const locked = await read(user.id);
    assert.deepEqual([locked.status, locked.statusChanged], ['LOCKED_OUT', user.statusChanged]);
    assert.deepEqual(Object.keys(locked._links).sort(), ['deactivate', 'resetPassword', 'self', 'unlock']);
    assert.deepEqual([await found('LOCKED_OUT'), await found('ACTIVE'), await signsIn(user)], [true, false, false]);

    assert.deepEqual((await step(user.id, 'unlock')).body, {});
    assert.equal((await read(user.id)).status, 'ACTIVE');
    assert.deepEqual([await found('LOCKED_OUT'), await found('ACTIVE'), await signsIn(user)], [false, true, true]);
    assert.equal((await step(user.id, 'unlock')).status, 403);
    const event = (await eventsAbout(api, user.id)).find(({ event_type }) => event_type === 'user.account.unlock_by_admin');
    assert.deepEqual([event.debug_context.before, event.debug_context.after], [{ status: 'LOCKED_OUT' }, { status: 'ACTIVE' }]);
  });

  it('unlocks by the end of a minute, and by a new password', async (t) => {
    const user = await person(api);
    const wrong = { username: user.profile.login ?? '', password: 'wrong' };
    const lockOut = () => Promise.all(Array.from({ length: 10 }, () => authenticatePassword(api.services, wrong, SYSTEM)));
    await lockOut();
    const changed = await api.call<User>('POST', `/users/${user.id}`, { credentials: { password: { value: PASSWORD } } });
    assert.deepEqual([changed.body.status, await signsIn(user)], ['ACTIVE', true]);
    await lockOut();
    assert.equal((await read(user.id)).status, 'LOCKED_OUT');
    moveClock(t, 60);
    assert.deepEqual([(await read(user.id)).status, await signsIn(user)], ['ACTIVE', true]);
  });

  it('tells once, with sendEmail=false, where an activated user without a password chooses one', async () => {
    const { body: user } = await api.call<User>('POST', '/users?activate=false', { profile: { login: unique('user') } });
    const answer = await step(user.id, 'activate?sendEmail=false');
    assert.match(answer.body.activationUrl ?? '', /\/choose-password\/[\w-]{20,}$/);
    const stored = JSON.stringify([await eventsAbout(api, user.id), await api.services.database.knex('one_time_links').select('*')]);
    assert.ok(!stored.includes(answer.body.activationUrl?.split('/').at(-1) ?? ''));
    const withPassword = await person(api);
    await step(withPassword.id, 'deactivate');
    assert.deepEqual((await step(withPassword.id, 'activate?sendEmail=false')).body, {});
    assert.deepEqual((await api.call('POST', `/users/${user.id}/lifecycle/activate?sendEmail=yes`)).status, 400);
  });

  it('resets a password: the old one opens nothing, the answer has the link, and mail is refused to who has no address', async () => {
    const user = await person(api);
    const mailed = await step(user.id, 'reset_password');
    assert.deepEqual([mailed.status, mailed.body.errorCode], [403, 'E0000038']);
    assert.match(mailed.body.errorSummary ?? '', /the user has no e-mail address. Request the link with sendEmail=false/);
    assert.deepEqual([(await read(user.id)).status, await signsIn(user)], ['ACTIVE', true]);
    const answer = await step(user.id, 'reset_password?sendEmail=false');
    assert.match(answer.body.resetPasswordUrl ?? '', /\/choose-password\/[\w-]{20,}$/);
    assert.deepEqual([(await read(user.id)).status, await signsIn(user)], ['PASSWORD_EXPIRED', false]);
  });

  it('expires a password, answers with the user as Okta does, and takes a new one as the end of it', async () => {
    const user = await person(api);
    const answer = await api.call<User>('POST', `/users/${user.id}/lifecycle/expire_password`);
    assert.deepEqual([answer.body.id, answer.body.status], [user.id, 'PASSWORD_EXPIRED']);
    assert.equal(await signsIn(user), false);
    const renewed = await api.call<User>('POST', `/users/${user.id}`, { credentials: { password: { value: PASSWORD } } });
    assert.deepEqual([renewed.body.status, await signsIn(user)], ['ACTIVE', true]);
    const { body: open } = await api.call<User>('POST', '/users', { profile: { login: unique('user') } });
    assert.equal((await step(open.id, 'expire_password')).status, 403);
  });

  it('deactivates at the first DELETE, deletes at the next, and is 404 then; with all that was his', async () => {
    const user = await person(api);
    assert.equal((await api.call('DELETE', `/users/${user.profile.login}`)).status, 204);
    const left = await read(user.id);
    assert.deepEqual([left.status, Object.keys(left._links)], ['DEPROVISIONED', ['self', 'activate']]);
    assert.equal((await api.call('DELETE', `/users/${user.id}`)).status, 204);
    for (const method of ['GET', 'DELETE']) assert.equal((await api.call(method, `/users/${user.id}`)).status, 404);
    const types = (await eventsAbout(api, user.id)).map(({ event_type }) => event_type);
    assert.deepEqual(types, ['user.lifecycle.create', 'user.lifecycle.deactivate', 'user.lifecycle.delete.initiated']);
    assert.equal((await api.call('POST', '/users', { profile: { login: user.profile.login } })).status, 200);
  });

  it('of twenty identical steps at once one succeeds', async () => {
    const user = await person(api);
    const answers = await Promise.all(Array.from({ length: 20 }, () => step(user.id, 'suspend')));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(403)]);
    assert.equal((await eventsAbout(api, user.id)).filter(({ event_type }) => event_type === 'user.lifecycle.suspend').length, 1);
  });

  it('carries a step out once for one Idempotency-Key', async () => {
    const user = await person(api);
    const twice = [1, 2].map(() => api.call('POST', `/users/${user.id}/lifecycle/suspend`, undefined, { 'idempotency-key': unique('k') }));
    assert.deepEqual((await Promise.all(twice)).map(({ status }) => status).sort(), [200, 403]);
    await step(user.id, 'unsuspend');
    const key = { 'idempotency-key': unique('k') };
    const same = [1, 2].map(() => api.call('POST', `/users/${user.id}/lifecycle/suspend`, undefined, key));
    assert.deepEqual(
      (await Promise.all(same)).map(({ status }) => status),
      [200, 200],
    );
  });

  it('refuses a deactivated user’s API token at once and for good, a suspended one’s while it lasts', async () => {
    const admin = await administrator(api, { type: 'READ_ONLY_ADMIN' });
    const status = async () => (await admin.call('GET', '/users/root')).status;
    assert.equal(await status(), 200);
    await step(admin.id, 'suspend');
    assert.equal(await status(), 401);
    await step(admin.id, 'unsuspend');
    assert.equal(await status(), 200);
    await step(admin.id, 'deactivate');
    assert.equal(await status(), 401);
    await step(admin.id, 'activate');
    assert.equal(await status(), 401);
  });

  it('lets nobody deactivate, suspend or delete himself', async () => {
    const admin = await administrator(api, { type: 'SUPER_ADMIN' });
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/lifecycle/deactivate'],
      ['POST', '/lifecycle/suspend'],
    ] as const) {
      const answer = await admin.call(method, `/users/${admin.id}${path}`);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
      assert.match(answer.body.errorSummary, /you cannot \w+ yourself/);
    }
    await api.call('DELETE', `/users/${admin.id}`);
  });
});
