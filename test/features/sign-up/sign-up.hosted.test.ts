/** People create accounts themselves, from an application's button to being back in it: one page, one e-mail. And each abuse of it. Without JavaScript. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type MailServer, startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { canSignIn, GOOD } from '../users/user-holdings.ts';

const EMAIL = 'ada@example.com';
const OPEN = { enabled: true };

async function start(t: TestContext, settings: Record<string, unknown> = OPEN) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { status, body } = await service.api('PUT', '/settings/registration', settings);
  assert.equal(status, 200, JSON.stringify(body));
  return { service, server };
}

const signUp = async (agent: UserAgent, at: string | URL = '/signup', fields: Record<string, string> = {}): Promise<Page> =>
  agent.submit(await agent.visit(at), 'sign-up-form', { email: EMAIL, password: GOOD, ...fields });
const codeIn = async (server: MailServer, number = 1, to = EMAIL): Promise<string> =>
  /Your code is (\d{8})/.exec((await server.mail(to, number, 'Your code is')).text)?.[1] ?? assert.fail('no code');
const enter = (agent: UserAgent, page: Page, code: string): Promise<Page> => agent.submit(page, 'code-form', { code });
const userOf = async (service: Service, login = EMAIL) => (await service.api('GET', `/users/${login}`)).body;
const count = (service: Service, table: string): Promise<number> =>
  onServer(service.database.url, async (sql) => Number((await sql.query(`SELECT count(*) FROM ${table}`)).rows[0].count));

async function outcomes({ api }: Service): Promise<string[]> {
  const { body } = await api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.registration.request"')}`);
  return body.map(({ outcome }: { outcome: { result: string; reason?: string } }) => outcome.reason ?? outcome.result);
}

test('from an application with prompt=create: one page, one e-mail, and back in it with an account', async (t) => {
  const { service, server } = await start(t, {
    ...OPEN,
    fields: [{ name: 'lastName', required: true }, { name: 'city' }],
    termsUrl: 'https://shop.example/terms',
  });
  const client = await createClient(service);
  const agent = new UserAgent(service.baseUrl);
  const url = authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'create', login_hint: EMAIL });
  const form = await agent.visit(url);
  assert.match(form.text, /<h1>Create an account<\/h1>/);
  assert.match(form.text, new RegExp(`id="email"[^>]*value="${EMAIL}"`));
  const refused = await agent.submit(form, 'sign-up-form', { password: 'short', city: 'Rome' });
  assert.equal(refused.status, 400);
  for (const field of ['field-lastName', 'password', 'terms']) assert.match(refused.text, new RegExp(`href="#${field}"`));
  assert.match(refused.text, /value="Rome"/, 'nothing typed is lost');
  const waiting = await agent.submit(refused, 'sign-up-form', { password: GOOD, lastName: 'Lovelace', terms: 'on' });
  assert.match(waiting.text, /We have sent an e-mail to ada@example\.com/);
  assert.equal((await service.api('GET', `/users/${EMAIL}`)).status, 404, 'nothing is stored yet');
  const { link } = await server.mail(EMAIL);
  const { code } = answerOf(await agent.visit(link));
  const token = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: 'https://app.example/callback' };
  const { body } = await post(service, 'default', 'token', client, token);
  const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
  const user = await userOf(service);
  assert.deepEqual([claims.sub, claims.amr], [user.id, ['otp']]);
  const { login, email, emailVerified, lastName, city } = user.profile;
  assert.deepEqual([user.status, login, email, emailVerified, lastName, city], ['ACTIVE', EMAIL, EMAIL, true, 'Lovelace', 'Rome']);
  assert.equal(server.mails.length, 1);
  assert.ok(await canSignIn(service, { login: EMAIL, password: GOOD }));
});

test('by the code as well as by the link, and by itself', async (t) => {
  const { service, server } = await start(t);
  const agent = new UserAgent(service.baseUrl);
  assert.match((await agent.visit('/signin')).text, /id="sign-up" href="\/signup"/);
  const waiting = await signUp(agent);
  assert.equal((await enter(agent, waiting, await codeIn(server))).url.pathname, '/account');
  assert.equal((await userOf(service)).status, 'ACTIVE');
});

test('somebody who has an account sees the same page and gets an e-mail; nothing of theirs changes', async (t) => {
  const { service, server } = await start(t);
  const ada = await service.createUser({ login: 'ada', email: EMAIL });
  await service.createUser({ login: 'eve@example.com' });
  const pages = await Promise.all(
    ['ADA@example.com', 'eve@example.com', 'new@example.com'].map((email) => signUp(new UserAgent(service.baseUrl), '/signup', { email })),
  );
  const same = ({ status, url, text }: Page) => [
    status,
    url.pathname,
    text.replace(/[\w.]+@example\.com/gi, 'ADDRESS').replace(/value="[\w.-]+"/g, ''),
  ];
  for (const page of pages) assert.deepEqual(same(page), same(pages[0] as Page));
  for (const to of ['ADA@example.com', 'eve@example.com']) {
    const mail = await server.mail(to);
    assert.equal(mail.subject, 'You already have an account at Gatehouse');
    assert.equal(mail.link, `${service.baseUrl}/signin`);
    assert.doesNotMatch(mail.text, /\d{8}/);
  }
  assert.equal((await server.mail('new@example.com')).subject, 'Confirm your e-mail address for Gatehouse');
  await eventually(async () => (await outcomes(service)).length === 3, 'all are answered');
  assert.deepEqual((await outcomes(service)).sort(), ['ALREADY_REGISTERED', 'ALREADY_REGISTERED', 'SUCCESS']);
  assert.equal(await canSignIn(service, { login: 'ada', password: GOOD }), false);
  assert.ok(await canSignIn(service, { login: 'ada', password: ada.password }));
});

test('nobody prepares an account for somebody else: the form counts in its own browser alone', async (t) => {
  const { service, server } = await start(t);
  const attacker = new UserAgent(service.baseUrl);
  await signUp(attacker, '/signup');
  const { link } = await server.mail(EMAIL);
  const victim = new UserAgent(service.baseUrl);
  assert.match((await victim.visit(link)).text, /id="shown-code"/);
  assert.equal((await service.api('GET', `/users/${EMAIL}`)).status, 404, 'opening the link elsewhere makes no account');
  const own = new UserAgent(service.baseUrl);
  const waiting = await signUp(own, '/signup', { password: `${GOOD}, the victim's` });
  assert.equal((await enter(own, waiting, await codeIn(server, 2))).url.pathname, '/account');
  assert.equal(await canSignIn(service, { login: EMAIL, password: GOOD }), false, "the attacker's password is worth nothing");
  const late = await attacker.visit(link);
  assert.equal(late.status, 410);
  assert.ok(await canSignIn(service, { login: EMAIL, password: `${GOOD}, the victim's` }));
  const stored = await onServer(service.database.url, async (sql) => JSON.stringify((await sql.query('SELECT * FROM email_codes')).rows));
  assert.doesNotMatch(stored, /argon2|scrypt|\$/, 'what waits is sealed');
});

test('of one form sent many times one account is made, and of one code used twice, too', async (t) => {
  const { service, server } = await start(t);
  const agent = new UserAgent(service.baseUrl);
  const waiting = await signUp(agent);
  const code = await codeIn(server);
  const { link } = await server.mail(EMAIL);
  await Promise.all([enter(agent, waiting, code), enter(agent.window(), waiting, code), agent.window().visit(link)]);
  const { body } = await service.api('GET', `/users?filter=${encodeURIComponent(`profile.email eq "${EMAIL}"`)}`);
  assert.equal(body.length, 1);
  assert.equal(await count(service, 'email_codes'), 0);
});

test('domains, groups and an organization; a group that is deleted since does not keep people out', async (t) => {
  const { service, server } = await start(t);
  const group = (await service.api('POST', '/groups', { profile: { name: 'Customers' } })).body.id;
  const gone = (await service.api('POST', '/groups', { profile: { name: 'Former' } })).body.id;
  const { orgId } = (await service.api('POST', `/account/org?orgName=Customers`)).body;
  const settings = {
    ...OPEN,
    groups: [group, gone],
    organization: orgId,
    allowedDomains: ['example.com', 'Example.ORG'],
    blockedDomains: ['example.org'],
  };
  const { body } = await service.api('PUT', '/settings/registration', settings);
  assert.deepEqual(body.allowedDomains, ['example.com', 'example.org']);
  const agent = new UserAgent(service.baseUrl);
  for (const email of ['eve@example.org', 'eve@other.example', 'not an address']) {
    const refused = await signUp(agent, '/signup', { email });
    assert.equal(refused.status, 400, email);
    assert.match(refused.text, /href="#email"/);
  }
  await service.api('DELETE', `/groups/${gone}`);
  const waiting = await signUp(agent);
  await enter(agent, waiting, await codeIn(server));
  const user = await userOf(service);
  const members = (await service.api('GET', `/groups/${group}/users`)).body;
  assert.deepEqual(
    members.map(({ id }: { id: string }) => id),
    [user.id],
  );
  const inOrg = (await service.api('GET', `/account/org/${orgId}/member`)).body;
  assert.match(JSON.stringify(inOrg), new RegExp(user.id));
  for (const wrong of [
    { groups: ['grp_none'] },
    { organization: 'org_none' },
    { fields: [{ name: 'userType' }] },
    { emailVerification: 'LATER' },
  ])
    assert.equal((await service.api('PUT', '/settings/registration', wrong)).status, 400, JSON.stringify(wrong));
});

test('with approval the account waits for an administrator, and the user is told by e-mail', async (t) => {
  const { service, server } = await start(t, { ...OPEN, approval: 'ADMIN' });
  const agent = new UserAgent(service.baseUrl);
  const waiting = await signUp(agent);
  const told = await enter(agent, waiting, await codeIn(server));
  assert.equal(told.url.pathname, '/signup/waiting');
  assert.match(told.text, /Your account is waiting for approval/);
  const user = await userOf(service);
  assert.equal(user.status, 'STAGED');
  assert.equal(await canSignIn(service, { login: EMAIL, password: GOOD }), false);
  await service.api('POST', `/users/${user.id}/lifecycle/activate`);
  assert.equal((await server.mail(EMAIL, 2)).subject, 'Your account at Gatehouse is active');
  assert.ok(await canSignIn(service, { login: EMAIL, password: GOOD }));
});

test('an application turns it on or off for itself; where it is off there is no page, and prompt=create asks to sign in', async (t) => {
  const { service } = await start(t, {});
  assert.equal((await fetch(`${service.baseUrl}/signup`)).status, 404);
  assert.doesNotMatch((await new UserAgent(service.baseUrl).visit('/signin')).text, /id="sign-up"/);
  const at = async (registration: string) => {
    const { clientId } = await createClient(service, { registration });
    return new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: clientId, prompt: 'create' }));
  };
  assert.match((await at('ON')).text, /id="sign-up-form"/);
  for (const off of ['OFF', 'INHERIT']) assert.match((await at(off)).text, /id="sign-in-form"/);
  await service.api('PUT', '/settings/registration', OPEN);
  assert.match((await at('INHERIT')).text, /id="sign-up-form"/);
  assert.match((await at('OFF')).text, /id="sign-in-form"/);
  const discovery = await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json();
  assert.deepEqual((discovery as { prompt_values_supported: string[] }).prompt_values_supported, ['none', 'login', 'consent', 'create']);
});

test('whoever has an account after all signs in from the page of prompt=create, and is not asked again', async (t) => {
  const { service } = await start(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  const agent = new UserAgent(service.baseUrl);
  const form = await agent.visit(authorizeUrl(service, 'default', { client_id: clientId, prompt: 'create' }));
  const [, href = ''] = /id="sign-in-instead" href="([^"]+)"/.exec(form.text) ?? [];
  const signIn = await agent.visit(href.replaceAll('&amp;', '&'));
  assert.ok(answerOf(await agent.signIn(signIn, user)).code);
  const again = await agent.visit(authorizeUrl(service, 'default', { client_id: clientId, prompt: 'create' }));
  assert.match(again.text, /id="sign-up-form"/, 'a session does not answer it');
});

test('closed meanwhile, expired, and floods', async (t) => {
  const { service, server } = await start(t);
  const agent = new UserAgent(service.baseUrl);
  const waiting = await signUp(agent);
  const code = await codeIn(server);
  await service.api('PUT', '/settings/registration', {});
  await enter(agent, waiting, code);
  assert.equal((await service.api('GET', `/users/${EMAIL}`)).status, 404);
  await service.api('PUT', '/settings/registration', OPEN);
  const late = new UserAgent(service.baseUrl);
  const page = await signUp(late);
  const second = await codeIn(server, 2);
  moveClock(t, 601);
  await enter(late, page, second);
  assert.equal((await service.api('GET', `/users/${EMAIL}`)).status, 404);
  for (let times = 0; times < 5; times += 1) await signUp(new UserAgent(service.baseUrl));
  await eventually(async () => (await outcomes(service)).includes('TOO_MANY_REQUESTS'), 'five e-mails an hour to one address');
  await onServer(service.database.url, (sql) => sql.query(`UPDATE failures_by_address SET points = 50 WHERE key LIKE 'sign-up:%'`));
  assert.equal((await signUp(new UserAgent(service.baseUrl), '/signup', { email: 'other@example.com' })).status, 429);
});

test('where users sign in by e-mail alone the form asks for no password', async (t) => {
  const { service, server } = await start(t);
  await service.api('PUT', '/settings/sign-in', { methods: ['passkey', 'email'] });
  const agent = new UserAgent(service.baseUrl);
  const form = await agent.visit('/signup');
  assert.doesNotMatch(form.text, /name="password"/);
  const waiting = await agent.submit(form, 'sign-up-form', { email: EMAIL });
  assert.equal((await enter(agent, waiting, await codeIn(server))).url.pathname, '/account');
  assert.equal((await userOf(service)).passwordChanged, null);
});

test('attributes that the operator added are asked for, checked, and stored with their types', async (t) => {
  const { service, server } = await start(t);
  const properties = {
    size: { title: 'Shoe size', type: 'integer', permissions: [{ principal: 'SELF', action: 'READ_WRITE' }] },
    plan: { title: 'Plan', type: 'string', enum: ['free', 'pro'], permissions: [{ principal: 'SELF', action: 'READ_WRITE' }] },
    news: { title: 'Newsletter', type: 'boolean', permissions: [{ principal: 'SELF', action: 'READ_WRITE' }] },
    teams: { title: 'Teams', type: 'array', items: { type: 'string' }, permissions: [{ principal: 'SELF', action: 'READ_WRITE' }] },
    topics: {
      ...{ title: 'Topics', type: 'array', items: { type: 'string', enum: ['art', 'music'] } },
      permissions: [{ principal: 'SELF', action: 'READ_WRITE' }],
    },
    score: { title: 'Score', type: 'integer', permissions: [{ principal: 'SELF', action: 'HIDE' }] },
  };
  const schema = await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties } } });
  assert.equal(schema.status, 200, JSON.stringify(schema.body));
  assert.equal((await service.api('PUT', '/settings/registration', { ...OPEN, fields: [{ name: 'score' }] })).status, 400);
  const fields = [{ name: 'size', required: true }, { name: 'plan' }, { name: 'news' }, { name: 'teams' }, { name: 'topics' }];
  assert.equal((await service.api('PUT', '/settings/registration', { ...OPEN, fields })).status, 200);
  const agent = new UserAgent(service.baseUrl);
  const refused = await signUp(agent, '/signup', { size: 'large', teams: 'red\nblue', topics: 'sport' });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /href="#field-size"/);
  assert.match(refused.text, /href="#field-topics"/, 'none of the choices');
  assert.match(refused.text, /<textarea id="field-teams"[^>]*>red\nblue</);
  const waiting = await agent.submit(refused, 'sign-up-form', {
    email: EMAIL,
    password: GOOD,
    size: '42',
    plan: 'pro',
    news: 'true',
    topics: 'music',
  });
  await enter(agent, waiting, await codeIn(server));
  const { size, plan, news, teams, topics } = (await userOf(service)).profile;
  assert.deepEqual([size, plan, news, teams, topics], [42, 'pro', true, ['red', 'blue'], ['music']]);
});
