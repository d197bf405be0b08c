/**
 * Accounts that an organization's administrator has prepared: nothing set up there opens what the user gets later, be it a role or a second organization
 * (account pre-hijacking by an insider).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { type Administrator, administrator, organization, PASSWORD, person, type User, unique } from '../api/people.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

describe('an account that an organization’s administrator has prepared', () => {
  let api: ManagementApi;
  let orgId: string;
  let admin: Administrator;
  before(async () => {
    api = await startManagementApi();
    orgId = await organization(api);
    admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
  });
  after(() => api.close());

  /** A member whose every way to sign in somebody else holds. */
  async function prepared(): Promise<User> {
    const { body: user } = await admin.call<User>('POST', '/users', {
      profile: { login: unique('prepared') },
      credentials: { password: { value: PASSWORD } },
      orgId,
    });
    const { knex } = api.services.database;
    const now = new Date();
    await knex('passkeys').insert({
      ...{ id: unique('fac'), user_id: user.id, credential_id: unique('credential'), public_key: Buffer.alloc(0), sign_count: 0 },
      ...{ transports: '{}', multi_device: false, backed_up: false, aaguid: '', name: 'Mine', created: now },
    });
    await knex('user_factors').insert({
      ...{ id: unique('fac'), user_id: user.id, type: 'TOTP', name: 'Mine', created: now, sealed_secret: 'x', last_step: 0 },
    });
    const provider = {
      name: unique('Provider'),
      type: 'OIDC',
      protocol: {
        type: 'OIDC',
        issuer: { url: 'https://upstream.example' },
        credentials: { client: { client_id: 'x', client_secret: 'y' } },
      },
    };
    const { body: idp } = await api.call<{ id: string }>('POST', '/idps', provider);
    const linked = await api.call('POST', `/idps/${idp.id}/users/${user.id}`, { externalId: unique('subject') });
    assert.equal(linked.status, 200, JSON.stringify(linked.body));
    await createApiToken(api.services, { name: 'x', userId: user.id }, SYSTEM);
    return user;
  }

  const TABLES = ['passkeys', 'user_factors', 'identity_provider_links', 'api_tokens', 'one_time_links'];
  async function waysIn(user: User): Promise<string[]> {
    const { knex } = api.services.database;
    const ways: string[] = [];
    for (const table of TABLES) if ((await knex(table).where({ user_id: user.id })).length > 0) ways.push(table);
    const { status } = await api.call('POST', '/authn', { username: user.profile.login, password: PASSWORD }, { authorization: '' });
    return status === 200 ? ['password', ...ways] : ways;
  }
  const HELD = ['password', 'passkeys', 'user_factors', 'identity_provider_links', 'api_tokens'];
  const give = async (user: User, role: object) => {
    const { status, body } = await api.call('POST', `/users/${user.id}/roles`, role);
    assert.equal(status, 201, JSON.stringify(body));
  };

  it('has no way in left when the user gets a role that reaches beyond the organization', async () => {
    const elsewhere = await organization(api);
    for (const role of [{ type: 'SUPER_ADMIN' }, { type: 'READ_ONLY_ADMIN' }, { type: 'ORG_ADMIN', orgId: elsewhere }]) {
      const user = await prepared();
      assert.deepEqual(await waysIn(user), HELD);
      await give(user, role);
      assert.deepEqual(await waysIn(user), [], role.type);
      const reset = await api.call<{ resetPasswordUrl: string }>('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
      assert.ok(reset.body.resetPasswordUrl, 'whoever gave the role hands over a link');
    }
  });

  it('has none when the user becomes a member of a second organization', async () => {
    const elsewhere = await organization(api);
    const user = await prepared();
    assert.equal((await api.call('PUT', `/account/org/${elsewhere}/member/${user.id}`, {})).status, 200);
    assert.deepEqual(await waysIn(user), []);
  });

  it('has none when the user has left the organization meanwhile, and keeps what was set up after that', async () => {
    const elsewhere = await organization(api);
    for (const gain of ['role', 'organization']) {
      const user = await prepared();
      assert.equal((await api.call('DELETE', `/account/org/${orgId}/member/${user.id}`)).status, 200);
      assert.deepEqual(await waysIn(user), HELD, 'leaving alone ends nothing');
      if (gain === 'role') await give(user, { type: 'SUPER_ADMIN' });
      else assert.equal((await api.call('PUT', `/account/org/${elsewhere}/member/${user.id}`, {})).status, 200);
      assert.deepEqual(await waysIn(user), [], gain);
    }
    const user = await prepared();
    await api.call('DELETE', `/account/org/${orgId}/member/${user.id}`);
    await give(user, { type: 'READ_ONLY_ADMIN' });
    const password = { credentials: { password: { value: PASSWORD } } };
    await api.call('POST', `/users/${user.id}`, password);
    await give(user, { type: 'SUPER_ADMIN' });
    assert.deepEqual(await waysIn(user), ['password']);
  });

  it('has none when the user comes back to an organization, or administers it, after others prepared the account elsewhere', async () => {
    const first = await organization(api);
    for (const gain of ['role', 'organization']) {
      const user = await person(api, { orgId: first });
      const move = (verb: 'PUT' | 'DELETE', org: string) =>
        api.call(verb, `/account/org/${org}/member/${user.id}`, verb === 'PUT' ? {} : undefined);
      assert.equal((await move('PUT', orgId)).status, 200);
      assert.equal((await move('DELETE', first)).status, 200);
      const password = { credentials: { password: { value: PASSWORD } } };
      assert.equal((await admin.call('POST', `/users/${user.id}`, password)).status, 200);
      if (gain === 'role') await give(user, { type: 'ORG_ADMIN', orgId: first });
      else assert.equal((await move('PUT', first)).status, 200);
      assert.deepEqual(await waysIn(user), [], gain);
    }
  });

  it('keeps them when nothing is gained: a role for the same organization, a first organization, a further role', async () => {
    const user = await prepared();
    await give(user, { type: 'ORG_ADMIN', orgId });
    assert.deepEqual(await waysIn(user), HELD);
    const free = await person(api);
    assert.equal((await api.call('PUT', `/account/org/${orgId}/member/${free.id}`, {})).status, 200);
    assert.deepEqual(await waysIn(free), ['password']);
    const reader = await person(api);
    await give(reader, { type: 'READ_ONLY_ADMIN' });
    assert.equal((await api.call('PUT', `/account/org/${orgId}/member/${reader.id}`, {})).status, 200);
    await give(reader, { type: 'SUPER_ADMIN' });
    assert.deepEqual(await waysIn(reader), ['password']);
  });

  it('is not made with an address that an identity provider vouches for, unless its users are the organization’s', async () => {
    const domain = `${unique('corp')}.example`;
    const provider = (more: object) => ({
      name: unique('Provider'),
      type: 'OIDC',
      protocol: {
        type: 'OIDC',
        issuer: { url: 'https://upstream.example' },
        credentials: { client: { client_id: 'x', client_secret: 'y' } },
      },
      policy: { subject: { emailDomains: [domain] }, ...more },
    });
    const { body: idp } = await api.call<{ id: string }>('POST', '/idps', provider({}));
    const user = await person(api, { orgId });
    const tries = [
      await admin.call('POST', '/users', { profile: { login: unique('x'), email: `ceo@${domain}` }, orgId }),
      await admin.call('POST', '/users', { profile: { login: `ceo@${domain.toUpperCase()}` }, orgId }),
      await admin.call('POST', `/users/${user.id}`, { profile: { email: `ceo@${domain}` } }),
    ];
    assert.deepEqual(
      tries.map(({ status }) => status),
      [409, 409, 409],
    );
    assert.equal((await api.call('PUT', `/idps/${idp.id}`, provider({ provisioning: { action: 'AUTO', orgId } }))).status, 200);
    assert.equal((await admin.call('POST', `/users/${user.id}`, { profile: { email: `ceo@${domain}` } })).status, 200);
  });
});
