import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { eventsAbout, PASSWORD, person, type User, unique } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('changes of users (management API, "users")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const signsIn = async (login: string, password: string) =>
    (await authenticatePassword(api.services, { username: login, password }, SYSTEM)) !== undefined;

  it('POST changes the attributes that are given, and null removes one', async () => {
    const user = await person(api, { profile: { firstName: 'Ada', nickName: 'A', email: 'ada@example.com' } });
    const { login } = user.profile;
    const { status, body } = await api.call<User>('POST', `/users/${login}`, {
      profile: { lastName: 'Lovelace', nickName: null, email: null },
    });
    assert.equal(status, 200);
    assert.deepEqual(body.profile, { login, firstName: 'Ada', lastName: 'Lovelace' });
    assert.ok(body.lastUpdated > user.lastUpdated);
    assert.deepEqual((await api.call('GET', `/users/${user.id}`)).body, body);
    const [, event] = await eventsAbout(api, user.id);
    assert.equal(event.event_type, 'user.account.update_profile');
    assert.deepEqual(event.debug_context, { before: { profile: user.profile }, after: { profile: body.profile } });
  });

  it('PUT replaces the profile: what is not given is gone, and the login is required', async () => {
    const user = await person(api, { profile: { firstName: 'Ada', email: 'ada@example.com' } });
    const renamed = unique('renamed');
    const { body } = await api.call<User>('PUT', `/users/${user.id}`, { profile: { login: renamed, title: 'Countess' } });
    assert.deepEqual(body.profile, { login: renamed, title: 'Countess' });
    assert.equal((await api.call('GET', `/users/${user.profile.login}`)).status, 404);
    assert.equal(await signsIn(renamed, PASSWORD), true);
    for (const [sent, cause] of [
      [{}, 'profile: is required'],
      [{ profile: { firstName: 'Ada' } }, 'profile.login: is required'],
      [{ profile: { login: null } }, 'profile.login: must be of type string'],
    ] as const) {
      const answer = await api.call('PUT', `/users/${user.id}`, sent);
      assert.deepEqual([answer.status, causes(answer)], [400, [cause]]);
    }
    assert.equal((await api.call('POST', `/users/${user.id}`, { profile: { login: null } })).status, 400);
    assert.deepEqual((await api.call<User>('GET', `/users/${user.id}`)).body.profile, body.profile);
  });

  it('emailVerified is the administrator’s to set; another address resets it unless it is sent too', async () => {
    const [first, second] = [`${unique('a')}@example.com`, `${unique('b')}@example.com`];
    const { id } = await person(api, { profile: { email: first } });
    const changed = async (method: string, profile: object) => {
      const { status, body } = await api.call<User>(method, `/users/${id}`, { profile });
      assert.equal(status, 200, JSON.stringify(body));
      return [body.profile.email, body.profile.emailVerified as unknown];
    };
    const login = unique('verified');
    assert.deepEqual((await api.call<User>('GET', `/users/${id}`)).body.profile.emailVerified, false);
    assert.deepEqual(await changed('POST', { emailVerified: true }), [first, true]);
    const event = (await eventsAbout(api, id)).at(-1);
    assert.deepEqual([event?.debug_context.before.profile.emailVerified, event?.debug_context.after.profile.emailVerified], [false, true]);
    assert.deepEqual(await changed('PUT', { login, email: first }), [first, true], 'the same address keeps it');
    assert.deepEqual(await changed('POST', { nickName: 'V', emailVerified: null }), [first, true]);
    const found = await api.call<User[]>('GET', `/users?filter=${encodeURIComponent('profile.emailVerified eq true')}`);
    assert.ok(found.body.some((user) => user.id === id));
    assert.deepEqual(await changed('POST', { email: second }), [second, false]);
    assert.deepEqual(await changed('PUT', { login, email: first, emailVerified: true }), [first, true]);
    assert.deepEqual(await changed('POST', { email: second, emailVerified: true }), [second, true]);
    assert.deepEqual(await changed('POST', { emailVerified: false }), [second, false]);
    assert.deepEqual(await changed('POST', { email: null, emailVerified: true }), [undefined, undefined], 'no address, nothing to verify');
    assert.deepEqual(await changed('POST', { email: first }), [first, false]);
    const refused = await api.call('POST', `/users/${id}`, { profile: { emailVerified: 'true' } });
    assert.deepEqual(causes(refused), ['profile.emailVerified: must be of type boolean']);
    const made = await api.call<User>('POST', '/users', {
      profile: { login: unique('made'), email: `${unique('c')}@example.com`, emailVerified: true },
    });
    assert.equal(made.body.profile.emailVerified as unknown, true);
  });

  it('changes nothing, and writes no event, where nothing is to be changed', async () => {
    const user = await person(api);
    assert.deepEqual((await api.call('POST', `/users/${user.id}`, {})).body, user);
    assert.equal((await eventsAbout(api, user.id)).length, 1);
  });

  it('takes a whole answer back as it was ("Conventions")', async () => {
    const user = await person(api, { profile: { firstName: 'Ada' } });
    for (const method of ['POST', 'PUT']) {
      const { status, body } = await api.call<User>(method, `/users/${user.id}`, user);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual({ ...body, lastUpdated: '' }, { ...user, lastUpdated: '' });
    }
    const refused = await api.call('PUT', `/users/${user.id}`, { ...user, profile: { ...user.profile, shoeSize: '42' }, hash: 'x' });
    assert.deepEqual(causes(refused), ['hash: is not a field of this resource']);
    const unknown = await api.call('PUT', `/users/${user.id}`, { ...user, profile: { ...user.profile, shoeSize: '42' } });
    assert.deepEqual(causes(unknown), ['profile.shoeSize: is not an attribute of users']);
  });

  it('sets a password, and tells nobody', async () => {
    const user = await person(api);
    const login = user.profile.login ?? '';
    const { body } = await api.call<User>('POST', `/users/${user.id}`, { credentials: { password: { value: 'a new and better one' } } });
    assert.ok((body.passwordChanged ?? '') > (user.passwordChanged ?? ''));
    assert.deepEqual([await signsIn(login, PASSWORD), await signsIn(login, 'a new and better one')], [false, true]);
    const events = await eventsAbout(api, user.id);
    assert.deepEqual(
      events.map(({ event_type }) => event_type).filter((type) => type.startsWith('user.account')),
      ['user.account.update_password'],
    );
    assert.doesNotMatch(JSON.stringify([body, events]), /better one|argon2/);
    const short = await api.call('POST', `/users/${user.id}`, { credentials: { password: { value: 'short' } } });
    assert.deepEqual(causes(short), ['credentials.password.value: must have at least 8 characters']);
    assert.equal(await signsIn(login, 'a new and better one'), true);
  });

  it('refuses a login that another user has, and changes nothing', async () => {
    const [user, other] = [await person(api), await person(api)];
    for (const method of ['POST', 'PUT']) {
      const profile = { login: other.profile.login?.toUpperCase() };
      const answer = await api.call(method, `/users/${user.id}`, { profile, credentials: { password: { value: 'never to be set' } } });
      assert.deepEqual([answer.status, causes(answer)], [409, ['profile.login: another user has this user name. Choose another one']]);
    }
    assert.deepEqual((await api.call('GET', `/users/${user.id}`)).body, user);
    assert.equal((await eventsAbout(api, user.id)).filter(({ event_type }) => event_type.startsWith('user.account')).length, 0);
    const ownInCapitals = user.profile.login?.toUpperCase();
    assert.equal((await api.call('POST', `/users/${user.id}`, { profile: { login: ownInCapitals } })).status, 200);
  });

  it('lets one of twenty users have a login that all want at once', async () => {
    const everybody = await Promise.all(Array.from({ length: 20 }, () => person(api)));
    const login = unique('wanted');
    const answers = await Promise.all(everybody.map(({ id }) => api.call('POST', `/users/${id}`, { profile: { login } })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(409)]);
  });

  it('loses none of twenty changes made to one user at once', async () => {
    const attributes = ['city', 'state', 'title', 'division', 'department', 'costCenter', 'manager', 'locale', 'timezone', 'zipCode'];
    const user = await person(api);
    await Promise.all(attributes.map((name) => api.call('POST', `/users/${user.id}`, { profile: { [name]: name } })));
    const { body } = await api.call<User>('GET', `/users/${user.id}`);
    assert.deepEqual(body.profile, { login: user.profile.login, ...Object.fromEntries(attributes.map((name) => [name, name])) });
  });

  it('keeps names of every kind as they are', async () => {
    const user = await person(api);
    const profile = { firstName: '<script>alert(1)</script>', lastName: 'عمر‏', displayName: '‮abc 👩‍🔬', title: "'); DROP TABLE users;--" };
    const { body } = await api.call<User>('POST', `/users/${user.id}`, { profile });
    assert.deepEqual(body.profile, { login: user.profile.login, ...profile });
    for (const [value, cause] of [
      ['a\u0000b', 'must not contain control characters'],
      ['\u001b[31m', 'must not contain control characters'],
      ['x'.repeat(10_000), 'must have at most 255 characters'],
    ] as const) {
      assert.deepEqual(causes(await api.call('POST', `/users/${user.id}`, { profile: { title: value } })), [`profile.title: ${cause}`]);
    }
  });

  it('lets no login look like an id: who is called by one could be taken for another', async () => {
    const user = await person(api);
    for (const [method, path] of [
      ['POST', '/users'],
      ['POST', `/users/${user.id}`],
      ['PUT', `/users/${user.id}`],
    ] as const) {
      const answer = await api.call(method, path, { profile: { login: user.id } });
      assert.deepEqual([answer.status, causes(answer)], [400, ['profile.login: must not have the form of a user ID']]);
    }
  });
});
