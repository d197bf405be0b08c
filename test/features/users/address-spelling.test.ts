/** The two spellings of an internationalized domain are one name: stored in one form, found by both, whoever wrote it (RFC 5890 section 2.3.2.1). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { completeIdentityProvider } from '../../../src/features/identity-providers/identity-provider.policy.ts';
import { verifiedEmail } from '../../../src/features/identity-providers/upstream-claims.policy.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { isDomainAllowed } from '../../../src/features/sign-up/sign-up.policy.ts';
import { findUserByName } from '../../../src/features/users/users.store.ts';
import { asciiAddress, composedName, isSameAddress } from '../../../src/platform/dns/address-spelling.ts';
import type { User } from '../../api/people.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

const PASSWORD = 'analytical engine';
const ascii = (local: string) => `${local}@xn--bcher-kva.example`;
const readable = (local: string) => `${local}@bücher.example`;

describe('the domain of a name', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const create = <B = User>(login: string, email: string | undefined = undefined) =>
    api.call<B>('POST', '/users', { profile: { login, ...(email && { email }) }, credentials: { password: { value: PASSWORD } } });
  const idOf = async (username: string) => (await authenticatePassword(api.services, { username, password: PASSWORD }, SYSTEM))?.id;
  /** A user whose names are stored as versions before stored them. */
  async function createFormer(local: string): Promise<User> {
    const { body } = await create(readable(local), readable(local));
    await api.services.database
      .knex('users')
      .where({ id: body.id })
      .update({ login: ascii(local), email: ascii(local), email_verified: true });
    return body;
  }

  it('is stored as people write it, and found by both spellings', async () => {
    for (const [local, typed] of [
      ['ann', ascii('ann')],
      ['ben', readable('ben')],
    ] as const) {
      const { status, body } = await create(typed, typed);
      assert.equal(status, 200);
      assert.deepEqual([body.profile.login, body.profile.email], [readable(local), readable(local)]);
      for (const name of [ascii(local), readable(local), ascii(local).toUpperCase()]) {
        assert.equal((await api.call<User>('GET', `/users/${encodeURIComponent(name)}`)).body.id, body.id, name);
        assert.equal(await idOf(name), body.id, name);
        for (const field of ['login', 'email']) {
          const found = await api.call<User[]>('GET', `/users?search=${encodeURIComponent(`profile.${field} eq "${name}"`)}`);
          assert.deepEqual(
            found.body.map(({ id }) => id),
            [body.id],
            `${field} ${name}`,
          );
        }
      }
    }
  });

  it('does not make two users of one name, in whichever form the first is stored', async () => {
    await create(readable('new'));
    await createFormer('former');
    for (const local of ['new', 'former']) {
      for (const name of [ascii(local), readable(local)]) {
        const twice = await create<ErrorObject>(name);
        assert.deepEqual([twice.status, causes(twice)[0]?.split(':')[0]], [409, 'profile.login'], name);
        const asEmail = await create<ErrorObject>(`other-${local}`, name);
        assert.deepEqual([asEmail.status, causes(asEmail)[0]?.split(':')[0]], [409, 'profile.email'], name);
      }
    }
  });

  it('stays as it is stored in existing rows, which work with both spellings', async () => {
    const { id } = await createFormer('old');
    for (const name of [ascii('old'), readable('old')]) {
      assert.equal(await idOf(name), id, name);
      assert.equal((await findUserByName(api.services.database.knex, name))?.id, id, name);
    }
    const { body } = await api.call<User>('POST', `/users/${id}`, { profile: { email: readable('old'), firstName: 'Ada' } });
    const { login, email, emailVerified, firstName } = body.profile as Record<string, unknown>;
    assert.deepEqual(
      { login, email, emailVerified, firstName },
      { login: ascii('old'), email: ascii('old'), emailVerified: true, firstName: 'Ada' },
    );
  });

  it('leads to the account that was typed, where both spellings were accounts before', async () => {
    const [former, { body: other }] = [await createFormer('twice'), await create('not-yet')];
    await api.services.database
      .knex('users')
      .where({ id: other.id })
      .update({ login: readable('twice') });
    assert.deepEqual([await idOf(ascii('twice')), await idOf(readable('twice'))], [former.id, other.id]);
  });
});

it('of identity providers and of sign-up is compared in both spellings', () => {
  assert.ok(isSameAddress(ascii('ann'), readable('Ann')));
  assert.ok(!isSameAddress('ann@xn--mnchen-3ya.example', readable('ann')));
  const policy = completeIdentityProvider({
    type: 'OIDC',
    protocol: { credentials: { client: { client_id: 'us' } } },
    policy: { subject: { emailDomains: ['xn--bcher-kva.example'] } },
  }).policy;
  for (const email of [ascii('ann'), readable('ann')])
    assert.equal(verifiedEmail('OIDC', policy, { email, email_verified: true }), readable('ann'));
  for (const domain of ['bücher.example', 'xn--bcher-kva.example']) {
    for (const email of [ascii('ann'), readable('ann')]) {
      assert.ok(isDomainAllowed({ allowedDomains: [domain], blockedDomains: [] }, email));
      assert.ok(!isDomainAllowed({ allowedDomains: [], blockedDomains: [domain] }, email));
    }
  }
  assert.ok(!isDomainAllowed({ allowedDomains: ['other.example'], blockedDomains: [] }, ascii('ann')));
});

it('changes nothing but a regular domain', () => {
  for (const name of [
    'ann',
    'xn--bcher-kva',
    'ann@example.com',
    'Ann@Example.COM',
    'ann@xn--.example',
    'ann@evil\u3002example',
    '@xn--bcher-kva.example',
    'a@',
  ])
    assert.deepEqual([composedName(name), asciiAddress(name)], [name, name], name);
  for (const name of ['a@\u212aim.example', 'a@\u212a\u00fc.example']) assert.equal(asciiAddress(name), name, 'the Kelvin sign is no k');
  assert.equal(composedName('Ann@XN--FA-HIA.example'), 'Ann@faß.example');
  assert.equal(asciiAddress('Ann@FAß.example'), 'Ann@xn--fa-hia.example');
});
