/** The claims that a server adds to its tokens by itself (management API, "claims"; RFC 9068 section 2.2, RFC 7662 section 2.2, OpenID Connect Core section 5.1.2). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { LARGEST_TOKEN } from '../../../src/features/authorization-servers/token-size.policy.ts';
import { serverClaims } from '../../../src/protocol/token/server-claims.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, challengeOf, createClient, post, tokensFor, userinfo, verifier } from './relying-party.ts';

type Values = Record<string, unknown>;

const RESOURCE = { claimType: 'RESOURCE' };
const IDENTITY = { claimType: 'IDENTITY' };
const SCOPE = 'openid profile email offline_access';

async function created(service: Service, path: string, body: unknown): Promise<{ id: string; path: string }> {
  const answer = await service.api('POST', path, body);
  assert.ok([200, 201].includes(answer.status), `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return { id: answer.body.id, path: `${path}/${answer.body.id}` };
}

/** A custom server, and what makes claims on it. */
async function makeServer(service: Service, settings: Values = {}) {
  const { id } = await created(service, '/authorizationServers', {
    name: `Server ${randomBytes(4).toString('hex')}`,
    signingAlg: 'ES256',
    ...settings,
  });
  const claim = (name: string, rest: Values) =>
    created(service, `/authorizationServers/${id}/claims`, { name, valueType: 'STATIC', value: 'x', ...rest });
  const scope = (name: string, rest: Values = {}) => created(service, `/authorizationServers/${id}/scopes`, { name, ...rest });
  return { serverId: id, claim, scope };
}

async function joinGroups(service: Service, userId: string, ...names: string[]): Promise<void> {
  for (const name of names) {
    const { path } = await created(service, '/groups', { profile: { name } });
    assert.equal((await service.api('PUT', `${path}/users/${userId}`)).status, 204);
  }
}

/** A user whose group names are far more than a token holds. */
async function joinTwoThousandGroups(service: Service, userId: string): Promise<void> {
  await onServer(service.database.url, async (client) => {
    await client.query(
      `INSERT INTO groups (id, name, created, last_updated) SELECT 'g' || n, 'group number ' || n, now(), now() FROM generate_series(1, 2000) n`,
    );
    await client.query(
      `INSERT INTO group_members (group_id, user_id, created) SELECT 'g' || n, $1, now() FROM generate_series(1, 2000) n`,
      [userId],
    );
  });
}

/** What tokens say beyond the protocol. */
const OWN = ['plan', 'department', 'teams', 'orgs', 'org_ids', 'deps', 'dep_names'];
const own = (values: Values): Values => Object.fromEntries(Object.entries(values).filter(([name]) => OWN.includes(name)));

test('each type of value, in access tokens, ID tokens, userinfo and introspection', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ department: 'Engines' });
  await joinGroups(service, user.id, 'app-user', 'app-admin', 'staff');
  const { body: org } = await service.api('POST', '/account/org?orgName=Analytical');
  const { body: dep } = await service.api('POST', `/account/org/${org.orgId}/department`, { name: 'Mill' });
  await service.api('PUT', `/account/org/${org.orgId}/member/${user.id}`, { depId: dep.depId });
  const { serverId, claim } = await makeServer(service);
  for (const type of [RESOURCE, IDENTITY]) {
    await claim('plan', { ...type, value: 'gold' });
    await claim('department', { ...type, valueType: 'USER_ATTRIBUTE', value: 'user.profile.department' });
    await claim('teams', { ...type, valueType: 'GROUPS', group_filter_type: 'REGEX', value: 'app-.*' });
    await claim('orgs', { ...type, valueType: 'ORGANIZATION', value: undefined });
    await claim('org_ids', { ...type, valueType: 'ORGANIZATION', value: 'id' });
    await claim('deps', { ...type, valueType: 'DEPARTMENT', value: undefined });
    await claim('dep_names', { ...type, valueType: 'DEPARTMENT', value: 'name' });
    await claim('off', { ...type, status: 'INACTIVE' });
  }
  const expected = {
    plan: 'gold',
    department: 'Engines',
    teams: ['app-admin', 'app-user'],
    orgs: [{ orgId: org.orgId, name: 'Analytical' }],
    org_ids: [org.orgId],
    deps: [{ depId: dep.depId, name: 'Mill', orgId: org.orgId }],
    dep_names: ['Mill'],
  };
  const client = await createClient(service);
  const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
  const introspect = async (token: string) => (await post(service, serverId, 'introspect', client, { token })).body;

  const access = decodeJwt(tokens.access_token);
  assert.deepEqual(own(access), expected);
  assert.equal('off' in access, false);
  assert.deepEqual(own(decodeJwt(tokens.id_token)), expected);
  assert.deepEqual(own((await userinfo(service, serverId, tokens.access_token)).body), expected);
  const told = await introspect(tokens.access_token);
  assert.deepEqual(own(told), expected);
  assert.deepEqual([told.active, told.username, told.uid, told.sub, told.scope], [true, user.login, user.id, user.id, SCOPE]);
  assert.deepEqual(own(await introspect(tokens.id_token)), expected);
  assert.deepEqual(own(await introspect(tokens.refresh_token)), {}, 'a refresh token holds none');

  const machine = await service.createApp({ application_type: 'service' });
  const { body: machines } = await post(service, serverId, 'token', machine, { grant_type: 'client_credentials' });
  assert.deepEqual(own(decodeJwt(machines.access_token)), { plan: 'gold' }, 'an application by itself has fixed values alone');
  assert.deepEqual(own(await introspect(machines.access_token)), { plan: 'gold' });

  const elsewhere = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default', scope: SCOPE });
  assert.deepEqual(own(decodeJwt(elsewhere.body.access_token)), {}, 'another server’s tokens hold none');
  assert.deepEqual(own(decodeJwt(elsewhere.body.id_token)), {});

  const stored = await onServer(
    service.database.url,
    async (sql) => (await sql.query(`SELECT string_agg(payload::text, ' ') AS all FROM oidc_payload`)).rows[0].all,
  );
  assert.ok(stored.includes(client.clientId));
  for (const value of ['gold', 'Engines', 'Analytical']) assert.ok(!stored.includes(value), `${value} is stored with a token`);
});

test('a claim with conditions is told where one of its scopes is granted; every change is effective at the next request', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ department: 'Engines' });
  const { serverId, claim, scope } = await makeServer(service);
  await scope('orders');
  const conditional = { conditions: { scopes: ['orders', 'email'] } };
  await claim('plan', { ...RESOURCE, ...conditional });
  const { path } = await claim('teams', { ...IDENTITY, ...conditional });
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const held = async (asked: string) => {
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope: asked });
    const claims = [decodeJwt(body.access_token), decodeJwt(body.id_token), (await userinfo(service, serverId, body.access_token)).body];
    return claims.map((values) => Object.keys(own(values)).join());
  };
  assert.deepEqual(await held('openid profile'), ['', '', '']);
  assert.deepEqual(await held('openid profile orders'), ['plan', 'teams', 'teams']);
  assert.deepEqual(await held('openid email'), ['plan', 'teams', 'teams']);

  const { body } = await service.api('GET', path);
  assert.equal((await service.api('PUT', path, { ...body, status: 'INACTIVE' })).status, 200);
  assert.deepEqual(await held('openid email'), ['plan', '', '']);
  assert.equal((await service.api('PUT', path, { ...body, conditions: {} })).status, 200);
  assert.deepEqual(await held('openid profile'), ['', 'teams', 'teams']);
  assert.equal((await service.api('DELETE', path)).status, 204);
  assert.deepEqual(await held('openid email'), ['plan', '', '']);
});

test('userinfo tells the server’s claims to a token without openid too, those of scope openid not', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { serverId, claim } = await makeServer(service);
  await claim('plan', IDENTITY);
  await claim('teams', { ...IDENTITY, conditions: { scopes: ['openid'] } });
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  for (const [scope, expected] of [
    ['email', { plan: 'x' }],
    ['openid email', { plan: 'x', teams: 'x' }],
  ] as const) {
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope });
    assert.deepEqual(own((await userinfo(service, serverId, body.access_token)).body), expected, scope);
  }
});

test('values are those of the moment of issue, and of use at userinfo', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ department: 'Engines' });
  const { serverId, claim } = await makeServer(service);
  for (const type of [RESOURCE, IDENTITY]) await claim('department', { ...type, valueType: 'USER_ATTRIBUTE', value: 'department' });
  await claim('teams', { ...IDENTITY, valueType: 'GROUPS', value: '', group_filter_type: 'STARTS_WITH' });
  const client = await createClient(service);
  const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
  await service.api('POST', `/users/${user.id}`, { profile: { department: 'Poetry' } });
  await joinGroups(service, user.id, 'poets');
  const introspect = async (token: string) => own((await post(service, serverId, 'introspect', client, { token })).body);
  assert.deepEqual(own((await userinfo(service, serverId, tokens.access_token)).body), { department: 'Poetry', teams: ['poets'] });
  assert.deepEqual(await introspect(tokens.access_token), { department: 'Engines' }, 'a JWT says what it says');
  const { body: later } = await post(service, serverId, 'token', client, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
  });
  assert.deepEqual(own(decodeJwt(later.access_token)), { department: 'Poetry' });
  assert.deepEqual(own(decodeJwt(later.id_token)), { department: 'Poetry', teams: ['poets'] });
});

test('opaque access tokens of a custom server hold no claims: introspection tells the present ones', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ department: 'Engines' });
  const { serverId, claim } = await makeServer(service, { accessTokenFormat: 'opaque' });
  await claim('department', { ...RESOURCE, valueType: 'USER_ATTRIBUTE', value: 'department' });
  await claim('plan', { ...RESOURCE, value: 'gold', conditions: { scopes: ['email'] } });
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
  const introspect = async (token: string) => own((await post(service, serverId, 'introspect', client, { token })).body);
  const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
  assert.deepEqual(await introspect(tokens.access_token), { department: 'Engines', plan: 'gold' });
  await service.api('POST', `/users/${user.id}`, { profile: { department: 'Poetry' } });
  assert.deepEqual(await introspect(tokens.access_token), { department: 'Poetry', plan: 'gold' });
  assert.deepEqual(await introspect(tokens.refresh_token), {});
  const { body: machines } = await post(service, serverId, 'token', client, { grant_type: 'client_credentials', scope: 'email' });
  assert.deepEqual(await introspect(machines.access_token), { plan: 'gold' });
  await service.api('POST', `/users/${user.id}/lifecycle/deactivate`);
  assert.deepEqual((await post(service, serverId, 'introspect', client, { token: tokens.access_token })).body, { active: false });
});

test('what is not always included is in an ID token only when no access token can be had beside it, at userinfo always', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { serverId, claim } = await makeServer(service);
  await claim('plan', { ...IDENTITY, alwaysIncludeInToken: false });
  const types = ['code', 'id_token', 'code id_token', 'id_token token', 'code id_token token'];
  const client = await createClient(service, { response_types: types });
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client, { serverId, scope: SCOPE });
  assert.deepEqual(own(decodeJwt(body.id_token)), {});
  assert.deepEqual(own((await userinfo(service, serverId, body.access_token)).body), { plan: 'x' });
  for (const response_type of types.slice(1)) {
    const asked = { client_id: client.clientId, response_type, scope: 'openid', code_challenge: challengeOf(verifier()) };
    const { id_token = '' } = answerOf(await browser.visit(authorizeUrl(service, serverId, asked)));
    assert.deepEqual(own(decodeJwt(id_token)), response_type === 'id_token' ? { plan: 'x' } : {}, response_type);
  }
});

test('a claim of a standard name takes the place of the standard one on that server, also without a value', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({
    email: 'ada@example.com',
    secondEmail: 'countess@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
  });
  const { serverId, claim } = await makeServer(service);
  await claim('email', { ...IDENTITY, valueType: 'USER_ATTRIBUTE', value: 'secondEmail' });
  await claim('name', { ...IDENTITY, valueType: 'USER_ATTRIBUTE', value: 'title', conditions: { scopes: ['email'] } });
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const told = async (at: string, scope: string) => {
    const { body } = await tokensFor(service, browser, user, client, { serverId: at, scope });
    return [decodeJwt(body.id_token), (await userinfo(service, at, body.access_token)).body].map(({ email, name, given_name }) => [
      email,
      name,
      given_name,
    ]);
  };
  const second = 'countess@example.com';
  assert.deepEqual(await told(serverId, 'openid profile email'), [
    [second, undefined, 'Ada'],
    [second, undefined, 'Ada'],
  ]);
  assert.deepEqual(await told(serverId, 'openid profile'), [
    [second, 'Ada Lovelace', 'Ada'],
    [second, 'Ada Lovelace', 'Ada'],
  ]);
  assert.deepEqual((await told('default', 'openid profile email'))[0], ['ada@example.com', 'Ada Lovelace', 'Ada']);
});

test('the claims that an application chose for its ID tokens narrow the server’s own, which it may choose by name', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const { serverId, claim } = await makeServer(service);
  await claim('plan', IDENTITY);
  await claim('teams', IDENTITY);
  const client = await createClient(service, { id_token_claims: ['email', 'plan'] });
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
  const { email, name, ...rest } = decodeJwt(body.id_token);
  assert.deepEqual([email, name, own(rest)], ['ada@example.com', undefined, { plan: 'x' }]);
  assert.deepEqual(own((await userinfo(service, serverId, body.access_token)).body), { plan: 'x', teams: 'x' }, 'userinfo tells all');
});

test('scope groups tells the names of the groups in the ID token and at userinfo, unless the server’s own claim of that name decides', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await joinGroups(service, user.id, 'staff', 'app-admin', '<b>Ж\u202e</b>');
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const told = async (serverId: string, scope: string, who: { login: string; password: string } = user, by = browser) => {
    const { body } = await tokensFor(service, by, who, client, { serverId, scope });
    return [decodeJwt(body.id_token).groups, (await userinfo(service, serverId, body.access_token)).body.groups];
  };
  const all = ['<b>Ж\u202e</b>', 'app-admin', 'staff'];
  const custom = await makeServer(service);
  for (const serverId of ['built-in', custom.serverId]) {
    assert.deepEqual(await told(serverId, 'openid profile groups'), [all, all], serverId);
    assert.deepEqual(await told(serverId, 'openid profile'), [undefined, undefined], serverId);
  }
  await custom.claim('groups', { ...IDENTITY, valueType: 'GROUPS', group_filter_type: 'STARTS_WITH', value: 'app-' });
  assert.deepEqual(await told(custom.serverId, 'openid profile groups'), [['app-admin'], ['app-admin']]);
  assert.deepEqual(await told(custom.serverId, 'openid profile'), [['app-admin'], ['app-admin']]);
  const loner = await service.createUser();
  assert.deepEqual(
    await told('built-in', 'openid profile groups', loner, new UserAgent(service.baseUrl)),
    [undefined, undefined],
    'no groups, no claim',
  );
});

test('discovery names the active IDENTITY claims, and no scope that is published to nobody (OpenID Connect Discovery section 3)', async (t) => {
  const service = await startService(t);
  const { serverId, claim, scope } = await makeServer(service);
  await claim('plan', IDENTITY);
  await claim('off', { ...IDENTITY, status: 'INACTIVE' });
  await claim('for_apis', RESOURCE);
  await scope('orders');
  await scope('secret', { metadataPublish: 'NO_CLIENTS' });
  for (const document of ['openid-configuration', 'oauth-authorization-server']) {
    const response = await fetch(`${service.issuer(serverId)}/.well-known/${document}`);
    const { claims_supported: claims, scopes_supported: scopes } = (await response.json()) as Record<string, string[]>;
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(
      ['plan', 'groups', 'email', 'sub', 'off', 'for_apis'].map((name) => claims?.includes(name)),
      [true, true, true, true, false, false],
    );
    assert.deepEqual(
      ['openid', 'orders', 'secret'].map((name) => scopes?.includes(name)),
      [true, true, false],
    );
  }
  const machine = await service.createApp({ application_type: 'service' });
  const { body } = await post(service, serverId, 'token', machine, { grant_type: 'client_credentials', scope: 'secret orders' });
  assert.equal(body.scope, 'secret orders', 'it is granted all the same');
});

for (const signingAlg of ['RS256', 'ES256']) {
  test(`a user in 2,000 groups gets tokens smaller than 8 KiB: the largest claims stay out (${signingAlg})`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser({ department: 'Engines' });
    await joinTwoThousandGroups(service, user.id);
    const { serverId, claim } = await makeServer(service, { signingAlg });
    for (const type of [RESOURCE, IDENTITY]) {
      await claim('teams', { ...type, valueType: 'GROUPS', group_filter_type: 'CONTAINS', value: '' });
      await claim('orgs', { ...type, valueType: 'GROUPS', group_filter_type: 'CONTAINS', value: 'number 19' });
      await claim('plan', { ...type, value: 'x'.repeat(1500) });
      await claim('department', { ...type, valueType: 'USER_ATTRIBUTE', value: 'department' });
    }
    const client = await createClient(service, { response_types: ['code', 'id_token'] });
    const browser = new UserAgent(service.baseUrl);
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope: SCOPE });
    const asked = { client_id: client.clientId, response_type: 'id_token', scope: 'openid groups', nonce: 'n'.repeat(2000) };
    const { id_token: direct = '' } = answerOf(await browser.visit(authorizeUrl(service, serverId, asked)));
    const tokens = { access: body.access_token, id: body.id_token, direct };
    for (const [name, token] of Object.entries(tokens)) {
      assert.ok(token.length <= LARGEST_TOKEN, `${name}: ${token.length}`);
      // `teams` and the standard `groups` name all groups, `orgs` some hundred of them, and the nonce takes the room of those.
      const held = name === 'direct' ? ['department', 'plan'] : ['department', 'orgs', 'plan'];
      assert.deepEqual(Object.keys(own(decodeJwt(token))).sort(), held, name);
      assert.equal('groups' in decodeJwt(token), false, name);
    }
    const told = (await userinfo(service, serverId, body.access_token)).body;
    assert.equal(told.teams.length, 2000, 'userinfo tells all');
    assert.equal((await post(service, serverId, 'introspect', client, { token: body.access_token })).body.active, true);
  });
}

test('the built-in server’s ID token leaves 2,000 groups to userinfo', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await joinTwoThousandGroups(service, user.id);
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, await createClient(service), {
    scope: 'openid profile groups',
  });
  assert.ok(body.id_token.length <= LARGEST_TOKEN);
  assert.equal(decodeJwt(body.id_token).groups, undefined);
  assert.equal((await userinfo(service, 'built-in', body.access_token)).body.groups.length, 2000);
});

test('standard claims never stay out, however large the token becomes', async (t) => {
  const service = await startService(t);
  const long = 'x'.repeat(255);
  const profile = {
    firstName: long,
    lastName: long,
    middleName: long,
    nickName: long,
    profileUrl: `https://example.com/${'x'.repeat(2000)}`,
    zoneinfo: long,
  };
  const user = await service.createUser({ ...profile, email: `${'x'.repeat(60)}@example.com` });
  const { serverId, claim } = await makeServer(service);
  await claim('plan', { ...IDENTITY, value: 'x'.repeat(3000) });
  const client = await createClient(service, { response_types: ['code', 'id_token'] });
  const asked = { client_id: client.clientId, response_type: 'id_token', scope: 'openid profile email', nonce: 'n'.repeat(2000) };
  const browser = new UserAgent(service.baseUrl);
  const { id_token = '' } = answerOf(await browser.signIn(await browser.visit(authorizeUrl(service, serverId, asked)), user));
  const claims = decodeJwt(id_token);
  assert.deepEqual([claims.profile, claims.nonce, claims.plan], [profile.profileUrl, asked.nonce, undefined]);
});

test('what stays out is told to the log, names and never values', async () => {
  const lines: Values[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const groups = Array.from({ length: 2000 }, (_, number) => `secret society ${number}`);
  const claim = {
    id: 'c',
    valueType: 'GROUPS',
    value: '',
    scopes: [],
    alwaysIncludeInToken: true,
    groupFilterType: 'STARTS_WITH',
    valueFormat: 'TEXT',
    status: 'ACTIVE',
  } as const;
  const account = { id: 'u', login: 'ada', email: null, emailVerified: false, status: 'ACTIVE', profile: {}, lastUpdated: new Date() };
  const claims = serverClaims({
    serverId: 'orders',
    claims: [
      { ...claim, name: 'teams', claimType: 'RESOURCE' },
      { ...claim, name: 'plan', claimType: 'RESOURCE', valueType: 'STATIC', value: 'gold' },
    ],
    log,
    readAccount: async () => account,
    readBelongings: async () => ({ groups, memberships: [] }),
  });
  assert.deepEqual(await claims.forAccessToken({ clientId: 'app', accountId: 'u', scope: 'openid' }, { iss: 'x' }), { plan: 'gold' });
  const [line, ...more] = lines;
  assert.equal(more.length, 0);
  assert.deepEqual([line?.server, line?.application, line?.claims], ['orders', 'app', ['teams']]);
  assert.ok(!JSON.stringify(line).includes('society'));
});

test('a scope that was deleted is granted no more when a token is refreshed', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { serverId, scope } = await makeServer(service);
  const { path } = await scope('orders');
  const client = await createClient(service);
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, {
    serverId,
    scope: 'openid orders offline_access',
  });
  assert.equal((await service.api('DELETE', path)).status, 204);
  const { status, body: later } = await post(service, serverId, 'token', client, {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
  });
  assert.deepEqual([status, later.scope, decodeJwt(later.access_token).scope], [200, 'openid offline_access', 'openid offline_access']);
});

test('a server whose claims need groups reads groups and memberships in one statement for all tokens of a request', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const counted = await countingProxy(t, database);
  const service = await startService(t, { beside: { database: counted, secretKey: newSecretKey() } });
  const user = await service.createUser();
  await joinGroups(service, user.id, 'staff');
  const { serverId, claim } = await makeServer(service);
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  let { body } = await tokensFor(service, browser, user, client, { serverId, scope: SCOPE });
  const cost = async () => {
    const counts: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      counted.taken();
      ({ body } = await post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token }));
      counts.push(counted.taken().length);
    }
    return Math.min(...counts);
  };
  const without = await cost();
  await claim('plan', RESOURCE);
  await claim('department', { ...IDENTITY, valueType: 'USER_ATTRIBUTE', value: 'department' });
  assert.equal(await cost(), without, 'fixed values and attributes cost nothing');
  for (const type of [RESOURCE, IDENTITY])
    await claim('teams', { ...type, valueType: 'GROUPS', group_filter_type: 'EQUALS', value: 'staff' });
  await claim('orgs', { ...IDENTITY, valueType: 'ORGANIZATION', value: 'id' });
  assert.equal(await cost(), without + 1);
  assert.deepEqual(decodeJwt(body.id_token).teams, ['staff']);
});
