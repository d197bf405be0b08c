/**
 * Rights that somebody gives himself (OWASP ASVS 5.0 V8.2 and V15.3.3, mass assignment; CWE-1321, prototype pollution; CVE-2026-27946): what a body, a form or
 * an id may say beside what is meant. Who may call what at all is in test/api/every-refusal-*.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ENDPOINTS } from '../../src/api/index.ts';
import { findRoles } from '../../src/features/administrators/roles.store.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { type Administrator, administrator, organization, person, type User, unique } from '../api/people.ts';
import { makeWith, STORIES } from '../api/stories.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

describe('rights that nobody gave', () => {
  let api: ManagementApi;
  let orgId: string;
  let admin: Administrator;
  before(async () => {
    api = await startManagementApi();
    orgId = await organization(api);
    admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
  });
  after(() => api.close());

  /** What the database says of somebody, whatever the API shows. */
  const stored = async (id: string) => {
    const { knex } = api.services.database;
    const row = await knex('users').where({ id }).first();
    const groups = await knex('group_members').where({ user_id: id });
    return { ...row, roles: (await findRoles(knex, id)).map(({ type }) => type), groups: groups.length };
  };

  /** Each guess at it costs a second. */
  const DEAR_HASH = {
    ...{ algorithm: 'PBKDF2', digestAlgorithm: 'SHA256_HMAC', iterationCount: 1_500_000, keySize: 32 },
    ...{ salt: 'c2FsdA==', value: Buffer.alloc(32).toString('base64') },
  };

  /** What one would like to be. */
  const WISHES: readonly (readonly [where: 'body' | 'profile' | 'credentials', wish: Record<string, unknown>])[] = [
    ['body', { roles: [{ type: 'SUPER_ADMIN' }] }],
    ['body', { role: 'SUPER_ADMIN' }],
    ['body', { groupIds: ['GROUP'] }],
    ['body', { emailVerified: true }],
    ['body', { email_verified: true }],
    ['body', { id: 'usr_00000000000000000000' }],
    ['body', { status: 'ACTIVE', statusChanged: '2020-01-01T00:00:00.000Z' }],
    ['body', { passwordHash: 'x', password_hash: 'x' }],
    ['body', { lockedUntil: null, failed_sign_ins: 0 }],
    ['profile', { emailVerified: true }],
    ['profile', { email_verified: 'true' }],
    ['profile', { roles: 'SUPER_ADMIN' }],
    ['profile', { id: 'usr_00000000000000000000' }],
    ['credentials', { provider: { type: 'FEDERATION', name: 'x' }, passwordHash: 'x' }],
    ['credentials', { recovery_question: { question: 'q', answer: 'a' } }],
  ];

  it('a user is made and changed with what the body may say, and nothing beside it (mass assignment)', async () => {
    const { body: group } = await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('Admins') } });
    const wishes = JSON.parse(JSON.stringify(WISHES).replaceAll('GROUP', group.id)) as typeof WISHES;
    for (const [where, wish] of wishes) {
      const profile = { login: unique('user'), email: `${unique('mail')}@example.com` };
      const wished = (body: Record<string, unknown>) =>
        where === 'body' ? { ...body, ...wish } : { ...body, [where]: { ...(body[where] as object | undefined), ...wish } };
      const target = await person(api, { orgId });
      const was = await stored(target.id);
      const answers = [
        await admin.call<User>('POST', '/users?activate=false', wished({ profile, orgId })),
        await admin.call<User>('POST', `/users/${target.id}`, wished({ profile: { firstName: 'Eve' } })),
        await admin.call<User>('PUT', `/users/${target.id}`, wished({ profile: target.profile })),
      ];
      for (const { status, body } of answers) {
        if (status === 200) {
          const now = await stored(body.id);
          const label = `${where} ${JSON.stringify(wish)}`;
          assert.deepEqual([now.roles, now.groups, now.email_verified], [[], 0, false], label);
          assert.notEqual(body.id, 'usr_00000000000000000000', label);
          assert.deepEqual(
            [now.status, now.password_hash],
            body.id === target.id ? [was.status, was.password_hash] : ['STAGED', null],
            label,
          );
        } else
          assert.ok(
            status === 400 || (status === 403 && ('groupIds' in wish || 'emailVerified' in wish)),
            `${JSON.stringify(wish)}: ${JSON.stringify(body)}`,
          );
      }
    }
  });

  it('an organization’s administrator gives nobody a role, a group, an application or another organization by any path that there is', async () => {
    const own = await person(api, { orgId });
    const stranger = await person(api);
    const elsewhere = await organization(api);
    const { body: group } = await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('Group') } });
    const attempts: [method: string, path: string, body?: unknown][] = [
      ['POST', `/users/${admin.id}/roles`, { type: 'SUPER_ADMIN' }],
      ['POST', `/users/${own.id}/roles`, { type: 'ORG_ADMIN', orgId: elsewhere }],
      ['POST', `/users/${own.id}/roles`, { type: 'ORG_ADMIN', orgId }],
      ['PUT', `/groups/${group.id}/users/${admin.id}`],
      ['PUT', `/account/org/${elsewhere}/member/${admin.id}`, {}],
      ['PUT', `/account/org/${orgId}/member/${stranger.id}`, {}],
      ['PUT', `/account/org/${orgId}/../${elsewhere}/member/${own.id}`, {}],
      ['PUT', `/account/org/${orgId}%2f..%2f${elsewhere}/member/${own.id}`, {}],
      ['POST', '/users', { profile: { login: unique('user') }, orgId: elsewhere }],
      ['POST', '/users', { profile: { login: unique('user') } }],
      ['POST', '/users', { profile: { login: unique('user') }, orgId, credentials: { password: { hash: DEAR_HASH } } }],
      ['POST', `/users/${own.id}`, { credentials: { password: { hash: DEAR_HASH } } }],
      ['POST', `/users/${stranger.id}/lifecycle/reset_password?sendEmail=false`],
      ['POST', `/users/${api.admin.userId}`, { credentials: { password: { value: 'a password of his own' } } }],
      ['POST', `/users/${api.admin.userId}`, { profile: { email: 'eve@example.com' } }],
      ['DELETE', `/users/${api.admin.userId}/factors`],
      ['POST', '/apps', { label: 'X', settings: { oauthClient: { application_type: 'service' } } }],
      ['POST', '/api-tokens', { name: 'x', userId: api.admin.userId }],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await admin.call(method, path, body);
      assert.ok([400, 403, 404].includes(status), `${method} ${path} ${JSON.stringify(body)}: ${status}`);
    }
    for (const id of [admin.id, own.id, stranger.id]) {
      const { roles, groups } = await stored(id);
      assert.deepEqual([roles, groups], [id === admin.id ? ['ORG_ADMIN'] : [], 0], id);
    }
  });

  it('an API token does what its maker may do at that moment, and is nobody else’s way up', async () => {
    const reader = await administrator(api, { type: 'READ_ONLY_ADMIN' });
    const made = await reader.call<{ token: string; userId: string }>('POST', '/api-tokens', { name: 'x' });
    assert.equal(made.status, 200);
    const call = (method: string, path: string, body?: unknown) =>
      api.call(method, path, body, { authorization: `SSWS ${made.body.token}` });
    assert.equal((await call('POST', '/users', { profile: { login: unique('user') } })).status, 403);
    await api.call('POST', `/users/${reader.id}/lifecycle/deactivate`);
    assert.equal((await call('GET', '/users')).status, 401);
    await api.call('POST', `/users/${reader.id}/lifecycle/activate?sendEmail=false`);
    assert.equal((await call('GET', '/users')).status, 401, 'nor when he is back');
  });

  it('no body reaches the prototype of all objects, at any operation (CWE-1321)', async () => {
    const make = makeWith(api);
    // The parser of bodies refuses the first, the fields that there are the second.
    const poisons = ['{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}'].map((poison) =>
      poison.slice(0, -1),
    );
    for (const declared of ENDPOINTS.filter(({ body }) => body !== undefined)) {
      const name = `${declared.method} ${declared.path}`;
      const valid = await STORIES[name]?.(make);
      assert.ok(valid, name);
      const path = declared.path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(valid.params?.[param] ?? ''));
      const query = new URLSearchParams(valid.query).toString();
      const sent = JSON.stringify(valid.body ?? {});
      for (const poison of poisons) {
        const whole = `${poison}${sent === '{}' ? '' : ','}${sent.slice(1)}`;
        const within = sent.replace(/:\{/g, `:${poison},`);
        for (const body of [whole, within]) {
          const { status } = await api.call(declared.method, `${path}${query && `?${query}`}`, body);
          assert.ok(body === sent || status === 400, `${name}: ${status} ${body}`);
        }
      }
      assert.equal(({} as Record<string, unknown>).polluted, undefined, name);
    }
  });

  it('the actor of a change is who calls, whatever the body or a header says', async () => {
    const target = await person(api, { orgId });
    const headers = { 'x-user-id': api.admin.userId, 'x-remote-user': 'root', 'x-forwarded-user': 'root', from: 'root' };
    const answer = await api.call(
      'POST',
      `/users/${target.id}`,
      { profile: { firstName: 'Ada' } },
      { authorization: `SSWS ${admin.token}`, ...headers },
    );
    assert.equal(answer.status, 200);
    const events = await api.services.database
      .knex('audit_events')
      .where({ event_type: 'user.account.update_profile' })
      .orderBy('seq', 'desc')
      .limit(1);
    assert.equal(events[0].actor.id, admin.id);
    assert.notEqual(events[0].actor.id, SYSTEM.actor.id);
  });
});
