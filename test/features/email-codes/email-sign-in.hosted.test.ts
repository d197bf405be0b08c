/** Signing in by a code or a link that is sent by e-mail: where it goes on, what it proves, and each abuse of it. Without JavaScript. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type MailServer, startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const EMAIL = 'ada@example.com';

async function start(t: TestContext, methods: readonly string[] = ['password', 'passkey', 'email']) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.api('PUT', '/settings/sign-in', { methods });
  const user = await service.createUser({ login: 'ada', email: EMAIL });
  return { service, server, user };
}

/** Asks for a code on the sign-in page. */
async function ask(agent: UserAgent, at: string | URL, username: string): Promise<Page> {
  return agent.submit(await agent.visit(at), 'sign-in-form', { username, method: 'email' });
}

const codeIn = async (server: MailServer, number = 1): Promise<string> =>
  /Your code is (\d{8})/.exec((await server.mail(EMAIL, number, 'Your code is')).text)?.[1] ?? assert.fail('no code');
const enter = (agent: UserAgent, page: Page, code: string): Promise<Page> => agent.submit(page, 'code-form', { code });
const wrong = (code: string): string => (code === '00000000' ? '00000001' : '00000000');

async function outcomes({ api }: Service, eventType: string): Promise<string[]> {
  const { body } = await api('GET', `/logs?filter=${encodeURIComponent(`eventType eq "${eventType}"`)}`);
  return body.map(
    ({ outcome, target }: { outcome: { result: string; reason?: string }; target: unknown[] }) =>
      `${outcome.reason ?? outcome.result} ${target.length}`,
  );
}

/** That count against networks. */
const failures = (service: Service): Promise<number[]> =>
  onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query(`SELECT points FROM failures_by_address WHERE key LIKE 'sign-in:%'`);
    return rows.map(({ points }) => points);
  });

test('a code signs in at an application and at the service itself: amr otp, one factor, and the address is proved', async (t) => {
  const { service, server, user } = await start(t);
  const client = await createClient(service);
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, authorizeUrl(service, 'default', { client_id: client.clientId }), 'ADA');
  assert.match(page.text, /If ADA has an account, we have sent an e-mail/);
  const code = await codeIn(server);
  const refused = await enter(agent, page, wrong(code));
  assert.equal(refused.status, 400);
  assert.match(refused.text, /The code is incorrect/);
  const done = await enter(agent, refused, ` ${code.slice(0, 4)} ${code.slice(4)} `);
  const { code: authorizationCode } = answerOf(done);
  const form = { grant_type: 'authorization_code', code: authorizationCode ?? '', redirect_uri: 'https://app.example/callback' };
  const { body } = await post(service, 'default', 'token', client, form);
  const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
  assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, ['otp'], 'urn:okta:loa:1fa:any']);
  assert.equal((await service.api('GET', '/users/ada')).body.profile.emailVerified, true);
  assert.deepEqual(await outcomes(service, 'system.email.send_factor_verify_message'), ['SUCCESS 1']);
  assert.deepEqual((await outcomes(service, 'system.email.challenge_factor_redeemed')).sort(), ['INVALID_CREDENTIALS 1', 'SUCCESS 1']);

  const alone = new UserAgent(service.baseUrl);
  const second = await ask(alone, '/signin', EMAIL);
  assert.equal((await enter(alone, second, await codeIn(server, 2))).url.pathname, '/account');
});

test('the link goes on in the browser that asked; elsewhere it shows the code and changes nothing', async (t) => {
  const { service, server } = await start(t);
  const { clientId } = await createClient(service);
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, authorizeUrl(service, 'default', { client_id: clientId }), 'ada');
  const { link, html } = await server.mail(EMAIL);
  assert.ok(html.includes(`href="${link}"`));
  const code = await codeIn(server);
  for (const other of [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)]) {
    const elsewhere = await other.visit(link);
    assert.equal(elsewhere.status, 200);
    assert.match(elsewhere.text, new RegExp(`id="shown-code">${code.slice(0, 4)} ${code.slice(4)}<`));
    assert.equal(other.cookie('gatehouse-session'), undefined);
  }
  assert.ok(answerOf(await agent.visit(link)).code, 'it leads back to the application');
  assert.equal((await agent.visit(link)).status, 410);
  assert.equal((await enter(agent, page, code)).status, 410, 'the code is used up, and the sign-in over');
});

test('a code works once, at its place, in its browser, for ten minutes, and for five attempts', async (t) => {
  const { service, server } = await start(t);
  const signInForm = /id="sign-in-form"/;
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, '/signin', 'ada');
  const code = await codeIn(server);
  const other = new UserAgent(service.baseUrl);
  other.plant(agent, 'gatehouse-sign-in');
  assert.match((await other.visit('/signin')).text, signInForm, 'another browser with the token alone has no page');
  const [first, second] = await Promise.all([enter(agent, page, code), enter(agent.window(), page, code)]);
  assert.deepEqual([first, second].map(({ url }) => url.pathname).sort(), ['/account', '/signin/code']);

  const guesser = new UserAgent(service.baseUrl);
  let asked = await ask(guesser, '/signin', 'ada');
  const right = await codeIn(server, 2);
  for (let times = 0; times < 5; times += 1) asked = await enter(guesser, asked, wrong(right));
  const ended = await enter(guesser, asked, right);
  assert.match(ended.text, /The code has expired or was entered incorrectly too often/);

  const late = new UserAgent(service.baseUrl);
  const waiting = await ask(late, '/signin', 'ada');
  const third = await codeIn(server, 3);
  moveClock(t, 601);
  assert.match((await enter(late, waiting, third)).text, signInForm);
  assert.equal((await fetch((await server.mail(EMAIL, 3)).link)).status, 410);
});

test('another e-mail replaces the code before; a change of the address ends it', async (t) => {
  const { service, server, user } = await start(t);
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, '/signin', 'ada');
  const before = await codeIn(server);
  const again = await agent.submit(page, 'code-again-form');
  const after = await codeIn(server, 2);
  assert.equal((await fetch((await server.mail(EMAIL)).link)).status, 410);
  if (before !== after) assert.equal((await enter(agent, again, before)).status, 400);
  await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@new.example' } });
  assert.match((await enter(agent, again, after)).text, /id="sign-in-form"/);
});

test('unknown, suspended and provider-only names get the same page, and no code', async (t) => {
  const { service, server } = await start(t);
  const eve = await service.createUser({ login: 'eve', email: 'eve@example.com' });
  await service.api('POST', `/users/${eve.id}/lifecycle/suspend`);
  await service.createUser({ login: 'nomail' });
  const names = ['ada', 'eve', 'nomail', 'nobody@example.com', '\u0000'];
  const pages = await Promise.all(names.map((name) => ask(new UserAgent(service.baseUrl), '/signin', name)));
  const same = ({ status, url, text }: Page, at: number) => [
    status,
    url.pathname,
    text.replace(names[at] ?? '', 'NAME').replace(/value="[\w.-]+"/g, ''),
  ];
  for (const [at, page] of pages.slice(0, 4).entries()) assert.deepEqual(same(page, at), same(pages[0] as Page, 0));
  await eventually(
    async () => (await outcomes(service, 'system.email.send_factor_verify_message')).length === names.length,
    'all are answered',
  );
  assert.deepEqual((await outcomes(service, 'system.email.send_factor_verify_message')).sort(), [
    'NO_EMAIL_ADDRESS 1',
    'SUCCESS 1',
    'UNKNOWN_USER 0',
    'UNKNOWN_USER 0',
    'USER_NOT_ACTIVE 1',
  ]);
  await server.mail(EMAIL);
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [EMAIL],
  );
  const stored = await onServer(service.database.url, async (sql) => (await sql.query('SELECT * FROM email_codes')).rows);
  assert.ok(!/example\.com|nobody/.test(JSON.stringify(stored.filter(({ mailed_to }) => mailed_to === null))), 'what was typed is sealed');
});

test('five e-mails an hour to one account from browsers that are new to it; 300 requests from one network', async (t) => {
  const { service, server } = await start(t);
  for (let times = 0; times < 7; times += 1) await ask(new UserAgent(service.baseUrl), '/signin', 'ada');
  await eventually(async () => (await outcomes(service, 'system.email.send_factor_verify_message')).length === 7, 'all are answered');
  const told = await outcomes(service, 'system.email.send_factor_verify_message');
  assert.equal(told.filter((outcome) => outcome === 'TOO_MANY_REQUESTS 1').length, 2);
  await onServer(service.database.url, (sql) => sql.query(`UPDATE failures_by_address SET points = 300 WHERE key LIKE 'code-request:%'`));
  assert.equal((await ask(new UserAgent(service.baseUrl), '/signin', 'nobody')).status, 429);
  assert.ok(server.mails.length <= 5);
});

test('a second factor is asked for after the code, and suspended users come no further', async (t) => {
  const { service, server, user } = await start(t);
  await service.api('PUT', '/settings/sign-in', { methods: ['email'], mfa: 'EVERYONE' });
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, '/signin', 'ada');
  assert.match((await enter(agent, page, await codeIn(server))).text, /id="enroll-form"|Set up/);
  const late = new UserAgent(service.baseUrl);
  const waiting = await ask(late, '/signin', 'ada');
  const code = await codeIn(server, 2);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  assert.match((await enter(late, waiting, code)).text, /id="sign-in-form"/);
});

test('settings/sign-in.methods decides what the page offers and what is accepted', async (t) => {
  const { service, user } = await start(t, ['email']);
  const agent = new UserAgent(service.baseUrl);
  const page = await agent.visit('/signin');
  assert.doesNotMatch(page.text, /name="password"|id="passkey-form"|id="forgot-password"/);
  assert.match(page.text, /id="send-code"[^>]* class="main"/);
  assert.equal((await fetch(`${service.baseUrl}/forgot-password`)).status, 404);
  const credentials = { username: user.login, password: user.password };
  const refused = await agent.submit(page, 'sign-in-form', credentials);
  assert.equal(refused.status, 400, 'a right password is no method here');
  const authn = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(credentials) };
  assert.equal((await fetch(`${service.baseUrl}/api/v1/authn`, authn)).status, 401);
  const client = await createClient(service, { grant_types: ['authorization_code', 'password'] });
  const granted = await post(service, 'default', 'token', client, { grant_type: 'password', ...credentials, scope: 'openid' });
  assert.deepEqual([granted.status, granted.body.error], [400, 'invalid_grant']);
  const asked = { client_id: client.clientId, user: user.id, grant_type: 'password', scopes: ['openid'] };
  const simulated = (await service.api('POST', '/authorizationServers/default/simulate', asked)).body;
  assert.deepEqual(
    [simulated.outcome, simulated.refusal?.reason],
    ['REFUSED', 'the sign-in policy does not allow passwords'],
    JSON.stringify(simulated),
  );
  const reasons = await outcomes(service, 'user.authentication.failure');
  assert.deepEqual(reasons, Array(3).fill('PASSWORD_NOT_ALLOWED 0'), 'nobody is looked up');
  assert.deepEqual(await failures(service), [3], 'and each counts against the network');

  await service.api('PUT', '/settings/sign-in', { methods: ['passkey'] });
  const passkeys = await agent.visit('/signin');
  assert.doesNotMatch(passkeys.text, /id="sign-in-form"|id="send-code"/);
  assert.match(passkeys.text, /id="passkey-form"/);
  await service.api('PUT', '/settings/sign-in', {});
  const usual = await agent.visit('/signin');
  assert.doesNotMatch(usual.text, /id="send-code"/);
  assert.equal((await ask(agent, '/signin', 'ada')).status, 400, 'no code where it is no method');
  assert.equal((await service.api('PUT', '/settings/sign-in', { methods: [] })).status, 400);
});

test('an invited user signs in by a code, and is active from then on', async (t) => {
  const { service, server } = await start(t);
  const bob = 'bob@example.com';
  const { body } = await service.api('POST', '/users?sendEmail=true', { profile: { login: bob, email: bob } });
  const { link } = await server.mail(bob);
  const agent = new UserAgent(service.baseUrl);
  const page = await ask(agent, '/signin', bob);
  const { text } = await server.mail(bob, 2);
  assert.equal((await enter(agent, page, /code is (\d{8})/.exec(text)?.[1] ?? '')).url.pathname, '/account');
  assert.equal((await service.api('GET', `/users/${body.id}`)).body.status, 'ACTIVE');
  assert.equal((await fetch(link)).status, 410, 'the invitation has ended');
});
