/** What a customer's identity provider may not do, and how nobody sheds one that is required of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { startDns } from '../../support/dns.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { connect, createOrg } from '../../support/tenants.ts';
import { createIdp, idpBody, isAdmitted, problemOf, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { LINKING, startCustomers, twoCustomers } from './customers.ts';

const reasonsOf = async (service: Awaited<ReturnType<typeof startCustomers>>['service']): Promise<string[]> => {
  const filter = encodeURIComponent('eventType eq "user.authentication.auth_via_IDP" and outcome.result eq "FAILURE"');
  return (await service.api('GET', `/logs?filter=${filter}`)).body.map(({ outcome }: { outcome: { reason: string } }) => outcome.reason);
};

test('a customer’s provider vouches for nobody outside its domains: neither links, nor makes accounts, nor writes addresses', async (t) => {
  const { service, upstream, acme, beta, come } = await startCustomers(t);
  const bob = await service.createUser({ login: 'bob@public.example', email: 'bob@public.example', emailVerified: true });
  for (const customer of [acme, beta]) {
    for (const email of ['bob@public.example', 'new@public.example', 'someone@sub.acme.example'])
      assert.equal(problemOf(await come(customer, `${email} there`, email)), 'upstream_not_admitted', email);
    assert.equal((await service.api('GET', `/idps/${customer.idpId}/users/${bob.id}`)).status, 404);
  }
  assert.equal((await service.api('GET', '/users/new@public.example')).status, 404);
  assert.deepEqual([...new Set(await reasonsOf(service))], ['EMAIL_NOT_OF_ORGANIZATION']);

  const mastering = { provisioning: { action: 'AUTO', profileMaster: true }, accountLink: { action: 'AUTO' } };
  await service.api('PUT', `/idps/${acme.idpId}`, { ...idpBody(upstream, mastering), name: 'Acme Login' });
  assert.ok(isAdmitted(await come(acme, 'carol', 'carol@acme.example')));
  assert.ok(isAdmitted(await come(acme, 'carol', 'carol@public.example')), 'the link stands');
  const { profile } = (await service.api('GET', '/users/carol@acme.example')).body;
  assert.equal(profile.email, 'carol@acme.example');
  assert.ok(isAdmitted(await come(acme, 'carol', 'carol.new@acme.example')));
  assert.equal((await service.api('GET', '/users/carol@acme.example')).body.profile.email, 'carol.new@acme.example', 'within it does');
});

test('a provider that was a customer’s vouches for nobody after it was disconnected', async (t) => {
  const { service, upstream, acme, request } = await startCustomers(t);
  const bob = await service.createUser({ login: 'bob@public.example', email: 'bob@public.example', emailVerified: true });
  assert.equal((await service.api('DELETE', `/account/org/${acme.orgId}/idp/${acme.idpId}`)).status, 204);
  assert.doesNotMatch((await new UserAgent(service.baseUrl).visit(request())).text, /Acme Login/);
  for (const email of ['bob@public.example', 'new@public.example', 'new@acme.example']) {
    upstream.behaviour.subject = `${email} there`;
    upstream.behaviour.claims = { email, email_verified: true };
    const agent = new UserAgent(service.baseUrl);
    const answer = await throughUpstream(agent, (await agent.visit(request({ idp: acme.idpId }))).url);
    assert.equal(problemOf(answer), 'upstream_not_admitted', email);
  }
  assert.equal((await service.api('GET', `/idps/${acme.idpId}/users/${bob.id}`)).status, 404);
});

test('a member who was removed is made a member again by administrators alone', async (t) => {
  const { service, acme, come } = await startCustomers(t);
  assert.ok(isAdmitted(await come(acme, 'dora', 'dora@acme.example')));
  const { id } = (await service.api('GET', '/users/dora@acme.example')).body;
  const members = `/account/org/${acme.orgId}/member`;
  assert.match(JSON.stringify((await service.api('GET', members)).body), new RegExp(id));
  assert.equal((await service.api('DELETE', `${members}/${id}`)).status, 200);
  assert.ok(isAdmitted(await come(acme, 'dora', 'dora@acme.example')));
  assert.doesNotMatch(JSON.stringify((await service.api('GET', members)).body), new RegExp(id));
});

test('accounts that existed before stay their users’ own, those that a provider makes are the organization’s', async (t) => {
  const { service, acme, come } = await startCustomers(t);
  await service.createUser({ login: 'old@acme.example', email: 'old@acme.example' });
  for (const name of ['old', 'new']) assert.ok(isAdmitted(await come(acme, name, `${name}@acme.example`)), name);
  const { rows } = await onServer(service.database.url, (client) =>
    client.query('SELECT u.login, m.is_joined FROM memberships m JOIN users u ON u.id = m.user_id ORDER BY u.login'),
  );
  assert.deepEqual(rows, [
    { login: 'new@acme.example', is_joined: false },
    { login: 'old@acme.example', is_joined: true },
  ]);
});

test('who must use a provider is not asked for a password at /account/password', async (t) => {
  const { service, acme, come } = await startCustomers(t);
  const agent = new UserAgent(service.baseUrl);
  assert.ok(isAdmitted(await come(acme, 'eve', 'eve@acme.example', agent)));
  const page = await agent.visit('/account/password');
  assert.deepEqual([page.url.pathname, page.status], ['/account/password', 200]);
  assert.match(page.text, /Your organization requires you to sign in with Acme Login\. If you want another password, change it there\./);
  assert.doesNotMatch(page.text, /id="password-form"|You have no password yet/);
});

test('owners and holders of custom roles are not locked out when a provider becomes required', async (t) => {
  const { service, client, acme } = await startCustomers(t);
  const requiredOf = async (roles: string[] | undefined) => {
    const user = await service.createUser({ login: `${roles?.[0] ?? 'plain'}@acme.example` });
    await service.api('PUT', `/account/org/${acme.orgId}/member/${user.id}`, {});
    if (roles) assert.equal((await service.api('PUT', `/account/org/${acme.orgId}/member/${user.id}/role`, { roles })).status, 200);
    const question = { client_id: client.clientId, user: user.id, grant_type: 'authorization_code' };
    return (await service.api('POST', '/authorizationServers/default/simulate', question)).body.required_provider?.id;
  };
  await service.api('POST', `/account/org/${acme.orgId}/role`, { name: 'billing', permissions: ['READ_LOG'] });
  await service.api('POST', `/account/org/${acme.orgId}/role`, { name: 'nothing', permissions: [] });
  const found = [];
  for (const roles of [['owner'], ['admin'], ['billing'], ['nothing'], undefined]) found.push(await requiredOf(roles));
  assert.deepEqual(found, [undefined, undefined, undefined, acme.idpId, acme.idpId]);
});

test('an application’s list of providers restricts: a customer’s is open only where the typed domain leads to it', async (t) => {
  const { service, upstream, acme, beta, request } = await startCustomers(t);
  const social = await createIdp(service, { ...idpBody(upstream, LINKING), name: 'Social' });
  const restricted = await createClient(service, { identity_providers: [social] });
  const naming = await createClient(service, { identity_providers: [beta.idpId] });
  const begin = async (clientId: string | undefined, idpId: string, query = ''): Promise<Page> => {
    const agent = new UserAgent(service.baseUrl);
    const { pathname } = (await agent.visit(request(clientId === undefined ? {} : { client_id: clientId }))).url;
    return agent.visit(`${pathname.replace(/\/login$/, '')}/upstream/${idpId}${query}`);
  };
  const isOut = (page: Page) => page.url.href.startsWith(`${upstream.issuer}/authorize`);
  for (const client of [undefined, restricted.clientId]) {
    for (const { idpId, domain } of [acme, beta]) {
      assert.equal(problemOf(await begin(client, idpId)), 'upstream_not_offered');
      assert.equal(problemOf(await begin(client, idpId, '?domain=elsewhere.example')), 'upstream_not_offered');
      assert.ok(isOut(await begin(client, idpId, `?domain=${domain}`)));
    }
    assert.ok(isOut(await begin(client, social)));
  }
  assert.ok(isOut(await begin(naming.clientId, beta.idpId)), 'the application names it');
  assert.equal(problemOf(await begin(naming.clientId, social)), 'upstream_not_offered');

  const named = async (more: Record<string, string>) => new UserAgent(service.baseUrl).visit(request({ idp: beta.idpId, ...more }));
  assert.ok(isOut(await named({})), 'the request names it');
  assert.equal(isOut(await named({ client_id: restricted.clientId })), false);

  const alone = new UserAgent(service.baseUrl);
  assert.equal(problemOf(await alone.visit(`/signin/upstream/${beta.idpId}`)), 'upstream_not_offered');

  // The domain is asked again on the way back.
  const agent = new UserAgent(service.baseUrl);
  const { pathname } = (await agent.visit(request())).url;
  const out = await agent.visit(`${pathname.replace(/\/login$/, '')}/upstream/${beta.idpId}?domain=beta.example`);
  await service.api('PUT', `/account/org/${beta.orgId}/idp/${beta.idpId}`, { domains: [] });
  assert.equal(problemOf(await throughUpstream(agent, out.url)), 'upstream_not_offered');
});

test('no user sheds a required provider: by disconnecting it, by another address, or by joining another organization', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const mail = await startMailServer(t);
  const env = { ...mail.env, ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server, RATE_LIMITS: 'off' };
  const service = await startService(t, { env, sendsOutbox: true });
  const upstream = await startUpstream(t);
  const { acme, beta } = await twoCustomers(service, upstream, dns);
  const connectAcme = (mode: string) => connect(service, acme.orgId, acme.idpId, { domains: [acme.domain], mode });

  await service.api('PUT', '/settings/sign-in', {});

  // A name without a domain, and an e-mail under way to an address elsewhere.
  await connectAcme('OFFERED');
  const gil = { ...(await service.createUser({ login: 'gil', email: 'gil@acme.example' })), login: 'gil' };
  await service.api('PUT', `/account/org/${acme.orgId}/member/${gil.id}`, {});
  await service.api('POST', `/idps/${acme.idpId}/users/${gil.id}`, { externalId: 'gil' });
  const agent = new UserAgent(service.baseUrl);
  const entered = await agent.signIn(await agent.visit('/account/profile'), gil);
  assert.equal(entered.url.pathname, '/account/profile', entered.text);
  const change = async (email: string) => agent.submit(await agent.visit('/account/profile'), 'email-form', { email });
  assert.equal((await change('gil@elsewhere.example')).status, 200);
  const { link } = await mail.mail('gil@elsewhere.example');
  await connectAcme('REQUIRED');
  assert.equal((await agent.submit(await agent.visit(link), 'verify-email-form')).status, 410, 'a link of before');
  const refused = await change('gil@private.example');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /requires a sign-in that does not work with this address/);
  assert.equal((await change('gilbert@acme.example')).status, 200, 'within the domain it may change');
  assert.equal((await service.api('GET', `/users/${gil.id}`)).body.profile.email, 'gil@acme.example');

  const security = await agent.visit('/account/security');
  assert.match(security.text, /Acme Login/);
  assert.doesNotMatch(security.text, new RegExp(`id="disconnect-${acme.idpId}"`));
  const token = /name="csrf" value="([^"]+)"/.exec(security.text)?.[1] ?? '';
  const answer = await agent.send('/account/security/disconnect', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.baseUrl },
    body: new URLSearchParams({ csrf: token, idp: acme.idpId }),
  });
  assert.match(await answer.text(), /upstream_last_way/);

  await service.api('POST', `/account/org/${beta.orgId}/invitation`, { email: 'gil@acme.example' });
  const invitation = await mail.mail('gil@acme.example', 2);
  const back = await agent.visit(invitation.link);
  const joined = await agent.submit(back, 'join-form', { decision: 'join' });
  assert.doesNotMatch(joined.text, /choose-password-form/, 'a password would not help');
  const members = (await service.api('GET', `/account/org/${beta.orgId}/member`)).body;
  assert.deepEqual(
    members.map(({ login }: { login: string }) => login),
    ['gil'],
  );
  assert.equal((await service.api('GET', `/idps/${acme.idpId}/users/${gil.id}`)).status, 200, 'the account there stays connected');
  await service.api('PUT', `/users/${gil.id}`, { credentials: { password: { value: gil.password } } });
  assert.equal((await service.api('POST', '/authn', { username: 'gil', password: gil.password })).status, 401);

  // With a role for the service nothing is required any more, and the customer's provider must not open it.
  await service.api('POST', `/users/${gil.id}/roles`, { type: 'READ_ONLY_ADMIN' });
  assert.equal((await service.api('GET', `/idps/${acme.idpId}/users/${gil.id}`)).status, 404);
});

test('a right in another organization ends the account at the provider: who controls it would share the right', async (t) => {
  const { service, acme, beta, come } = await startCustomers(t);
  await service.api('POST', `/account/org/${beta.orgId}/role`, { name: 'reader', permissions: ['READ_LOG'] });
  const linkOf = async (userId: string) => (await service.api('GET', `/idps/${acme.idpId}/users/${userId}`)).status;
  const roles = (orgId: string, userId: string, names: string[]) =>
    service.api('PUT', `/account/org/${orgId}/member/${userId}/role`, { roles: names });
  for (const role of ['admin', 'reader', 'ORG_ADMIN', 'SUPER_ADMIN', 'owner']) {
    const login = `${role.toLowerCase()}@acme.example`;
    const user = await service.createUser({ login, email: login });
    for (const orgId of [acme.orgId, beta.orgId]) await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
    const agent = new UserAgent(service.baseUrl);
    assert.ok(isAdmitted(await come(acme, role, login, agent)), role);
    assert.equal(await linkOf(user.id), 200, 'membership alone keeps it');
    const given =
      role === role.toUpperCase()
        ? await service.api('POST', `/users/${user.id}/roles`, { type: role, ...(role === 'ORG_ADMIN' && { orgId: beta.orgId }) })
        : await roles(beta.orgId, user.id, [role]);
    assert.ok(given.status < 300, JSON.stringify(given.body));
    assert.equal(await linkOf(user.id), 404, role);
    assert.equal(problemOf(await come(acme, role, login)), 'upstream_not_admitted', role);
    assert.notEqual((await agent.visit('/account/security')).url.pathname, '/account/security', 'the session of before has ended');
  }

  const own = await service.createUser({ login: 'own@acme.example', email: 'own@acme.example' });
  await service.api('PUT', `/account/org/${acme.orgId}/member/${own.id}`, {});
  assert.ok(isAdmitted(await come(acme, 'own', 'own@acme.example')));
  assert.equal((await roles(acme.orgId, own.id, ['admin'])).status, 200);
  assert.equal(await linkOf(own.id), 200, 'a right in the organization of the provider is no reason');
});

test('a second organization is no way around a required provider, also before the first sign-in there', async (t) => {
  const { service, client, acme, beta, come } = await startCustomers(t);
  const login = 'new@acme.example';
  const user = { ...(await service.createUser({ login, email: login })), login };
  for (const { orgId } of [acme, beta]) await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const required = async () => {
    const question = { client_id: client.clientId, user: user.id, grant_type: 'authorization_code' };
    return (await service.api('POST', '/authorizationServers/default/simulate', question)).body.required_provider?.id;
  };
  const byPassword = async () => (await service.api('POST', '/authn', { username: login, password: user.password })).status;
  assert.equal(await required(), acme.idpId);
  assert.ok(isAdmitted(await come(acme, 'new', login)), 'and the provider lets them in');
  await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
  assert.equal(await byPassword(), 401);
  const third = await createOrg(service, 'Third');
  await service.api('PUT', `/account/org/${third}/member/${user.id}`, {});
  assert.ok(isAdmitted(await come(acme, 'new', login)), 'nor does a further organization lock them out');

  const left = { ...(await service.createUser({ login: 'left@acme.example', email: 'left@acme.example' })), login: 'left@acme.example' };
  for (const { orgId } of [acme, beta]) await service.api('PUT', `/account/org/${orgId}/member/${left.id}`, {});
  await service.api('DELETE', `/account/org/${acme.orgId}/member/${left.id}`);
  await service.api('POST', `/users/${left.id}`, { credentials: { password: { value: left.password } } });
  assert.equal((await service.api('POST', '/authn', { username: left.login, password: left.password })).status, 200, 'for members alone');
});
