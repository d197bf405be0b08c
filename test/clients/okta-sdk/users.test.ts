/** Users by Okta's SDK: each operation that is here, with every field that it shows (management API, "users"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { User } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed } from './client.ts';

const PASSWORD = { password: { value: 'correct horse battery' } };

test('users by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const { userApi } = okta;
  const api = `${service.baseUrl}/api/v1`;

  /** What the SDK shows of a user beside his times. */
  const described = (id: string, status: string, profile: Record<string, string>, steps: Record<string, string>) => ({
    id,
    status,
    profile,
    credentials: { provider: { type: 'GATEHOUSE', name: 'GATEHOUSE' } },
    _links: {
      self: { href: `${api}/users/${id}` },
      ...Object.fromEntries(Object.entries(steps).map(([link, step]) => [link, { href: `${api}/users/${id}/lifecycle/${step}` }])),
    },
  });
  const OF_ACTIVE = {
    deactivate: 'deactivate',
    suspend: 'suspend',
    expirePassword: 'expire_password',
    resetPassword: 'reset_password',
  };
  const { expirePassword: _, ...OF_ACTIVE_WITHOUT_PASSWORD } = OF_ACTIVE;
  const create = async (login: string, password = true): Promise<User & { id: string }> => {
    const user = await userApi.createUser({ body: { profile: { login }, ...(password && { credentials: PASSWORD }) } });
    assert.ok(user.id !== undefined);
    return { ...user, id: user.id };
  };
  const statusOf = async (userId: string) => (await userApi.getUser({ userId })).status;
  const signIn = async (username: string, password: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${api}/authn`, { method: 'POST', headers, body: JSON.stringify({ username, password }) })).status;
  };

  await t.test('creates, reads, changes, replaces and deletes one', async () => {
    const profile = {
      login: 'ada',
      email: 'ada@example.com',
      secondEmail: 'ada@example.org',
      firstName: '<b>Ada</b>',
      lastName: 'لوفليس',
      middleName: 'King',
      honorificPrefix: 'Countess',
      honorificSuffix: 'FRS',
      title: 'Analyst',
      displayName: 'Ada Lovelace',
      nickName: 'A. A. L.',
      profileUrl: 'https://example.com/ada',
      primaryPhone: '+44 1',
      mobilePhone: '+44 2',
      streetAddress: '12 St James’s Square',
      city: 'London',
      state: 'England',
      zipCode: 'SW1',
      countryCode: 'GB',
      postalAddress: 'London SW1',
      preferredLanguage: 'en-GB',
      locale: 'en_GB',
      timezone: 'Europe/London',
      userType: 'Pioneer',
      employeeNumber: '1',
      costCenter: '2',
      organization: 'Analytical Society',
      division: 'Engines',
      department: 'Notes',
      managerId: '3',
      manager: 'Charles',
    };
    const user = await userApi.createUser({ body: { profile, credentials: PASSWORD }, activate: true });
    const made = timed(user, 'created', 'activated', 'statusChanged', 'lastUpdated', 'passwordChanged');
    const id = String(user.id);
    assert.match(id, /^usr_\w{20}$/);
    assert.deepEqual(made.rest, { ...described(id, 'ACTIVE', profile, OF_ACTIVE), lastLogin: null });
    for (const time of [made.activated, made.statusChanged, made.lastUpdated, made.passwordChanged]) assert.equal(time, made.created);
    assert.deepEqual(shown(await userApi.getUser({ userId: id })), shown(user), 'by id');
    assert.deepEqual(shown(await userApi.getUser({ userId: 'ada' })), shown(user), 'by login');

    const changed = await userApi.updateUser({ userId: id, user: { profile: { title: 'Programmer' } } });
    const { lastUpdated, rest } = timed(changed, 'lastUpdated');
    assert.deepEqual({ ...rest, lastUpdated: made.lastUpdated }, { ...shown(user), profile: { ...profile, title: 'Programmer' } });
    assert.ok(lastUpdated > made.lastUpdated);

    // As the SDK's own examples do it: read, change the object, send all of it back.
    const whole = await userApi.getUser({ userId: id });
    assert.ok(whole.profile !== undefined && whole.profile !== null);
    whole.profile.city = 'Ockham';
    const sentBack = await userApi.updateUser({ userId: id, user: whole as never });
    assert.deepEqual(shown(sentBack.profile), { ...profile, title: 'Programmer', city: 'Ockham' });
    assert.equal((await userApi.getUser({ userId: id })).profile?.city, 'Ockham', 'the SDK remembers nothing older');

    const replaced = await userApi.replaceUser({ userId: id, user: { profile: { login: 'ada', firstName: 'Ada' } } });
    assert.deepEqual(shown(replaced).profile, { login: 'ada', firstName: 'Ada' }, 'what is not sent is gone');
    assert.deepEqual(shown(await userApi.getUser({ userId: 'ada' })), shown(replaced));

    await userApi.deleteUser({ userId: id });
    assert.equal(await statusOf(id), 'DEPROVISIONED', 'the first call deactivates');
    await userApi.deleteUser({ userId: id, sendEmail: false });
    assert.deepEqual(await refusal(userApi.getUser({ userId: id })), [404, 'E0000007', `Not found: Resource not found: ${id} (User)`, []]);
  });

  await t.test('takes a password, or its hash; what is told of it is when it changed', async () => {
    const without = timed(await create('without', false), 'created', 'activated', 'statusChanged', 'lastUpdated');
    const id = String(without.rest.id);
    assert.deepEqual(without.rest, {
      ...described(id, 'ACTIVE', { login: 'without' }, OF_ACTIVE_WITHOUT_PASSWORD),
      lastLogin: null,
      passwordChanged: null,
    });
    const withOne = await userApi.updateUser({ userId: id, user: { credentials: PASSWORD } });
    const { passwordChanged, lastUpdated, ...times } = timed(
      withOne,
      'created',
      'activated',
      'statusChanged',
      'lastUpdated',
      'passwordChanged',
    );
    assert.deepEqual([passwordChanged, times.statusChanged], [lastUpdated, without.statusChanged]);
    assert.equal(await signIn('without', PASSWORD.password.value), 200);
    const { lastLogin } = timed(await userApi.getUser({ userId: id }), 'lastLogin');
    assert.ok(lastLogin >= lastUpdated);

    const value = createHash('sha256').update('salt').update(PASSWORD.password.value).digest('base64');
    const hash = { algorithm: 'SHA-256', salt: Buffer.from('salt').toString('base64'), saltOrder: 'PREFIX', value } as const;
    const imported = await userApi.createUser({ body: { profile: { login: 'imported' }, credentials: { password: { hash } } } });
    assert.deepEqual(shown(imported.credentials), { provider: { type: 'GATEHOUSE', name: 'GATEHOUSE' } });
    assert.equal(await signIn('imported', PASSWORD.password.value), 200);
    assert.equal(await signIn('imported', 'wrong password'), 401);
  });

  await t.test('goes through a whole life', async () => {
    const staged = await userApi.createUser({ body: { profile: { login: 'alan' } }, activate: false });
    const id = String(staged.id);
    const { rest } = timed(staged, 'created', 'lastUpdated');
    assert.deepEqual(rest, {
      ...described(id, 'STAGED', { login: 'alan' }, { activate: 'activate', deactivate: 'deactivate' }),
      activated: null,
      statusChanged: null,
      lastLogin: null,
      passwordChanged: null,
    });

    const { activationUrl, ...nothingElse } = shown(await userApi.activateUser({ userId: id, sendEmail: false }));
    assert.match(String(activationUrl), new RegExp(`^${service.baseUrl}/choose-password/[\\w-]{20,}$`));
    assert.deepEqual(nothingElse, {});
    const active = timed(await userApi.getUser({ userId: id }), 'activated', 'statusChanged');
    assert.deepEqual([active.rest.status, active.statusChanged], ['ACTIVE', active.activated]);

    assert.equal(await userApi.suspendUser({ userId: id }), undefined);
    assert.equal(await statusOf(id), 'SUSPENDED');
    const suspended = shown((await userApi.getUser({ userId: id }))._links);
    assert.ok('unsuspend' in suspended && !('suspend' in suspended));
    await userApi.unsuspendUser({ userId: id });
    assert.equal(await statusOf(id), 'ACTIVE');

    await userApi.updateUser({ userId: id, user: { credentials: PASSWORD } });
    const expired = await userApi.expirePassword({ userId: id });
    assert.deepEqual([expired.id, expired.status, expired.profile?.login], [id, 'PASSWORD_EXPIRED', 'alan']);
    assert.deepEqual(shown(await userApi.getUser({ userId: id })), shown(expired));
    assert.equal(await signIn('alan', PASSWORD.password.value), 200, 'PASSWORD_EXPIRED: another one can be chosen');

    const reset = shown(await userApi.generateResetPasswordToken({ userId: id, sendEmail: false }));
    assert.match(String(reset.resetPasswordUrl), new RegExp(`^${service.baseUrl}/choose-password/[\\w-]{20,}$`));
    assert.deepEqual(Object.keys(reset), ['resetPasswordUrl']);
    assert.equal(await signIn('alan', PASSWORD.password.value), 401);

    await userApi.updateUser({ userId: id, user: { credentials: PASSWORD } });
    for (let wrong = 0; wrong < 10; wrong += 1) assert.equal(await signIn('alan', 'wrong password'), 401);
    assert.equal((await oktaClient(service).userApi.getUser({ userId: id })).status, 'LOCKED_OUT');
    await userApi.unlockUser({ userId: id });
    assert.equal(await statusOf(id), 'ACTIVE');
    assert.equal(await signIn('alan', PASSWORD.password.value), 200);

    await userApi.revokeUserSessions({ userId: id, oauthTokens: true });
    await userApi.deactivateUser({ userId: id, sendEmail: false });
    assert.equal(await statusOf(id), 'DEPROVISIONED');
    assert.deepEqual(await refusal(userApi.suspendUser({ userId: id })), [
      403,
      'E0000038',
      "The operation is not allowed in the resource's current state: the user is DEPROVISIONED, and suspend needs ACTIVE",
      [],
    ]);
  });

  await t.test('lists them in pages, each once and in the order of their creation', async () => {
    const logins = Array.from({ length: 205 }, (_, turn) => `page-${turn}`);
    for (const login of logins) await userApi.createUser({ body: { profile: { login } } });
    const requests = requestsOf(okta);
    const listed = await all(userApi.listUsers({ search: 'profile.login sw "page-"', limit: 100 }));
    assert.deepEqual(
      listed.map(({ profile }) => profile?.login),
      logins,
    );
    assert.equal(requests.length, 3);
    assert.match(requests[2] ?? '', /^GET \/api\/v1\/users\?search=profile\.login[^&]*&limit=100&after=\d+$/);
    assert.deepEqual(shown(listed[0]), shown(await userApi.getUser({ userId: 'page-0' })), 'as each one is read');

    const some: (string | undefined)[] = [];
    await (await userApi.listUsers({ q: 'page-', limit: 2 })).each(({ profile }) => {
      some.push(profile?.login);
      return some.length < 3;
    });
    assert.deepEqual(some, logins.slice(0, 3));
  });

  await t.test('finds them by q, filter and search', async () => {
    const login = 'grace';
    const { id } = await userApi.createUser({ body: { profile: { login, email: 'grace@example.com', lastName: "O'Hopper" } } });
    await userApi.createUser({ body: { profile: { login: 'gone' } }, activate: false });
    await userApi.deactivateUser({ userId: 'gone' });
    const found = async (query: { q?: string; filter?: string; search?: string }) =>
      (await all(userApi.listUsers(query))).map(({ profile }) => profile?.login);
    for (const query of [
      { q: 'gra' },
      { filter: 'profile.email eq "grace@example.com"' },
      { filter: `id eq "${id}"` },
      { search: `profile.lastName eq "O'Hopper" and status eq "ACTIVE"` },
      { search: 'profile.login eq "grace" and created gt "2020-01-01T00:00:00.000Z"' },
    ]) {
      assert.deepEqual(await found(query), [login], JSON.stringify(query));
    }
    assert.deepEqual(await found({ q: 'gone' }), [], 'a deactivated one is in no plain list');
    assert.deepEqual(await found({ filter: 'status eq "DEPROVISIONED" and profile.login eq "gone"' }), ['gone']);
    assert.deepEqual(await found({ search: 'profile.login eq "nobody"' }), []);
    assert.deepEqual(await refusal(all(userApi.listUsers({ search: 'shoeSize eq "42"' }))), [
      400,
      'E0000001',
      'Api validation failed',
      ['search: shoeSize is not an attribute to filter by'],
    ]);
  });

  await t.test('is refused as the SDK expects it', async () => {
    const { id: userId } = await create('taken');
    assert.deepEqual(await refusal(userApi.createUser({ body: { profile: { email: 'x', profileUrl: 'javascript:alert(1)' } } })), [
      400,
      'E0000001',
      'Api validation failed',
      [
        'profile.login: is required',
        'profile.email: must be an e-mail address',
        'profile.profileUrl: must be a URL that begins with https:// or http://',
      ],
    ]);
    assert.deepEqual(await refusal(userApi.createUser({ body: { profile: { login: 'taken' } } })), [
      409,
      'E0000014',
      'The request conflicts with an existing resource',
      ['profile.login: another user has this login'],
    ]);
    assert.deepEqual((await refusal(userApi.createUser({ body: { profile: { login: 'x' }, type: { id: 'x' } } })))[3], [
      'type: is not a field of this resource',
    ]);
    assert.deepEqual((await refusal(userApi.createUser({ body: { profile: { login: 'x', shoeSize: '42' } as never } })))[3], [
      'profile.shoeSize: is not a field of this resource',
    ]);
    assert.deepEqual(await refusal(oktaClient(service, 'no-token-of-this-service-0123456789').userApi.getUser({ userId })), [
      401,
      'E0000011',
      'Invalid token provided',
      [],
    ]);
  });
});
