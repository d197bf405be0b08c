/** SCIM 2.0 (RFC 7643, 7644): tokens and their walls, versions, what a change leaves behind, and the end of sessions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization } from '../../pages/console/administrators.ts';
import { createClient, post, tokensFor } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { ENTERPRISE, GROUP, PATCH, scimClient, USER } from '../../support/scim.ts';
import { API_TOKEN, type ServiceCalls, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const eventsOf = async (service: ServiceCalls, id: string): Promise<string[]> => {
  const { body } = await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent(`target.id eq "${id}"`)}`);
  return body.map(({ eventType }: { eventType: string }) => eventType);
};

test('tokens: each type opens its own door; without one, the answer is in SCIM’s shape and names the scheme (RFC 6750 section 3)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const without = await scim.call('GET', '/Users', undefined, { authorization: '' });
  assert.deepEqual([without.status, without.headers.get('www-authenticate'), without.body.status], [401, 'Bearer', '401']);
  assert.deepEqual(without.body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error']);
  for (const authorization of [`Bearer ${API_TOKEN}`, `SSWS ${scim.token}`, 'Bearer x']) {
    assert.equal((await scim.call('GET', '/Users', undefined, { authorization })).status, 401, authorization);
  }
  const asApi = await fetch(`${service.baseUrl}/api/v1/users`, { headers: { authorization: `SSWS ${scim.token}` } });
  assert.equal(asApi.status, 401, 'a SCIM token is no API token');

  const { body: tokens } = await service.api('GET', '/api-tokens');
  const { id } = tokens.find(({ type }: { type: string }) => type === 'SCIM');
  assert.equal((await service.api('DELETE', `/api-tokens/${id}`)).status, 204);
  assert.equal((await scim.call('GET', '/Users')).status, 401, 'revoked');
});

test('tokens: the organization of a SCIM token must exist, and API tokens have none', async (t) => {
  const service = await startService(t);
  const acme = await createOrganization(service, 'Acme');
  for (const [body, cause] of [
    [{ orgId: acme }, 'orgId: can only be used with type SCIM'],
    [{ type: 'SCIM', orgId: 'org_nobody' }, 'orgId: does not exist'],
    [{ type: 'OTHER' }, 'type: must be API or SCIM'],
  ] as const) {
    const refused = await service.api('POST', '/api-tokens', { name: 'x', ...body });
    assert.deepEqual([refused.status, refused.body.errorCauses[0].errorSummary], [400, cause]);
  }
});

test('wall: a token of an organization sees and changes its members alone, and no groups', async (t) => {
  const service = await startService(t);
  const [acme, other] = [await createOrganization(service, 'Acme'), await createOrganization(service, 'Other')];
  const [whole, ours, theirs] = [await scimClient(service), await scimClient(service, acme), await scimClient(service, other)];
  const mine = await ours.create('Users', { userName: 'ada@acme.example', externalId: '7' });
  const foreign = await theirs.create('Users', { userName: 'eve@other.example', externalId: '7' });
  const both = await ours.create('Users', { userName: 'both@acme.example' });
  assert.equal((await service.api('PUT', `/account/org/${other}/member/${both.id}`, {})).status, 200);

  assert.deepEqual(await ours.find('userName pr'), ['ada@acme.example', 'both@acme.example']);
  assert.deepEqual(await ours.find('externalId eq "7"'), ['ada@acme.example']);
  assert.deepEqual(await theirs.find('externalId eq "7"'), ['eve@other.example'], 'externalId is per token');
  assert.deepEqual(await whole.find('externalId eq "7"'), []);
  assert.ok(!('externalId' in (await whole.call('GET', `/Users/${mine.id}`)).body));
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { schemas: [USER], userName: 'taken@acme.example' }],
    ['PATCH', { schemas: [PATCH], Operations: [{ op: 'replace', path: 'active', value: false }] }],
    ['DELETE', undefined],
  ] as const) {
    assert.equal((await ours.call(method, `/Users/${foreign.id}`, body)).status, 404, method);
    if (method !== 'GET')
      assert.equal((await ours.call(method, `/Users/${both.id}`, body)).status, 403, `${method}: also of another organization`);
  }
  assert.equal((await theirs.call('GET', `/Users/${foreign.id}`)).body.active, true);
  const twin = await ours.call('POST', '/Users', { schemas: [USER], userName: 'EVE@other.example' });
  assert.deepEqual([twin.status, twin.body.scimType], [409, 'uniqueness']);
  assert.match(twin.body.detail, /^userName: /);

  assert.equal((await ours.call('GET', '/Groups')).status, 403);
  assert.equal((await ours.call('POST', '/Groups', { schemas: [GROUP], displayName: 'Administrators' })).status, 403);
  const types = await ours.call('GET', '/ResourceTypes');
  assert.deepEqual(
    types.body.Resources.map(({ id }: { id: string }) => id),
    ['User'],
  );
  const byGroup = await ours.call('GET', `/Users?filter=${encodeURIComponent('groups.display sw "a"')}`);
  assert.deepEqual([byGroup.status, byGroup.body.scimType], [400, 'invalidFilter'], 'nor can it guess their names');
  assert.equal((await ours.call('GET', '/Me')).status, 404, 'its owner is no member');
});

test('wall: nobody becomes an administrator by a SCIM token', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const administrator = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const acme = await createOrganization(service, 'Acme');
  assert.equal((await service.api('POST', `/account/org/${acme}/role`, { name: 'manager', permissions: ['MANAGE_MEMBERS'] })).status, 201);
  const holders = [administrator.id];
  for (const role of ['owner', 'manager']) {
    const { id } = await service.createUser();
    assert.equal((await service.api('PUT', `/account/org/${acme}/member/${id}`, {})).status, 200);
    assert.equal((await service.api('PUT', `/account/org/${acme}/member/${id}/role`, { roles: [role] })).status, 200);
    holders.push(id);
  }
  for (const id of holders) {
    for (const [path, value] of [
      ['userName', 'mine@evil.example'],
      ['password', 'a-password-that-i-know'],
      ['emails[type eq "work"].value', 'mine@evil.example'],
    ]) {
      const { status, body } = await scim.patch(`/Users/${id}`, [{ op: 'replace', path, value }]);
      assert.deepEqual([status, body.status], [403, '403'], `${id} ${path}`);
    }
  }
  const leaver = await scim.patch(`/Users/${administrator.id}`, [{ op: 'replace', value: { active: false, title: 'Former' } }]);
  assert.deepEqual([leaver.status, leaver.body.active], [200, false], 'but who leaves is gone');
  const me = await scim.call('GET', '/Me');
  assert.deepEqual([me.status, me.body.userName], [200, 'admin']);
  assert.equal(me.headers.get('content-location'), me.body.meta.location);
  const last = await scim.patch('/Me', [{ op: 'replace', path: 'active', value: false }]);
  assert.equal(last.status, 403, 'the last administrator stays');
});

test('deactivation ends sessions and tokens at once, and who comes back has none of them', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const user = await service.createUser();
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token'] });
  const browser = new UserAgent(service.baseUrl);
  const { body: tokens } = await tokensFor(service, browser, user, client, {});
  const isActive = async () => (await post(service, 'built-in', 'introspect', client, { token: tokens.access_token })).body.active;
  const isSignedIn = async () => (await browser.visit('/account')).url.pathname.startsWith('/account');
  assert.deepEqual([await isActive(), await isSignedIn()], [true, true]);
  assert.equal((await scim.patch(`/Users/${user.id}`, [{ op: 'replace', path: 'active', value: false }])).body.active, false);
  assert.deepEqual([await isActive(), await isSignedIn()], [false, false]);
  assert.equal((await service.api('POST', '/authn', { username: user.login, password: user.password })).status, 401);
  await scim.patch(`/Users/${user.id}`, [{ op: 'replace', path: 'active', value: true }]);
  assert.deepEqual([await isActive(), await isSignedIn()], [false, false]);
  assert.equal((await service.api('POST', '/authn', { username: user.login, password: user.password })).body.status, 'SUCCESS');
});

test('a new password ends also what was being written while it was set', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const user = await service.createUser();
  const { url } = service.database;
  const rows = async (text: string, values: string[] = []) => onServer(url, async (sql) => (await sql.query(text, values)).rowCount);
  const patched = await onServer(url, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE scim_users IN SHARE MODE');
    const patching = scim.patch(`/Users/${user.id}`, [
      { op: 'replace', value: { password: 'another password of theirs', externalId: 'A' } },
    ]);
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await eventually(async () => (await rows(waiting)) === 1, 'the change waits after the password');
    await holder.query(
      `INSERT INTO oidc_payload (id, model, server_key, payload, account_id, expires_at, exp_hour)
        VALUES ('meanwhile', 3, 1, '{}', $1, now() + interval '1 day', 1)`,
      [user.id],
    );
    await holder.query('COMMIT');
    return patching;
  });
  assert.equal(patched.status, 200, JSON.stringify(patched.body));
  assert.equal(await rows('SELECT FROM oidc_payload WHERE account_id = $1', [user.id]), 0);
});

test('a change of nothing leaves no event and the same version; case does not count where RFC 7643 says so', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const body = {
    UserName: 'ada@example.com',
    externalId: 'A',
    NAME: { GivenName: 'Ada', familyname: 'Lovelace' },
    emails: [{ VALUE: 'ada@example.com', type: 'work', primary: true }],
    [ENTERPRISE.toUpperCase()]: { Department: 'Engines' },
  };
  const user = await scim.create('Users', body);
  assert.deepEqual([user.name, user[ENTERPRISE]], [{ givenName: 'Ada', familyName: 'Lovelace' }, { department: 'Engines' }]);
  const before = await eventsOf(service, user.id);
  const path = `/Users/${user.id}`;
  const { body: read, headers } = await scim.call('GET', path);
  const version = headers.get('etag') ?? '';
  for (const operations of [
    [{ op: 'replace', path: 'NAME.GIVENNAME', value: 'Ada' }],
    [{ op: 'add', path: 'emails', value: [{ value: 'ada@example.com', type: 'work', primary: true }] }],
    [{ op: 'ADD', path: 'emails[TYPE eq "Work"].Value', value: 'ada@example.com' }],
    [{ op: 'replace', value: { active: true, externalId: 'A', [`${ENTERPRISE}:department`]: 'Engines', unknown: 1, id: 'usr_x' } }],
    [{ op: 'remove', path: 'nickName' }],
    [{ op: 'remove', path: 'phoneNumbers[type eq "work"]' }],
    [
      { op: 'replace', path: 'title', value: 'x' },
      { op: 'remove', path: 'title' },
    ],
  ]) {
    const answer = await scim.patch(path, operations);
    assert.deepEqual(
      [answer.status, answer.headers.get('etag'), answer.body.meta.lastModified],
      [200, version, read.meta.lastModified],
      JSON.stringify(operations),
    );
  }
  assert.equal((await scim.call('PUT', path, read)).headers.get('etag'), version);
  assert.deepEqual(await eventsOf(service, user.id), before);
  assert.equal((await scim.call('GET', path, undefined, { 'if-none-match': version })).status, 304);

  assert.deepEqual(await scim.find('USERNAME EQ "ADA@example.com"'), ['ada@example.com']);
  assert.deepEqual(await scim.find(`${ENTERPRISE}:department sw "eng" and name.familyName co "LOVE"`), ['ada@example.com']);
  assert.deepEqual(await scim.find('externalId eq "a"'), [], 'externalId is compared with its case');
  assert.deepEqual(await scim.find(`id eq "${user.id.toUpperCase()}"`), []);
  const renamed = await scim.patch(path, [{ op: 'replace', path: 'externalId', value: 'B' }]);
  assert.notEqual(renamed.headers.get('etag'), version);
  assert.equal((await eventsOf(service, user.id)).length, before.length + 1, 'even the ID of the client is a change with an event');
});

test('of two writers with one version the second is refused (RFC 7644 section 3.14)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  for (const [type, body, change] of [
    ['Users', { userName: 'ada@example.com' }, (n: number) => ({ op: 'replace', path: 'title', value: `Title ${n}` })],
    ['Groups', { displayName: 'Engineers' }, (n: number) => ({ op: 'replace', path: 'displayName', value: `Name ${n}` })],
  ] as const) {
    const { id, meta } = await scim.create(type, body);
    const path = `/${type}/${id}`;
    const answers = await Promise.all([1, 2, 3, 4].map((n) => scim.patch(path, [change(n)], { 'if-match': meta.version })));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [type === 'Users' ? 200 : 204, 412, 412, 412]);
    const { status, body: refusal } = await scim.call('DELETE', path, undefined, { 'if-match': meta.version });
    assert.deepEqual([status, refusal.status], [412, '412']);
    const current = (await scim.call('GET', path)).headers.get('etag') ?? '';
    assert.equal((await scim.call('DELETE', path, undefined, { 'if-match': current })).status, 204);
  }
});
