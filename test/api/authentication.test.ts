import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RoleType } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { randomToken } from '../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { type ErrorObject, type ManagementApi, serve, startManagementApi, testServices } from '../support/management-api.ts';

describe('calls of the management API ("Conventions")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  /** @returns the value of a token whose creator has the role */
  async function tokenOf(role?: RoleType, expiresAt?: Date): Promise<{ value: string; userId: string; tokenId: string }> {
    const profile = { login: randomToken() };
    const { id } = await createUser(api.services, { profile, activate: true, roles: role ? [{ type: role }] : [] }, SYSTEM);
    const { value, apiToken } = await createApiToken(api.services, { name: 'x', userId: id, expiresAt }, SYSTEM);
    return { value, userId: id, tokenId: apiToken.id };
  }
  const read = (authorization: string) => api.call('GET', `/users/${api.admin.userId}`, undefined, { authorization });
  const write = (authorization: string) => api.call('POST', '/users', { profile: { login: randomToken() } }, { authorization });

  const refused: [what: string, header: () => string][] = [
    ['no token', () => ''],
    ['an unknown token', () => `SSWS ${randomToken()}`],
    ['a token in another scheme, as OAuth access tokens come', () => `Bearer ${api.admin.token}`],
    ['a token without scheme', () => api.admin.token],
    ['a scheme without token', () => 'SSWS'],
    ['two tokens', () => `SSWS ${api.admin.token} ${api.admin.token}`],
    ['a token in the wrong case', () => `SSWS ${api.admin.token.toLowerCase()}`],
    ['the digest of a token', () => 'SSWS 47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
  ];
  for (const [what, header] of refused) {
    it(`refuses ${what}: 401 E0000011`, async () => {
      const answer = await read(header());
      assert.deepEqual([answer.status, answer.body.errorCode], [401, 'E0000011']);
      assert.equal(answer.headers.get('www-authenticate'), 'SSWS');
    });
  }

  it('refuses a token from the moment it expires', async () => {
    const soon = await tokenOf('SUPER_ADMIN', new Date(Date.now() + 60_000));
    assert.equal((await read(`SSWS ${soon.value}`)).status, 200);
    await api.services.database
      .knex('api_tokens')
      .where({ id: soon.tokenId })
      .update({ expires_at: new Date(Date.now() - 1) });
    assert.equal((await read(`SSWS ${soon.value}`)).status, 401);
  });

  it('refuses a token as soon as its creator is not active, or is gone', async () => {
    const { value, userId } = await tokenOf('SUPER_ADMIN');
    const users = () => api.services.database.knex('users').where({ id: userId });
    await users().update({ status: 'SUSPENDED' });
    assert.equal((await read(`SSWS ${value}`)).status, 401);
    await users().update({ status: 'ACTIVE' });
    assert.equal((await read(`ssws ${value}`)).status, 200);
    await users().del();
    assert.equal((await read(`SSWS ${value}`)).status, 401);
  });

  const roles: [role: RoleType | undefined, mayRead: boolean, mayWrite: boolean][] = [
    ['SUPER_ADMIN', true, true],
    ['READ_ONLY_ADMIN', true, false],
    [undefined, false, false],
  ];
  for (const [role, mayRead, mayWrite] of roles) {
    it(`lets the token of ${role ?? 'a user without a role'} ${mayRead ? '' : 'not '}read and ${mayWrite ? '' : 'not '}write`, async () => {
      const { value } = await tokenOf(role);
      const answers = [await read(`SSWS ${value}`), await write(`SSWS ${value}`)];
      assert.deepEqual(
        answers.map(({ status }) => status),
        role === undefined ? [401, 401] : [mayRead ? 200 : 403, mayWrite ? 200 : 403],
      );
      for (const { status, body } of answers) if (status === 403) assert.equal(body.errorCode, 'E0000006');
    });
  }

  it('takes the roles that the creator has at the time', async () => {
    const { value, userId } = await tokenOf('SUPER_ADMIN');
    await api.services.database.knex('roles').where({ user_id: userId }).del();
    assert.equal((await read(`SSWS ${value}`)).status, 401);
  });

  it('notes the last use, at most once a minute', async () => {
    const { value, tokenId } = await tokenOf('SUPER_ADMIN');
    const row = () => api.services.database.knex('api_tokens').where({ id: tokenId });
    const lastUsed = async () => (await row().first('last_used')).last_used?.getTime();
    assert.equal(await lastUsed(), undefined);
    await read(`SSWS ${value}`);
    const first = await lastUsed();
    await read(`SSWS ${value}`);
    assert.equal(await lastUsed(), first);
    await row().update({ last_used: new Date(first - 61_000) });
    await read(`SSWS ${value}`);
    assert.ok((await lastUsed()) >= first);
  });

  it('stores tokens as digests and leaves them out of the audit log', async () => {
    const { value } = await tokenOf();
    const { knex } = api.services.database;
    const rows = JSON.stringify([await knex('api_tokens').select('*'), await knex('audit_events').select('*')]);
    assert.ok(!rows.includes(value));
    assert.match(rows, /system\.api_token\.create/);
  });

  const malformed: [what: string, body: string, contentType: string][] = [
    ['a form', 'profile=x', 'application/x-www-form-urlencoded'],
    ['JSON that calls itself text', '{"profile":{"login":"a"}}', 'text/plain'],
    ['half an object', '{"profile":', 'application/json'],
    ['a string', '"profile"', 'application/json'],
    ['a poisoned prototype', '{"__proto__":{"x":1}}', 'application/json'],
    ['more than a megabyte', JSON.stringify({ profile: { login: 'x'.repeat(1_100_000) } }), 'application/json'],
  ];
  for (const [what, body, contentType] of malformed) {
    it(`refuses ${what}: 400 E0000003`, async () => {
      const answer = await api.call('POST', '/users', body, { 'content-type': contentType });
      assert.deepEqual([answer.status, answer.body.errorCode], [400, 'E0000003']);
    });
  }

  it('survives a body nested ten thousand deep', async () => {
    const deep = '['.repeat(10_000) + ']'.repeat(10_000);
    const answer = await api.call('POST', '/users', `{"profile":{"login":"deep"},"_links":${deep},"id":${deep}}`);
    assert.equal(answer.status, 200);
  });

  it('tells at most fifty mistakes of one body', async () => {
    const settings = { oauthClient: { redirect_uris: Array.from({ length: 100 }, (_, turn) => turn) } };
    const { body } = await api.call('POST', '/apps', { name: 'oidc_client', label: 'many', settings });
    assert.equal(body.errorCauses.length, 50);
  });

  it('answers 405 E0000022 with Allow for a method that a path does not have', async () => {
    for (const method of ['DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await api.call(method, '/apps');
      assert.deepEqual([answer.status, answer.body.errorCode, answer.headers.get('allow')], [405, 'E0000022', 'POST, HEAD, GET']);
    }
    const one = await api.call('PATCH', '/users/x');
    assert.equal(one.status, 405);
    assert.deepEqual(new Set(one.headers.get('allow')?.split(', ')), new Set(['HEAD', 'GET', 'POST', 'PUT', 'DELETE']));
  });

  for (const path of ['', '/', '/nothing', '/USERS', '/users/', '/users/a/b']) {
    it(`answers 404 E0000007 for /api/v1${path}`, async () => {
      const answer = await api.call('GET', path);
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
    });
  }

  it('tells an error in the documented object, under the id of the request', async () => {
    const answer = await api.call('GET', '/users/nobody', undefined, { 'x-request-id': 'request-1' });
    assert.deepEqual(answer.body, {
      errorCode: 'E0000007',
      errorSummary: 'Not found: Resource not found: nobody (User)',
      errorLink: 'E0000007',
      errorId: 'request-1',
      errorCauses: [],
    });
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  it('tells it as Problem Details on request (RFC 9457 section 3)', async () => {
    const accept = 'application/problem+json, application/json;q=0.5';
    const answer = await api.call<unknown>('POST', '/users', {}, { accept, 'x-request-id': 'request-2' });
    assert.deepEqual(answer.body, {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'Api validation failed',
      errorCode: 'E0000001',
      errorId: 'request-2',
      errorCauses: [{ errorSummary: 'profile: is required' }],
    });
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  });

  it('answers 500 E0000009 for what nobody foresaw, without its words', async () => {
    const { knex } = api.services.database;
    await knex.raw('ALTER TABLE applications RENAME TO mislaid');
    const answer = await api.call('GET', '/apps/x').finally(() => knex.raw('ALTER TABLE mislaid RENAME TO applications'));
    assert.deepEqual([answer.status, answer.body.errorCode], [500, 'E0000009']);
    assert.doesNotMatch(JSON.stringify(answer.body), /applications|relation/);
  });
});

describe('the management API without a database', () => {
  it('answers 503 E0000009 with Retry-After', async () => {
    const { services, close } = await testServices();
    // The discard port: nothing listens there.
    const database = await openDatabase({ connection: { host: '127.0.0.1', port: 9 }, onError: () => {} });
    const server = await serve({ ...services, database });
    const response = await fetch(`${server.base}/apps/x`, { headers: { authorization: `SSWS ${randomToken()}` } });
    const body: ErrorObject = JSON.parse(await response.text());
    assert.deepEqual([response.status, body.errorCode, response.headers.get('retry-after')], [503, 'E0000009', '1']);
    server.close();
    await database.close();
    await close();
  });
});
