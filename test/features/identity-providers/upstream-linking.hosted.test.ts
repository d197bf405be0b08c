/** Who is taken for an existing user because of a verified e-mail address, and who is not (management-api.md, `idps`, policy; pre-hijacking: USENIX Security 2022). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { createIdp, idpBody, isAdmitted, problemOf, signInAt, startUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };

test('account linking and creation', async (t) => {
  const service: Service = await startService(t, { env });
  const upstream = await startUpstream(t);
  const client = await createClient(service);
  const request = authorizeUrl(service, 'default', { client_id: client.clientId });
  const linking = { provisioning: { action: 'DISABLED' }, accountLink: { action: 'AUTO' } };
  const idp = await createIdp(service, idpBody(upstream, linking));
  const configure = async (policy: Record<string, unknown>) => {
    const answer = await service.api('PUT', `/idps/${idp}`, idpBody(upstream, policy));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };

  /** A user without a password, who has never signed in. */
  async function untouched(email: string, profile: Record<string, unknown> = {}): Promise<string> {
    return (await service.api('POST', '/users', { profile: { login: `login-${randomUUID()}`, email, ...profile } })).body.id;
  }
  /** Signs in as a new subject with that address. */
  async function come(
    email: string | undefined,
    {
      verified = true,
      subject = randomUUID() as string,
      ...claims
    }: Record<string, unknown> & { verified?: boolean; subject?: string } = {},
  ): Promise<Page> {
    upstream.behaviour.subject = subject;
    upstream.behaviour.claims = { ...(email !== undefined && { email, email_verified: verified }), ...claims };
    return signInAt(new UserAgent(service.baseUrl), request, idp);
  }
  const linkOf = async (userId: string) => (await service.api('GET', `/idps/${idp}/users/${userId}`)).status;
  const reasons = async (): Promise<string[]> =>
    (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent('eventType eq "user.authentication.auth_via_IDP"')}`)).body.map(
      ({ outcome }: { outcome: { reason?: string } }) => outcome.reason ?? 'SUCCESS',
    );
  async function refused(page: Page, reason: string): Promise<void> {
    assert.equal(problemOf(page), 'upstream_not_admitted', page.text);
    assert.equal((await reasons()).at(-1), reason);
  }

  await t.test(
    'a user whom nobody has ever been able to sign in as is linked by his verified address, which then counts as his',
    async () => {
      const id = await untouched('first@example.com');
      assert.ok(isAdmitted(await come('First@Example.com', { subject: 'first' })));
      assert.equal(await linkOf(id), 200);
      assert.ok(isAdmitted(await come(undefined, { subject: 'first' })), 'from now on by the subject alone, whatever the address');
    },
  );

  await t.test('an address that the provider has not verified links nobody', async () => {
    const id = await untouched('unverified@example.com');
    await refused(await come('unverified@example.com', { verified: false }), 'NO_LINKED_USER');
    assert.equal(await linkOf(id), 404);
  });

  await t.test(
    'an account with a password whose address nobody has proved is not taken over, nor shared with whoever made it (pre-hijacking)',
    async () => {
      const { id } = await service.createUser({ email: 'prehijacked@example.com' });
      await refused(await come('prehijacked@example.com'), 'LOCAL_EMAIL_NOT_VERIFIED');
      assert.equal(await linkOf(id), 404);
    },
  );

  await t.test('nor is one whose passkey somebody has: it opens the account without a password', async () => {
    const id = await untouched('passkey@example.com');
    await onServer(service.database.url, (sql) =>
      sql.query(
        `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, multi_device, backed_up, aaguid, name, created)
          VALUES ('facOne', $1, 'one', '', 0, '{}', false, false, '', 'Mine', now())`,
        [id],
      ),
    );
    await refused(await come('passkey@example.com'), 'LOCAL_EMAIL_NOT_VERIFIED');
    assert.equal(await linkOf(id), 404);
  });

  await t.test(
    'nor is a member of an organization other than the provider’s: its administrator could set a password afterwards',
    async () => {
      const org = async () => (await service.api('POST', `/account/org?orgName=${randomUUID()}`, {})).body.orgId as string;
      const [foreign, own] = [await org(), await org()];
      const member = async (email: string, orgId: string) => {
        const id = await untouched(email);
        assert.equal((await service.api('PUT', `/account/org/${orgId}/member/${id}`, {})).status, 200);
        return id;
      };
      const prepared = await member('prepared@example.com', foreign);
      await refused(await come('prepared@example.com'), 'USER_OF_ANOTHER_ORGANIZATION');
      assert.equal(await linkOf(prepared), 404);
      const colleague = await member('colleague@example.com', own);
      await configure({ ...linking, provisioning: { action: 'DISABLED', orgId: own } });
      assert.ok(isAdmitted(await come('colleague@example.com')));
      assert.equal(await linkOf(colleague), 200);
      await configure(linking);
    },
  );

  await t.test('never onto an administrator', async () => {
    const id = await untouched('boss@example.com');
    assert.equal((await service.api('POST', `/users/${id}/roles`, { type: 'READ_ONLY_ADMIN' })).status, 201);
    await refused(await come('boss@example.com'), 'USER_IS_ADMINISTRATOR');
  });

  await t.test('not onto a user who is another subject there already, nor onto one who is not active', async () => {
    await refused(await come('first@example.com', { subject: 'a second one' }), 'USER_LINKED_TO_ANOTHER');
    const id = await untouched('suspended@example.com');
    await service.api('POST', `/users/${id}/lifecycle/suspend`);
    await refused(await come('suspended@example.com'), 'USER_NOT_ACTIVE');
  });

  await t.test('a linked user who is suspended is not let in', async () => {
    const id = await untouched('linked@example.com');
    assert.ok(isAdmitted(await come('linked@example.com', { subject: 'linked' })));
    await service.api('POST', `/users/${id}/lifecycle/suspend`);
    await refused(await come('linked@example.com', { subject: 'linked' }), 'USER_NOT_ACTIVE');
  });

  await t.test('accountLink DISABLED: nobody is linked by an address, and with provisioning there is no second account of it', async () => {
    const id = await untouched('disabled@example.com');
    await configure({ provisioning: { action: 'AUTO' } });
    await refused(await come('disabled@example.com'), 'ACCOUNT_LINK_DISABLED');
    assert.equal(await linkOf(id), 404);
  });

  await t.test('the filter lets members of its groups only be linked', async () => {
    const group = (await service.api('POST', '/groups', { profile: { name: `Linkable ${randomUUID()}` } })).body.id;
    await configure({ ...linking, accountLink: { action: 'AUTO', filter: { groups: { include: [group] } } } });
    const id = await untouched('filtered@example.com');
    await refused(await come('filtered@example.com', { subject: 'filtered' }), 'USER_NOT_IN_GROUPS');
    await service.api('PUT', `/groups/${group}/users/${id}`);
    assert.ok(isAdmitted(await come('filtered@example.com', { subject: 'filtered' })));
  });

  await t.test('matchType USERNAME compares the login, and emailDomains says whose addresses the provider vouches for', async () => {
    await configure({ ...linking, subject: { matchType: 'USERNAME', emailDomains: ['trusted.example'] } });
    const id = (await service.api('POST', '/users', { profile: { login: 'by-login@trusted.example', email: 'by-login@trusted.example' } }))
      .body.id;
    assert.ok(isAdmitted(await come('by-login@trusted.example')));
    assert.equal(await linkOf(id), 200);
    await untouched('only-mail@trusted.example');
    await refused(await come('only-mail@trusted.example'), 'NO_LINKED_USER');
    await service.api('POST', '/users', { profile: { login: 'x@elsewhere.example', email: 'x@elsewhere.example' } });
    await refused(await come('x@elsewhere.example'), 'NO_LINKED_USER');
  });

  await t.test('a link to choose a password that is still about is worth nothing after the linking', async () => {
    await configure(linking);
    const staged = await service.api('POST', '/users?activate=false', {
      profile: { login: `s-${randomUUID()}`, email: 'staged@example.com' },
    });
    const activation = await service.api('POST', `/users/${staged.body.id}/lifecycle/activate?sendEmail=false`);
    assert.equal(activation.status, 200);
    assert.equal((await service.api('GET', `/users/${staged.body.id}`)).body.status, 'PROVISIONED');
    const { pathname } = new URL(activation.body.activationUrl);
    assert.equal((await fetch(service.baseUrl + pathname)).status, 200);
    assert.ok(isAdmitted(await come('staged@example.com')));
    assert.equal((await fetch(service.baseUrl + pathname)).status, 410);
  });

  await t.test('a new user does not get a name that is somebody else’s, nor a login like an address that is not his', async () => {
    await configure({ provisioning: { action: 'AUTO' }, subject: { userNameTemplate: { template: 'idpuser.preferred_username' } } });
    const { login } = await service.createUser();
    await refused(await come(`new-${randomUUID()}@example.com`, { preferred_username: login.toUpperCase() }), 'NAME_TAKEN');
    assert.equal(problemOf(await come(undefined, { preferred_username: 'victim@example.com' })), 'upstream_no_email');
    const subject = { matchType: 'USERNAME', userNameTemplate: { template: 'idpuser.preferred_username' } };
    await configure({ provisioning: { action: 'AUTO' }, subject });
    await untouched('shared@example.com');
    await refused(await come('shared@example.com', { preferred_username: `plain-${randomUUID()}` }), 'NAME_TAKEN');
    assert.ok(isAdmitted(await come(undefined, { preferred_username: `plain-${randomUUID()}` })));
  });

  await t.test('claims of any kind are data: markup, right-to-left script, control characters, ten thousand letters, objects', async () => {
    await configure({ provisioning: { action: 'AUTO', profileMaster: true } });
    const email = `odd-${randomUUID()}@example.com`;
    const odd = { given_name: '<script>alert(1)</script>', family_name: 'שלום', name: 'x'.repeat(10_000) };
    assert.ok(isAdmitted(await come(email, { subject: 'odd', ...odd })));
    const found = (await service.api('GET', `/users/${encodeURIComponent(email)}`)).body.profile;
    assert.deepEqual([found.firstName, found.lastName, found.displayName], [odd.given_name, odd.family_name, undefined]);
    assert.ok(isAdmitted(await come(email, { subject: 'odd', given_name: 'a\u0000b', family_name: { evil: true } })));
    assert.equal((await service.api('GET', `/users/${encodeURIComponent(email)}`)).body.profile.firstName, odd.given_name);
    assert.equal(problemOf(await come(`${'x'.repeat(300)}@example.com`)), 'upstream_no_email', 'no mail server takes that address');
  });

  await t.test('a subject with control characters or of ten thousand letters is no answer that ends in an internal error', async () => {
    for (const subject of ['a\u0000b', 'x'.repeat(10_000)]) {
      const page = await come(`subject-${randomUUID()}@example.com`, { subject });
      assert.equal(problemOf(page), 'upstream_untrusted', page.text);
    }
  });

  await t.test('nothing is left of a sign-in that could not be finished', async () => {
    const group = (await service.api('POST', '/groups', { profile: { name: `Gone ${randomUUID()}` } })).body.id;
    await configure({ provisioning: { action: 'AUTO', groups: { action: 'ASSIGN', assignments: [group] } } });
    await service.api('DELETE', `/groups/${group}`);
    await refused(await come('half@example.com'), 'PROVISIONING_NOT_POSSIBLE');
    assert.equal((await service.api('GET', '/users/half@example.com')).status, 404);
  });
});
