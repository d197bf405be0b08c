/** What an administrator must not come by, in ways that lead around his roles (RFC 9700 section 4; OWASP ASVS 5, V8). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { usePasswordLink } from '../../src/features/sign-in/one-time-links.service.ts';
import { authenticatePassword } from '../../src/features/sign-in/sign-in.service.ts';
import { causes, type ManagementApi, startManagementApi } from '../support/management-api.ts';
import { type Administrator, administrator, organization, PASSWORD, person, unique } from './people.ts';

describe('privileges of administrators ("users", roles)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  /** @returns the token of a link that the administrator got for the user */
  async function linkOf(admin: Pick<Administrator, 'call'>, userId: string): Promise<string> {
    const { body } = await admin.call<{ resetPasswordUrl: string }>('POST', `/users/${userId}/lifecycle/reset_password?sendEmail=false`);
    return body.resetPasswordUrl.split('/').at(-1) ?? '';
  }

  it("a link to somebody's password dies when he gets a role, another organization, another password or address", async () => {
    const orgId = await organization(api);
    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
    const changes: [what: string, change: (userId: string) => Promise<unknown>][] = [
      ['a role', (id) => api.call('POST', `/users/${id}/roles`, { type: 'READ_ONLY_ADMIN' })],
      ['another organization', async (id) => api.call('PUT', `/account/org/${await organization(api)}/member/${id}`, {})],
      ['a password', (id) => api.call('POST', `/users/${id}`, { credentials: { password: { value: 'set by an administrator' } } })],
      ['an address', (id) => api.call('POST', `/users/${id}`, { profile: { email: `${unique('new')}@example.com` } })],
    ];
    for (const [what, change] of changes) {
      const { id } = await person(api, { orgId });
      const token = await linkOf(admin, id);
      await change(id);
      assert.equal(await usePasswordLink(api.services, { token, password: 'a password of the other' }, SYSTEM), undefined, what);
    }
  });

  it("an organization's administrator takes nobody's name: neither login nor e-mail address of another", async () => {
    const orgId = await organization(api);
    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
    const email = `${unique('victim')}@example.com`;
    const victim = await person(api, { profile: { email } });
    const refused = async (profile: Record<string, string>, field: string) => {
      const answer = await admin.call('POST', '/users', { profile: { login: unique('user'), ...profile }, orgId });
      assert.deepEqual(
        [answer.status, causes(answer)],
        [409, [`profile.${field}: is not available. Choose another one, or invite the user to the organization`]],
      );
    };
    await refused({ login: email.toUpperCase() }, 'login');
    await refused({ email }, 'email');
    const byMail = await person(api, { profile: { login: `${unique('login')}@example.com` } });
    await refused({ email: byMail.profile.login ?? '' }, 'email');
    const found = await authenticatePassword(api.services, { username: email, password: PASSWORD }, SYSTEM);
    assert.ok(JSON.stringify(found).includes(victim.id));
  });

  it('a token that is being made while its creator is deactivated does not live on', async () => {
    const { id, call } = await administrator(api, { type: 'SUPER_ADMIN' });
    const making = Array.from({ length: 8 }, (_, turn) => call<{ token?: string }>('POST', '/api-tokens', { name: `t${turn}` }));
    const [made] = await Promise.all([Promise.all(making), api.call('POST', `/users/${id}/lifecycle/deactivate`)]);
    await api.call('POST', `/users/${id}/lifecycle/activate`);
    for (const { body } of made) {
      if (body.token === undefined) continue;
      assert.equal((await api.call('GET', '/users', undefined, { authorization: `SSWS ${body.token}` })).status, 401);
    }
  });

  it('the last who can sign in stays SUPER_ADMIN, whoever else has the role without a password', async () => {
    const alone = await startManagementApi();
    try {
      const { body } = await alone.call<{ id: string }>('POST', '/users', { profile: { login: 'ghost' } });
      await alone.call('POST', `/users/${body.id}/roles`, { type: 'SUPER_ADMIN' });
      const { body: roles } = await alone.call<{ id: string }[]>('GET', `/users/${alone.admin.userId}/roles`);
      assert.equal((await alone.call('DELETE', `/users/${alone.admin.userId}/roles/${roles[0]?.id}`)).status, 403);
    } finally {
      await alone.close();
    }
  });

  it('a time that cannot be written is refused, and leaves the list readable', async () => {
    for (const expiresAt of ['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z']) {
      const answer = await api.call('POST', '/api-tokens', { name: 'x', expiresAt });
      assert.deepEqual([answer.status, answer.body.errorCode], [400, 'E0000001']);
    }
    assert.equal((await api.call('GET', '/api-tokens')).status, 200);
  });
});
