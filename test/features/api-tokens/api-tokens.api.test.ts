import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Role } from '../../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { randomToken } from '../../../src/platform/crypto/secrets.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Created {
  id: string;
  name: string;
  token: string;
}
interface Token {
  id: string;
  name: string;
  userId: string;
  created: string;
  expiresAt: string | null;
  lastUsed: string | null;
}

describe('api-tokens (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const as = (token: string) => ({ authorization: `SSWS ${token}` });
  const create = (name: string, token = api.admin.token) => api.call<Created>('POST', '/api-tokens', { name }, as(token));
  const all = async (token = api.admin.token) => (await api.call<Token[]>('GET', '/api-tokens?limit=200', undefined, as(token))).body;

  /** @returns an administrator with a token */
  async function administrator(...roles: Role[]): Promise<{ userId: string; token: string }> {
    const { id } = await createUser(api.services, { profile: { login: randomToken() }, activate: true, roles }, SYSTEM);
    return { userId: id, token: (await createApiToken(api.services, { name: 'first', userId: id }, SYSTEM)).value };
  }
  async function organizationAdministrator(): Promise<{ userId: string; token: string }> {
    const orgId = randomToken();
    const now = new Date();
    await api.services.database.knex('organizations').insert({ id: orgId, name: orgId, created: now, last_updated: now });
    return administrator({ type: 'ORG_ADMIN', orgId });
  }

  it('answers with id, name and token, and never with the token again', async () => {
    const { status, body } = await create('ci');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['id', 'name', 'token']);
    assert.equal(body.name, 'ci');
    assert.equal((await api.call('GET', '/users/root', undefined, as(body.token))).status, 200);
    const one = await api.call<Token>('GET', `/api-tokens/${body.id}`);
    assert.deepEqual(Object.keys(one.body).sort(), ['created', 'expiresAt', 'id', 'lastUsed', 'name', 'orgId', 'type', 'userId']);
    assert.deepEqual([one.body.name, one.body.userId, one.body.expiresAt], ['ci', api.admin.userId, null]);
    assert.match(one.body.lastUsed ?? '', /^\d{4}-.*Z$/);
    const { knex } = api.services.database;
    const stored = [await knex('api_tokens').select('*'), await knex('audit_events').select('*'), await all()];
    assert.ok(!JSON.stringify(stored).includes(body.token));
  });

  it('refuses a revoked token at its next request, and writes who revoked it', async () => {
    const { body } = await create('short-lived');
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(body.token))).status, 200);
    const revoked = await api.call('DELETE', `/api-tokens/${body.id}`);
    assert.deepEqual([revoked.status, revoked.body], [204, undefined]);
    const refused = await api.call('GET', '/api-tokens', undefined, as(body.token));
    assert.deepEqual([refused.status, refused.body.errorCode], [401, 'E0000011']);
    assert.equal((await api.call('GET', `/api-tokens/${body.id}`)).status, 404);
    const event = await api.services.database
      .knex('audit_events')
      .where({ event_type: 'system.api_token.revoke' })
      .orderBy('seq', 'desc')
      .first();
    assert.deepEqual([event.actor.id, event.target[0].id, event.debug_context.before.name], [api.admin.userId, body.id, 'short-lived']);
  });

  it('lets a token revoke itself', async () => {
    const { body } = await create('suicidal');
    assert.equal((await api.call('DELETE', `/api-tokens/${body.id}`, undefined, as(body.token))).status, 204);
    assert.equal((await api.call('DELETE', `/api-tokens/${body.id}`, undefined, as(body.token))).status, 401);
  });

  it('lets one of twenty revoke a token and tells the others that there is none', async () => {
    const { body } = await create('wanted');
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('DELETE', `/api-tokens/${body.id}`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array.from({ length: 19 }, () => 404)]);
    const events = await api.services.database
      .knex('audit_events')
      .where({ event_type: 'system.api_token.revoke' })
      .whereRaw("target->0->>'id' = ?", [body.id]);
    assert.equal(events.length, 1);
  });

  it('lets a token expire', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { body } = await api.call<Created>('POST', '/api-tokens', {
      name: 'x',
      expiresAt: expiresAt.toISOString().replace('Z', '+00:00'),
    });
    assert.equal((await api.call<Token>('GET', `/api-tokens/${body.id}`)).body.expiresAt, expiresAt.toISOString());
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(body.token))).status, 200);
    await api.services.database
      .knex('api_tokens')
      .where({ id: body.id })
      .update({ expires_at: new Date(Date.now() - 1) });
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(body.token))).status, 401);
  });

  it('gives two tokens one name, and takes names in any script', async () => {
    for (const name of ['twin', 'twin', '<b>bold</b>', '\u202eרישום 👩‍🔬', "'); DROP TABLE api_tokens;--", 'x'.repeat(255)]) {
      assert.equal((await create(name)).body.name, name);
    }
    assert.equal((await all()).filter(({ name }) => name === 'twin').length, 2);
  });

  const FORM = 'expiresAt: must be a time like 2026-11-21T01:02:03.000Z';
  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no name', {}, ['name: is required']],
    ['a blank name', { name: ' ' }, ['name: must not be empty']],
    ['a name of 10,000 characters', { name: 'x'.repeat(10_000) }, ['name: must have at most 255 characters']],
    ['a name with a control character', { name: 'a\u0007b' }, ['name: must not contain control characters']],
    ['an expiry that is no time', { name: 'x', expiresAt: 'tomorrow' }, [FORM]],
    ['an expiry without time zone', { name: 'x', expiresAt: '2999-01-01T00:00:00' }, [FORM]],
    ['an expiry in the past', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt: must be in the future']],
    ['a value of its own', { name: 'x', value: 'y'.repeat(40) }, ['value: is not a field of this resource']],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, with a cause for each field`, async () => {
      const answer = await api.call('POST', '/api-tokens', body);
      assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
    });
  }

  it('shows an administrator of an organization only his own tokens, and hides that there are others', async () => {
    const org = await organizationAdministrator();
    const { body: own } = await create('mine', org.token);
    assert.deepEqual(
      (await all(org.token)).map(({ name, userId }) => [name, userId]),
      [
        ['first', org.userId],
        ['mine', org.userId],
      ],
    );
    const { body: foreign } = await create('not his');
    for (const method of ['GET', 'DELETE']) {
      const answer = await api.call(method, `/api-tokens/${foreign.id}`, undefined, as(org.token));
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
    }
    assert.equal((await api.call('DELETE', `/api-tokens/${own.id}`, undefined, as(org.token))).status, 204);
  });

  it('shows everybody’s tokens to whoever reads the whole service, who revokes only his own', async () => {
    const reader = await administrator({ type: 'READ_ONLY_ADMIN' });
    const { body: foreign } = await create('not his');
    assert.ok((await all(reader.token)).some(({ id }) => id === foreign.id));
    assert.equal((await api.call('GET', `/api-tokens/${foreign.id}`, undefined, as(reader.token))).status, 200);
    const refusal = await api.call('DELETE', `/api-tokens/${foreign.id}`, undefined, as(reader.token));
    assert.deepEqual([refusal.status, refusal.body.errorCode], [403, 'E0000006']);
    const { body: own } = await create('his', reader.token);
    assert.equal((await api.call('DELETE', `/api-tokens/${own.id}`, undefined, as(reader.token))).status, 204);
  });

  it('lets whoever administers the whole service revoke the tokens of others', async () => {
    const org = await organizationAdministrator();
    const { body } = await create('his', org.token);
    assert.equal((await api.call('DELETE', `/api-tokens/${body.id}`)).status, 204);
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(body.token))).status, 401);
  });

  it('gives a token the roles its creator has now: with the last of them it opens nothing', async () => {
    const { userId, token } = await administrator({ type: 'SUPER_ADMIN' });
    assert.equal((await create('another', token)).status, 200);
    await api.services.database.knex('roles').where({ user_id: userId }).update({ type: 'READ_ONLY_ADMIN' });
    assert.equal((await api.call('POST', '/users', { profile: { login: 'x' } }, as(token))).status, 403);
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(token))).status, 200);
    await api.services.database.knex('roles').where({ user_id: userId }).del();
    assert.equal((await api.call('GET', '/api-tokens', undefined, as(token))).status, 401);
  });

  it('lists in pages, oldest first, that new tokens do not move', async () => {
    const reader = await organizationAdministrator();
    for (const name of ['a', 'b', 'c']) await create(name, reader.token);
    const first = await api.call<Token[]>('GET', '/api-tokens?limit=2', undefined, as(reader.token));
    assert.deepEqual(
      first.body.map(({ name }) => name),
      ['first', 'a'],
    );
    await create('d', reader.token);
    const next = /^<.*\/api\/v1(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1];
    const second = await api.call<Token[]>('GET', next ?? '', undefined, as(reader.token));
    assert.deepEqual(
      second.body.map(({ name }) => name),
      ['b', 'c'],
    );
    assert.notEqual(second.headers.get('link'), null);
  });
});
