/** Home-realm discovery: the domain of what is typed decides where somebody signs in, and a required provider has no way around it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter } from '../../pages/console/administrators.ts';
import { answerOf, post } from '../../protocol/servers/relying-party.ts';
import { startDns } from '../../support/dns.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';
import { connect } from '../../support/tenants.ts';
import { createIdp, idpBody, isAdmitted, problemOf, startUpstream, throughUpstream, type UpstreamServer } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { LINKING, startCustomers, twoCustomers } from './customers.ts';

const atUpstream = (page: Page, upstream: UpstreamServer): boolean => page.url.href.startsWith(`${upstream.issuer}/authorize`);
const membersOf = async (service: Service, orgId: string): Promise<{ login: string; depId: string }[]> =>
  (await service.api('GET', `/account/org/${orgId}/member`)).body;

test('the domain decides: a required provider is gone to at once, an offered one stands first, any other is as ever', async (t) => {
  const { service, upstream, acme, beta, request, type } = await startCustomers(t);

  const plain = await new UserAgent(service.baseUrl).visit(request());
  assert.doesNotMatch(plain.text, /Acme Login|Beta Login/, 'names of customers are on no page that everybody sees');

  const agent = new UserAgent(service.baseUrl);
  const out = await type('Ada@ACME.example', agent);
  assert.ok(atUpstream(out, upstream), out.text.slice(0, 500));
  assert.equal(out.url.searchParams.get('login_hint'), 'Ada@ACME.example');
  upstream.behaviour.claims = { email: 'ada@acme.example', email_verified: true };
  assert.ok(isAdmitted(await throughUpstream(agent, out.url)));
  assert.deepEqual(
    (await membersOf(service, acme.orgId)).map(({ login }) => login),
    ['ada@acme.example'],
    'and is a member by now',
  );

  const offered = await type('bob@beta.example');
  assert.match(offered.text, /id="home-providers"[\s\S]*Sign in with Beta Login[\s\S]*id="password"/);
  assert.match(offered.text, new RegExp(`/upstream/${beta.idpId}`));

  const other = await type('eve@elsewhere.example');
  assert.match(other.text, /id="password"/);
  assert.doesNotMatch(other.text, /home-providers|Login</);

  const hinted = await new UserAgent(service.baseUrl).visit(request({ login_hint: 'ada@acme.example' }));
  assert.ok(atUpstream(hinted, upstream), 'login_hint counts as typed');
  const begun = new UserAgent(service.baseUrl);
  const alone = await begun.submit(await begun.visit('/signin'), 'sign-in-form', { username: 'new@acme.example' });
  assert.ok(atUpstream(alone, upstream), 'also without an application');
});

test('who comes back from the provider may choose again; the password page is the same for everybody, and lets nobody of the domain in', async (t) => {
  const { service, upstream, acme, type } = await startCustomers(t);
  const user = await service.createUser({ email: 'carl@acme.example', login: 'carl@acme.example' });
  const agent = new UserAgent(service.baseUrl);
  upstream.behaviour.error = 'access_denied';
  const refused = await throughUpstream(agent, (await type('carl@acme.example', agent)).url);
  assert.equal(problemOf(refused), 'upstream_denied');
  const [, way = ''] = /href="([^"]*choose[^"]*)"/.exec(refused.text) ?? [];
  const chosen = await agent.visit(new URL(way.replaceAll('&amp;', '&'), service.baseUrl));
  const shown = await agent.submit(chosen, 'sign-in-form', { username: 'carl@acme.example' });
  assert.match(shown.text, new RegExp(`id="home-providers"[\\s\\S]*/upstream/${acme.idpId}[\\s\\S]*id="password"`));
  const wrong = await agent.submit(shown, 'sign-in-form', { username: 'carl@acme.example', password: user.password });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /id="error-summary"/);
  const filter = encodeURIComponent(`eventType eq "user.authentication.failure" and target.id eq "${user.id}"`);
  const log = (await service.api('GET', `/logs?filter=${filter}`)).body;
  assert.equal(log.length, 1);
  assert.equal(log[0].outcome.reason, 'PROVIDER_REQUIRED');
  assert.equal(log[0].debugContext.decision.reason, 'PROVIDER_REQUIRED');
  assert.deepEqual(
    log[0].target.map(({ type, displayName }: { type: string; displayName: string }) => [type, displayName]),
    [
      ['User', user.login],
      ['IdentityProvider', 'Acme Login'],
    ],
  );
});

test('without identifierFirst the page is the same for every domain, and a password lets nobody of a required one in', async (t) => {
  const { service, request } = await startCustomers(t);
  await service.api('PUT', '/settings/sign-in', { identifierFirst: false });
  const people = await Promise.all(
    ['carl@acme.example', 'eve@elsewhere.example'].map((login) => service.createUser({ login, email: login })),
  );
  const answers = [];
  for (const { login, password } of [...people, { login: 'nobody@acme.example', password: 'a wrong password' }]) {
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.visit(request());
    assert.match(page.text, /id="password"/);
    assert.doesNotMatch(page.text, /home-providers|Acme Login|Beta Login/);
    const answer = await agent.submit(page, 'sign-in-form', { username: login, password });
    answers.push([isAdmitted(answer), answer.text.replaceAll(login, '').replaceAll(/[\w-]{22,}/g, '')]);
  }
  assert.deepEqual(
    answers.map(([admitted]) => admitted),
    [false, true, false],
  );
  assert.equal(answers[0]?.[1], answers[2]?.[1], 'the refusal does not tell that the password was right');
});

test('no way around a required provider: authn, password grant, another linked provider', async (t) => {
  const { service, upstream, client, acme, request } = await startCustomers(t);
  const user = await service.createUser({ login: 'dora', email: 'dora@acme.example' });
  const authn = async (username: string, password: string) => service.api('POST', '/authn', { username, password });
  for (const name of ['dora', 'dora@acme.example']) assert.equal((await authn(name, user.password)).status, 401, name);
  const credentials = { username: 'dora', password: user.password };
  const granted = await post(service, 'default', 'token', client, { grant_type: 'password', scope: 'openid', ...credentials });
  assert.equal(granted.status, 400, JSON.stringify(granted.body));

  const simulated = async (grant_type: string) =>
    (
      await service.api('POST', '/authorizationServers/default/simulate', {
        client_id: client.clientId,
        user: user.id,
        grant_type,
        scopes: ['openid'],
      })
    ).body;
  const bySimulation = await simulated('password');
  assert.deepEqual([bySimulation.outcome, bySimulation.refusal.error], ['REFUSED', granted.body.error]);
  assert.deepEqual(bySimulation.required_provider, { id: acme.idpId, name: 'Acme Login' });
  const byBrowser = await simulated('authorization_code');
  assert.notEqual(byBrowser.outcome, 'REFUSED', JSON.stringify(byBrowser.refusal));

  // Linked to a provider for everybody, too.
  const social = await createIdp(service, { ...idpBody(upstream, LINKING), name: 'Social' });
  await service.api('POST', `/idps/${social}/users/${user.id}`, { externalId: 'dora-at-social' });
  upstream.behaviour.subject = 'dora-at-social';
  upstream.behaviour.claims = {};
  const agent = new UserAgent(service.baseUrl);
  const page = await agent.visit(request());
  const [, href = ''] = new RegExp(`href="([^"]*/upstream/${social}[^"]*)"`).exec(page.text) ?? [];
  const led = await throughUpstream(agent, (await agent.visit(new URL(href.replaceAll('&amp;', '&'), service.baseUrl))).url);
  assert.ok(atUpstream(led, upstream), 'is sent on to the required one');
  assert.match(led.url.searchParams.get('redirect_uri') ?? '', new RegExp(acme.idpId));
  upstream.behaviour.subject = 'dora-at-acme';
  upstream.behaviour.claims = { email: 'dora@acme.example', email_verified: true };
  assert.ok(isAdmitted(await throughUpstream(agent, led.url)));

  // Removed, the password counts again.
  assert.equal((await service.api('DELETE', `/account/org/${acme.orgId}/idp/${acme.idpId}`)).status, 204);
  assert.equal((await authn('dora', user.password)).status, 200);
});

test('who would be locked out signs in as before: administrators, and members of other organizations without an account there', async (t) => {
  const { service, acme, beta } = await startCustomers(t);
  const authn = async ({ login, password }: { login: string; password: string }) =>
    (await service.api('POST', '/authn', { username: login, password })).status;
  const role = (id: string, type: string, orgId?: string) => service.api('POST', `/users/${id}/roles`, { type, ...(orgId && { orgId }) });
  const make = async (name: string) => {
    const login = `${name}@acme.example`;
    return { ...(await service.createUser({ login })), login };
  };

  const plain = await make('plain');
  const root = await make('root');
  await role(root.id, 'SUPER_ADMIN');
  const reader = await make('reader');
  await role(reader.id, 'READ_ONLY_ADMIN');
  const own = await make('own');
  const other = await make('other');
  const linked = await make('linked');
  for (const [user, orgId] of [
    [own, acme.orgId],
    [other, beta.orgId],
    [linked, beta.orgId],
  ] as const)
    await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const manager = await make('manager');
  await role(manager.id, 'ORG_ADMIN', acme.orgId);
  await service.api('POST', `/idps/${acme.idpId}/users/${linked.id}`, { externalId: 'linked' });

  const statuses = { plain, root, reader, own, other, linked, manager };
  const expected = { plain: 401, root: 200, reader: 200, own: 401, other: 200, linked: 401, manager: 200 };
  const found = await Promise.all(Object.entries(statuses).map(async ([name, user]) => [name, await authn(user)]));
  assert.deepEqual(Object.fromEntries(found), expected);

  // A provider that is switched off is not required.
  await service.api('POST', `/idps/${acme.idpId}/lifecycle/deactivate`);
  assert.equal(await authn(plain), 200);
});

test('linking: members of the organization and people of a required domain by the provider of the domain, nobody of another organization', async (t) => {
  const { service, acme, beta, come } = await startCustomers(t);
  const linkOf = async (idpId: string, { id }: { id: string }) => (await service.api('GET', `/idps/${idpId}/users/${id}`)).status;
  const user = async (email: string, orgId?: string) => {
    const made = await service.createUser({ login: email, email });
    if (orgId !== undefined) await service.api('PUT', `/account/org/${orgId}/member/${made.id}`, {});
    return made;
  };

  const known = await user('known@acme.example');
  assert.ok(isAdmitted(await come(acme, 'known', 'known@acme.example')), 'a password that nobody can use any more is shared with nobody');
  assert.equal(await linkOf(acme.idpId, known), 200);

  const member = await user('member@beta.example', beta.orgId);
  assert.ok(isAdmitted(await come(beta, 'member', 'member@beta.example')));
  assert.equal(await linkOf(beta.idpId, member), 200);

  const stranger = await user('stranger@beta.example');
  assert.equal(problemOf(await come(beta, 'stranger', 'stranger@beta.example')), 'upstream_not_admitted', 'its password still counts');
  assert.equal(await linkOf(beta.idpId, stranger), 404);

  const foreign = await user('foreign@acme.example', beta.orgId);
  assert.equal(problemOf(await come(acme, 'foreign', 'foreign@acme.example')), 'upstream_not_admitted');
  assert.equal(await linkOf(acme.idpId, foreign), 404);

  const elsewhere = await user('elsewhere@other.example', acme.orgId);
  assert.equal(problemOf(await come(acme, 'elsewhere', 'elsewhere@other.example')), 'upstream_not_admitted', 'the domain is not theirs');
  assert.equal(await linkOf(acme.idpId, elsewhere), 404);

  // Joining: with a verified address of the domain, and nobody of another organization.
  const linked = await user('both@acme.example', beta.orgId);
  await service.api('POST', `/idps/${acme.idpId}/users/${linked.id}`, { externalId: 'both' });
  assert.ok(isAdmitted(await come(acme, 'both', 'both@acme.example')));
  assert.equal(problemOf(await come(acme, 'outside', 'outside@other.example')), 'upstream_not_admitted');
  const logins = (await membersOf(service, acme.orgId)).map(({ login }) => login);
  assert.deepEqual(logins.sort(), ['elsewhere@other.example', 'known@acme.example']);
  assert.equal(answerOf(await come(acme, 'known', 'known@acme.example')).code?.length ? 1 : 0, 1, 'a second sign-in joins nobody twice');
  await connect(service, beta.orgId, beta.idpId, { domains: [beta.domain], mode: 'OFFERED', autoJoin: false });
  assert.ok(isAdmitted(await come(beta, 'guest', 'guest@beta.example')));
  assert.deepEqual(
    (await membersOf(service, beta.orgId)).map(({ login }) => login).filter((login) => login === 'guest@beta.example'),
    [],
    'nobody joins by themselves any more',
  );
});

test('a provider of an organization is found by its domain', async (t) => {
  const { service, acme } = await startCustomers(t);
  const { agent } = await enter(service);
  for (const [q, isFound] of Object.entries({ 'acme.example': true, 'acme log': true, 'beta.example': false }))
    assert.equal(
      (await agent.visit(`/admin/organizations/${acme.orgId}/sign-in?q=${q}`)).text.includes(`/sign-in/${acme.idpId}`),
      isFound,
      q,
    );
});

test('no way around a required provider by e-mail: neither a link for another password nor a code is sent, but the way to the provider', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const mail = await startMailServer(t);
  const env = { ...mail.env, ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server };
  const service = await startService(t, { env, sendsOutbox: true });
  const upstream = await startUpstream(t);
  await twoCustomers(service, upstream, dns);
  await service.api('PUT', '/settings/sign-in', { methods: ['password', 'email'] });
  // Known by a name that leads nowhere.
  await service.createUser({ login: 'fay', email: 'fay@acme.example' });
  const agent = new UserAgent(service.baseUrl);
  await agent.submit(await agent.visit('/forgot-password'), 'forgot-password-form', { username: 'fay' });
  const first = await mail.mail('fay@acme.example');
  assert.match(first.text, /Acme Login/);
  const other = new UserAgent(service.baseUrl);
  await other.submit(await other.visit('/signin'), 'sign-in-form', { username: 'fay', method: 'email' });
  const second = await mail.mail('fay@acme.example', 2);
  assert.match(second.text, /Acme Login/);
  for (const { text } of [first, second]) assert.doesNotMatch(text, /Your code is|password\/[\w-]{20}/);
});
