/** Access policies at the OAuth endpoints: who gets tokens, and for how long (management API, "policies"; decisions, "lifetimes"). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessGrantType, RuleConditions } from '../../../src/features/policies/access-policy.policy.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, type JsonAnswer, post, type TestClient, tokensFor } from '../servers/relying-party.ts';

const SCOPE = 'openid profile offline_access';
const only = (conditions: RuleConditions) => [{ rules: [{ conditions }] }];
const forGrants = (...include: AccessGrantType[]) => only({ grantTypes: { include } });

function assertDenied({ status, body }: JsonAnswer, message?: string): void {
  assert.deepEqual([status, body.error], [400, 'access_denied'], message ?? JSON.stringify(body));
  assert.ok(body.error_description.length > 0);
}

/** A user who has signed in on a browser, and an application for all grants. */
async function signedIn(t: TestContext, settings: Record<string, unknown> = {}) {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service, {
    grant_types: ['authorization_code', 'refresh_token', 'implicit', 'client_credentials'],
    response_types: ['code', 'token', 'id_token', 'code token'],
    ...settings,
  });
  const browser = new UserAgent(service.baseUrl);
  assert.equal((await tokensFor(service, browser, user, client, { scope: SCOPE })).status, 200);
  return { service, user, client, browser };
}

const machine = (service: Service, client: TestClient, serverId = 'default'): Promise<JsonAnswer> =>
  post(service, serverId, 'token', client, { grant_type: 'client_credentials' });
const refresh = (service: Service, client: TestClient, token: string): Promise<JsonAnswer> =>
  post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: token });
const silently = async (
  service: Service,
  browser: UserAgent,
  client: TestClient,
  changes: Record<string, string> = {},
  serverId = 'default',
) => answerOf(await browser.visit(authorizeUrl(service, serverId, { client_id: client.clientId, prompt: 'none', ...changes })));

test('a server without a policy that fits gives nothing (RFC 6749 sections 4.1.2.1 and 5.2)', async (t) => {
  const { service, user, client, browser } = await signedIn(t);
  const another = await createClient(service);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  for (const policies of [
    [],
    [{ rules: [] }],
    [{ clients: [another.clientId], rules: [{}] }],
    [{ clients: [], rules: [{}] }],
    [{ status: 'INACTIVE', rules: [{}] }],
    [{ rules: [{ status: 'INACTIVE' }] }],
  ] as const) {
    await setPolicies(service, 'default', policies);
    const answer = await silently(service, browser, client);
    assert.deepEqual([answer.error, answer.state, answer.code], ['access_denied', 'some-state', undefined], JSON.stringify(policies));
    assertDenied(await machine(service, client));
    assertDenied(await refresh(service, client, body.refresh_token));
  }
  await setPolicies(service, 'default', [{ rules: [{}] }]);
  assert.ok((await silently(service, browser, client)).code);
  const again = await refresh(service, client, body.refresh_token);
  assert.equal(again.status, 200, 'what was denied used nothing up');
});

test('a rule whose only user or group is deleted fits nobody, not everyone; so does a policy whose only application is', async (t) => {
  const { service, client, browser } = await signedIn(t);
  const other = await service.createUser();
  const { id: group } = (await service.api('POST', '/groups', { profile: { name: 'Staff' } })).body;
  const closed = async () => {
    assert.equal((await silently(service, browser, client)).error, 'access_denied');
    assertDenied(await machine(service, client));
  };
  await setPolicies(service, 'default', [
    {
      rules: [{ conditions: { people: { users: { include: [other.id] } } } }, { conditions: { people: { groups: { include: [group] } } } }],
    },
  ]);
  await closed();
  for (const _ of ['deactivated', 'deleted']) await service.api('DELETE', `/users/${other.id}`);
  await service.api('DELETE', `/groups/${group}`);
  await closed();

  const gone = await createClient(service);
  await setPolicies(service, 'default', [{ clients: [gone.clientId], rules: [{}] }]);
  await closed();
  await service.api('DELETE', `/apps/${gone.clientId}`);
  await closed();
});

test('who is judged is who signs in: the sign-in page comes first, then the denial by redirect', async (t) => {
  const service = await startService(t);
  const [ada, bob, client] = [await service.createUser(), await service.createUser(), await createClient(service)];
  await setPolicies(service, 'default', only({ people: { users: { include: [ada.id] } } }));
  for (const [user, error] of [
    [ada, undefined],
    [bob, 'access_denied'],
  ] as const) {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId }));
    assert.match(page.text, /id="sign-in-form"/);
    const answer = answerOf(await browser.signIn(page, user));
    assert.deepEqual([answer.error, answer.code === undefined, answer.state], [error, error !== undefined, 'some-state']);
  }
});

test('a rule for groups follows their members from one request to the next, and a refresh that was denied may be tried again', async (t) => {
  const { service, user, client, browser } = await signedIn(t, { refresh_token: { leeway: 0 } });
  const group = (await service.api('POST', '/groups', { profile: { name: 'Staff' } })).body.id;
  await setPolicies(service, 'default', only({ people: { groups: { include: [group] } } }));
  assert.equal((await silently(service, browser, client)).error, 'access_denied');
  assertDenied(await machine(service, client), 'an application is in no group');

  const member = (method: string) => service.api(method, `/groups/${group}/users/${user.id}`);
  await member('PUT');
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  await member('DELETE');
  assertDenied(await refresh(service, client, body.refresh_token));
  await member('PUT');
  assert.equal((await refresh(service, client, body.refresh_token)).status, 200);
});

test('what a rule says of lifetimes holds in place of the server’s, for every token', async (t) => {
  const { service, user, client, browser } = await signedIn(t);
  const token = { accessTokenLifetimeMinutes: 2, refreshTokenLifetimeMinutes: 10, refreshTokenWindowMinutes: 4 };
  await setPolicies(service, 'default', [{ rules: [{ actions: { token } }] }]);
  const lifeOf = async (by: TestClient, value: string) => {
    const { exp, iat } = (await post(service, 'default', 'introspect', by, { token: value })).body;
    return exp - iat;
  };
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  assert.equal(body.expires_in, 120);
  assert.deepEqual([await lifeOf(client, body.access_token), await lifeOf(client, body.refresh_token)], [120, 240]);
  const refreshed = (await refresh(service, client, body.refresh_token)).body;
  assert.deepEqual([refreshed.expires_in, await lifeOf(client, refreshed.refresh_token)], [120, 240]);
  assert.equal((await machine(service, client)).body.expires_in, 120);
  assert.equal((await silently(service, browser, client, { response_type: 'token' })).expires_in, '120');

  const lasting = await createClient(service, { refresh_token: { rotation_type: 'STATIC' } });
  const first = (await tokensFor(service, browser, user, lasting, { serverId: 'default', scope: SCOPE })).body;
  await setPolicies(service, 'default', [{ rules: [{ actions: { token: { ...token, refreshTokenWindowMinutes: 6 } } }] }]);
  assert.equal((await refresh(service, lasting, first.refresh_token)).status, 200);
  const slid = await lifeOf(lasting, first.refresh_token);
  assert.ok(slid >= 360 && slid < 370, `${slid} seconds`);
  await setPolicies(service, 'default', []);
  assertDenied(await refresh(service, lasting, first.refresh_token));
});

test('a refresh is judged as the grant that it continues; a hybrid request must be allowed for both of its grants', async (t) => {
  const { service, user, client, browser } = await signedIn(t);
  await setPolicies(service, 'default', forGrants('authorization_code'));
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  const second = await refresh(service, client, body.refresh_token);
  assert.equal((await refresh(service, client, second.body.refresh_token)).status, 200);
  for (const type of ['token', 'id_token', 'code token'] as const) {
    assert.equal((await silently(service, browser, client, { response_type: type })).error, 'access_denied', type);
  }
  assertDenied(await machine(service, client));

  await setPolicies(service, 'default', forGrants('implicit', 'authorization_code'));
  const hybrid = await silently(service, browser, client, { response_type: 'code token' });
  assert.ok(hybrid.code && hybrid.access_token);
  await setPolicies(service, 'default', forGrants('client_credentials'));
  assert.equal((await machine(service, client)).status, 200);
  assertDenied(await refresh(service, client, second.body.refresh_token));
});

test('the password grant is judged like the others, and only once the password was right', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service, { grant_types: ['password', 'refresh_token'], redirect_uris: [], response_types: [] });
  const sign = (password: string) =>
    post(service, 'default', 'token', client, { grant_type: 'password', username: user.login, password, scope: SCOPE });
  await setPolicies(service, 'default', forGrants('password'));
  const { status, body } = await sign(user.password);
  assert.deepEqual([status, (await refresh(service, client, body.refresh_token)).status], [200, 200]);
  await setPolicies(service, 'default', forGrants('authorization_code'));
  assertDenied(await sign(user.password));
  assert.equal((await sign('wrong')).body.error, 'invalid_grant');
});

test('a rule for scopes: every scope of the request must be named', async (t) => {
  const { service, user, client, browser } = await signedIn(t);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  await setPolicies(service, 'default', only({ scopes: { include: ['openid', 'email', 'offline_access'] } }));
  assert.equal((await silently(service, browser, client, { scope: 'openid profile' })).error, 'access_denied');
  assert.ok((await silently(service, browser, client, { scope: 'openid email' })).code);
  assertDenied(await refresh(service, client, body.refresh_token));
});

test('a code is judged again when it is exchanged', async (t) => {
  const { service, client, browser } = await signedIn(t);
  const { code = '' } = await silently(service, browser, client);
  const exchange = () =>
    post(service, 'default', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/callback' });
  await setPolicies(service, 'default', []);
  assertDenied(await exchange());
  await setPolicies(service, 'default', [{ rules: [{}] }]);
  assert.equal((await exchange()).status, 200);
});

test('the first policy for the application decides, also against the one for all', async (t) => {
  const { service, client } = await signedIn(t);
  const other = await createClient(service, { grant_types: ['client_credentials'] });
  const lifetime = (minutes: number) => [{ actions: { token: { accessTokenLifetimeMinutes: minutes } } }];
  await setPolicies(service, 'default', [
    { clients: [client.clientId], rules: lifetime(1) },
    { clients: ['ALL_CLIENTS'], rules: lifetime(2) },
  ]);
  assert.deepEqual([(await machine(service, client)).body.expires_in, (await machine(service, other)).body.expires_in], [60, 120]);
  await setPolicies(service, 'default', [{ clients: [client.clientId], rules: [] }, { rules: [{}] }]);
  assertDenied(await machine(service, client));
  assert.equal((await machine(service, other)).status, 200);
});

test('groups cost one read a request, and none where no rule names any', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const [user, client] = [await service.createUser(), await createClient(service, { refresh_token: { leeway: 60 } })];
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default', scope: SCOPE });
  const group = (await service.api('POST', '/groups', { profile: { name: 'Staff' } })).body.id;
  await service.api('PUT', `/groups/${group}/users/${user.id}`);
  const readsOfARefresh = async () => {
    database.taken();
    assert.equal((await refresh(service, client, body.refresh_token)).status, 200);
    return database.taken().filter((statement) => statement.includes('group_members')).length;
  };
  assert.equal(await readsOfARefresh(), 0);
  await setPolicies(service, 'default', only({ people: { groups: { include: [group] } } }));
  assert.equal(await readsOfARefresh(), 1);
});
