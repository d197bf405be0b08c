/** Users by Okta's SDK, and their belongings: groups, applications, roles, consents and factors (management API, "users"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { enrolledUser } from '../../support/factors.ts';
import { setScope } from '../../support/scopes.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed } from './client.ts';

const PASSWORD = { password: { value: 'correct horse battery' } };
/** Every attribute that the SDK has a name for. */
const PROFILE = {
  ...{ login: 'ada', email: 'ada@example.com', secondEmail: 'ada@example.org', firstName: '<b>Ada</b>', lastName: 'لوفليس' },
  ...{ middleName: 'King', honorificPrefix: 'Countess', honorificSuffix: 'FRS', title: 'Analyst', displayName: 'Ada Lovelace' },
  ...{ nickName: 'A. A. L.', profileUrl: 'https://example.com/ada', primaryPhone: '+44 1', mobilePhone: '+44 2' },
  ...{ streetAddress: '12 St James’s Square', city: 'London', state: 'England', zipCode: 'SW1', countryCode: 'GB' },
  ...{ postalAddress: 'London SW1', preferredLanguage: 'en-GB', locale: 'en_GB', timezone: 'Europe/London' },
  ...{ userType: 'Pioneer', employeeNumber: '1', costCenter: '2', organization: 'Analytical Society', division: 'Engines' },
  ...{ department: 'Notes', managerId: '3', manager: 'Charles' },
};
/** As it is answered. */
const SHOWN = { ...PROFILE, emailVerified: false };

test('users by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const { userApi, groupApi, applicationApi, roleAssignmentApi, userFactorApi } = okta;
  const api = `${service.baseUrl}/api/v1`;

  /** All that the SDK shows of a user beside the times. */
  const described = (id: string, status: string, profile: Record<string, unknown>, steps: Record<string, string>) => ({
    id,
    status,
    profile,
    credentials: { provider: { type: 'OKTA', name: 'GATEHOUSE' } },
    _links: {
      self: { href: `${api}/users/${id}` },
      ...Object.fromEntries(Object.entries(steps).map(([link, step]) => [link, { href: `${api}/users/${id}/lifecycle/${step}` }])),
    },
  });
  const create = async (login: string): Promise<string> => String((await userApi.createUser({ body: { profile: { login } } })).id);
  const statusOf = async (userId: string) => (await userApi.getUser({ userId })).status;

  await t.test('create, read, update, replace, delete', async () => {
    const user = await userApi.createUser({ body: { profile: PROFILE, credentials: PASSWORD }, activate: true });
    const made = timed(user, 'created', 'activated', 'statusChanged', 'lastUpdated', 'passwordChanged');
    const id = String(user.id);
    const steps = { deactivate: 'deactivate', suspend: 'suspend', expirePassword: 'expire_password', resetPassword: 'reset_password' };
    assert.deepEqual(made.rest, { ...described(id, 'ACTIVE', SHOWN, steps), lastLogin: null });
    assert.deepEqual(shown(await userApi.getUser({ userId: id })), shown(user), 'by id');
    assert.deepEqual(shown(await userApi.getUser({ userId: 'ada' })), shown(user), 'by login');

    const changed = await userApi.updateUser({ userId: id, user: { profile: { title: 'Programmer' } } });
    assert.deepEqual(shown(changed.profile), { ...SHOWN, title: 'Programmer' });
    // As the SDK's own examples do it: read, change the object, send all of it back.
    const whole = await userApi.getUser({ userId: id });
    assert.ok(whole.profile !== undefined && whole.profile !== null);
    whole.profile.city = 'Ockham';
    const sentBack = await userApi.updateUser({ userId: id, user: whole as never });
    assert.deepEqual(shown(sentBack.profile), { ...SHOWN, title: 'Programmer', city: 'Ockham' });
    assert.equal((await userApi.getUser({ userId: id })).profile?.city, 'Ockham', 'the SDK remembers nothing older');

    const replaced = await userApi.replaceUser({ userId: id, user: { profile: { login: 'ada', firstName: 'Ada' } } });
    assert.deepEqual(shown(replaced.profile), { login: 'ada', firstName: 'Ada' }, 'what is not sent is gone');
    await userApi.deleteUser({ userId: id });
    assert.equal(await statusOf(id), 'DEPROVISIONED', 'the first call deactivates');
    await userApi.deleteUser({ userId: id, sendEmail: false });
    assert.equal((await refusal(userApi.getUser({ userId: id })))[0], 404);
  });

  await t.test('a staged user has times that are null; a password is given as a hash; each step has its call', async () => {
    const value = createHash('sha256').update('salt').update(PASSWORD.password.value).digest('base64');
    const hash = { algorithm: 'SHA-256', salt: Buffer.from('salt').toString('base64'), saltOrder: 'PREFIX', value } as const;
    const credentials = { password: { hash } };
    const imported = await userApi.createUser({ body: { profile: { login: 'imported' }, credentials } });
    assert.ok(imported.passwordChanged instanceof Date);

    const staged = await userApi.createUser({ body: { profile: { login: 'alan' } }, activate: false });
    const id = String(staged.id);
    assert.deepEqual(timed(staged, 'created', 'lastUpdated').rest, {
      ...described(id, 'STAGED', { login: 'alan' }, { activate: 'activate', deactivate: 'deactivate' }),
      ...{ activated: null, statusChanged: null, lastLogin: null, passwordChanged: null },
    });
    const { activationUrl, ...nothingElse } = shown(await userApi.activateUser({ userId: id, sendEmail: false }));
    assert.deepEqual([URL.canParse(String(activationUrl)), nothingElse], [true, {}]);
    assert.equal(await statusOf(id), 'PROVISIONED', 'until there is a password');
    await userApi.updateUser({ userId: id, user: { credentials: PASSWORD } });
    assert.equal(await userApi.suspendUser({ userId: id }), undefined);
    assert.equal(await statusOf(id), 'SUSPENDED');
    await userApi.unsuspendUser({ userId: id });
    const expired = await userApi.expirePassword({ userId: id });
    assert.deepEqual([expired.id, expired.status], [id, 'PASSWORD_EXPIRED']);
    const { resetPasswordUrl, ...nothingMore } = shown(await userApi.generateResetPasswordToken({ userId: id, sendEmail: false }));
    assert.deepEqual([URL.canParse(String(resetPasswordUrl)), nothingMore], [true, {}]);
    await userApi.revokeUserSessions({ userId: id, oauthTokens: true });
    await userApi.deactivateUser({ userId: id, sendEmail: false });
    assert.equal(await statusOf(id), 'DEPROVISIONED');
  });

  await t.test('the list in pages, as far as they are wanted, narrowed by q, filter and search', async () => {
    const logins = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'];
    for (const login of logins) await userApi.createUser({ body: { profile: { login, lastName: "O'Hopper" } } });
    const requests = requestsOf(okta);
    const search = `profile.lastName eq "O'Hopper" and created gt "2020-01-01T00:00:00.000Z"`;
    const listed = await all(userApi.listUsers({ search, limit: 2 }));
    assert.deepEqual(
      listed.map(({ profile }) => profile?.login),
      logins,
    );
    assert.equal(requests.length, 3);
    assert.match(requests[2] ?? '', /^GET \/api\/v1\/users\?search=profile\.lastName[^&]*&limit=2&after=[\w.-]+$/);
    assert.deepEqual(shown(listed[0]), shown(await userApi.getUser({ userId: 'page-1' })), 'as each one is read');
    assert.deepEqual((await all(userApi.listUsers({ filter: 'profile.login eq "page-3"' }))).map(shown), [shown(listed[2])]);
    const some: (string | undefined)[] = [];
    await (await userApi.listUsers({ q: 'page-', limit: 2 })).each(({ profile }) => {
      some.push(profile?.login);
      return some.length < 3;
    });
    assert.deepEqual(some, logins.slice(0, 3));
  });

  await t.test('groups', async () => {
    const groups = ['First', 'Second'].map((name) => groupApi.createGroup({ group: { profile: { name } } }));
    const [first, second] = await Promise.all(groups);
    const user = await userApi.createUser({ body: { profile: { login: 'member' }, groupIds: [String(first?.id), String(first?.id)] } });
    assert.deepEqual((await all(userApi.listUserGroups({ userId: String(user.id) }))).map(shown), [shown(first)]);
    await groupApi.assignUserToGroup({ groupId: String(second?.id), userId: String(user.id) });
    const ids = (await all(userApi.listUserGroups({ userId: 'member' }))).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [first?.id, second?.id].sort(), 'by login, too');
  });

  await t.test('applications that are open to the user and have an address to begin at', async () => {
    const userId = await create('starter');
    const groupId = String((await groupApi.createGroup({ group: { profile: { name: 'Starters' } } })).id);
    const createApp = async (label: string, settings: object, implicitAssignment = true): Promise<string> => {
      const grants = { redirect_uris: ['https://app.example/cb'], response_types: ['code'], grant_types: ['authorization_code'] };
      const application = { name: 'oidc_client', signOnMode: 'OPENID_CONNECT', label, credentials: { oauthClient: {} } };
      const made = { ...application, settings: { implicitAssignment, oauthClient: { ...grants, ...settings } } };
      return String((await applicationApi.createApplication({ application: made as never })).id);
    };
    const client_uri = 'https://app.example/';
    const initiate_login_uri = 'https://app.example/login';
    const forAll = await createApp('For all', { client_uri, initiate_login_uri, logo_uri: 'https://app.example/logo.png' });
    const ofUser = await createApp('Of the user', { client_uri }, false);
    const ofGroup = await createApp('Of the group', { initiate_login_uri }, false);
    await createApp('Of another user', { client_uri }, false);
    await createApp('Without address', {});
    await applicationApi.deactivateApplication({ appId: await createApp('Inactive', { client_uri }) });
    await applicationApi.assignUserToApplication({ appId: ofUser, appUser: { id: userId } });
    await applicationApi.assignGroupToApplication({ appId: ofGroup, groupId });
    await groupApi.assignUserToGroup({ groupId, userId });
    const link = (id: string, label: string, linkUrl: string, logoUrl: string | null = null) => ({
      ...{ id, label, linkUrl, logoUrl },
      ...{ appName: 'oidc_client', appInstanceId: id, hidden: false },
    });
    assert.deepEqual((await all(userApi.listAppLinks({ userId }))).map(shown), [
      link(forAll, 'For all', initiate_login_uri, 'https://app.example/logo.png'),
      link(ofUser, 'Of the user', client_uri),
      link(ofGroup, 'Of the group', initiate_login_uri),
    ]);
    const [another, ...others] = await all(userApi.listAppLinks({ userId: await create('another') }));
    assert.deepEqual([another?.label, others], ['For all', []]);
  });

  await t.test('roles', async () => {
    const userId = await create('reader');
    const given = await roleAssignmentApi.assignRoleToUser({ userId, assignRoleRequest: { type: 'READ_ONLY_ADMIN' } });
    const { rest } = timed(given, 'created', 'lastUpdated');
    const roleId = String(rest.id);
    assert.deepEqual(rest, {
      ...{ id: roleId, label: 'Read-only Administrator', type: 'READ_ONLY_ADMIN', status: 'ACTIVE', assignmentType: 'USER' },
      _links: { assignee: { href: `${api}/users/${userId}` } },
    });
    assert.deepEqual(shown(await roleAssignmentApi.getUserAssignedRole({ userId, roleId })), shown(given));
    assert.deepEqual((await all(roleAssignmentApi.listAssignedRolesForUser({ userId }))).map(shown), [shown(given)]);
    await roleAssignmentApi.unassignRoleFromUser({ userId, roleId });
    assert.deepEqual(await all(roleAssignmentApi.listAssignedRolesForUser({ userId })), []);
  });

  await t.test('consents, a scope each', async () => {
    await setScope(service, 'email', { consent: 'REQUIRED' });
    const user = await service.createUser();
    const { clientId } = await createClient(service, { consent_method: 'REQUIRED' });
    const browser = new UserAgent(service.baseUrl);
    const request = authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid email' });
    const allow = async () => browser.submit(await browser.visit(request), 'consent', { decision: 'allow' });
    await browser.signIn(await browser.visit(request), user);
    await allow();
    const { id: userId } = user;
    const [grant, ...others] = await all(userApi.listUserGrants({ userId }));
    assert.deepEqual(others, []);
    const grantId = String(grant?.id);
    assert.deepEqual(timed(grant, 'created', 'lastUpdated').rest, {
      ...{ id: grantId, status: 'ACTIVE', issuer: service.issuer('default'), clientId, userId, scopeId: 'email' },
      _links: {
        self: { href: `${api}/users/${userId}/grants/${grantId}` },
        app: { href: `${api}/apps/${clientId}` },
        user: { href: `${api}/users/${userId}` },
        authorizationServer: { href: `${api}/authorizationServers/default` },
      },
    });
    assert.deepEqual(shown(await userApi.getUserGrant({ userId, grantId })), shown(grant));
    assert.equal(await userApi.revokeUserGrant({ userId, grantId }), undefined);
    assert.deepEqual(await all(userApi.listUserGrants({ userId })), []);
    await allow();
    assert.equal(await userApi.revokeUserGrants({ userId }), undefined);
    assert.deepEqual(await all(userApi.listUserGrants({ userId })), []);
  });

  await t.test('second factors (issue 8)', async () => {
    const { id: userId, login } = await enrolledUser(service);
    const [factor] = await all(userFactorApi.listFactors({ userId }));
    const { id, factorType, provider, vendorName, status, profile } = shown(factor);
    assert.deepEqual([factorType, provider, vendorName, status], ['token:software:totp', 'GOOGLE', 'GOOGLE', 'ACTIVE']);
    assert.equal((profile as { credentialId: string }).credentialId, login);
    const factorId = String(id);
    assert.equal(shown(await userFactorApi.getFactor({ userId, factorId })).id, factorId);
    assert.equal(await userFactorApi.unenrollFactor({ userId, factorId }), undefined);
    assert.deepEqual(await all(userFactorApi.listFactors({ userId })), []);
    const lost = await enrolledUser(service);
    await userApi.resetFactors({ userId: lost.id });
    assert.deepEqual(await all(userFactorApi.listFactors({ userId: lost.id })), []);
  });
});
