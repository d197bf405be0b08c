/** Who has forgotten his password asks by name (OWASP Forgot Password Cheat Sheet): nothing that can be seen tells whether there is such an account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

async function ask({ baseUrl }: Pick<Service, 'baseUrl'>, username: string): Promise<Page> {
  const browser = new UserAgent(baseUrl);
  return browser.submit(await browser.visit('/forgot-password'), 'forgot-password-form', { username });
}

const waiting = ({ database }: Service): Promise<number> =>
  onServer(database.url, async (sql) => Number((await sql.query('SELECT count(*) FROM outbox')).rows[0].count));
const outcomes = async ({ api }: Service): Promise<string[]> =>
  (await api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.account.reset_password"')}`)).body.map(
    ({ outcome, target }: { outcome: { result: string; reason?: string }; target: unknown[] }) =>
      `${outcome.reason ?? outcome.result} ${target.length}`,
  );

test('the same answer for everybody, and nothing is looked up in the request; a mail to who has an account alone', async (t) => {
  const server = await startMailServer(t);
  const quiet = await startService(t, { env: server.env });
  const user = await quiet.createUser({ email: 'ada@example.com' });
  const noAddress = await quiet.createUser();
  const suspended = await quiet.createUser({ email: 'eve@example.com' });
  await quiet.api('POST', `/users/${suspended.id}/lifecycle/suspend`);
  const byAddress = await quiet.createUser({ email: 'bob@example.com' });
  const names = [user.login, 'bob@example.com', 'nobody@example.com', noAddress.login, suspended.login, '\u0000', 'x'.repeat(10_000)];
  const pages = await Promise.all(names.map((name) => ask(quiet, name)));
  const same = ({ status, url, text }: Page) => [status, url.pathname, url.search, text];
  for (const page of pages) assert.deepEqual(same(page), same(pages[0] as Page));
  // Each is one note, whoever it names, and none can be read.
  const notes = await onServer(quiet.database.url, async (sql) => (await sql.query('SELECT kind, payload FROM outbox')).rows);
  assert.deepEqual(new Set(notes.map(({ kind }) => kind)), new Set(['reset-request']));
  assert.equal(notes.length, names.length);
  assert.ok(!JSON.stringify(notes).includes('bob@example.com') && !JSON.stringify(notes).includes(byAddress.login));

  const beside = { database: quiet.database, secretKey: STARTED.SECRET_KEY };
  const service = await startService(t, { beside, env: { ...server.env, BASE_URL: quiet.baseUrl }, sendsOutbox: true });
  await server.mail('ada@example.com');
  await eventually(async () => (await waiting(service)) === 0, 'all are answered');
  assert.deepEqual(server.mails.map(({ to }) => to).sort(), ['ada@example.com', 'bob@example.com']);
  assert.deepEqual((await outcomes(service)).sort(), [
    'NO_EMAIL_ADDRESS 1',
    'SUCCESS 1',
    'SUCCESS 1',
    'UNKNOWN_USER 0',
    'UNKNOWN_USER 0',
    'UNKNOWN_USER 0',
    'USER_NOT_ACTIVE 1',
  ]);
});

test('who signs in by a provider alone is told so, and gets no link', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const idp = await createIdp(
    service,
    idpBody(await startUpstream(t), { provisioning: { action: 'DISABLED' }, accountLink: { action: 'AUTO' } }),
  );
  const { body: user } = await service.api('POST', '/users', { profile: { login: 'ada', email: 'ada@example.com' } });
  await service.api('POST', `/idps/${idp}/users/${user.id}`, { externalId: 'subject' });
  await ask(service, 'ada');
  const mail = await server.mail('ada@example.com');
  assert.equal(mail.subject, 'You sign in to Gatehouse without a password');
  assert.equal(mail.link, '');
  assert.ok(!mail.html.includes('choose-password'));
});

test('five mails an hour to one account, silently; twenty requests a quarter of an hour from one address, told', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.createUser({ login: 'ada', email: 'ada@example.com' });
  const asked: Page[] = [];
  for (let times = 0; times < 20; times += 1) asked.push(await ask(service, times < 8 ? 'ada' : `nobody-${times}`));
  assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set([200]));
  assert.equal((await ask(service, 'nobody')).status, 429);
  await eventually(async () => (await waiting(service)) === 0, 'all are answered');
  // A link that was replaced before it left is not sent.
  assert.ok(server.mails.length >= 1 && server.mails.length <= 5);
  const told = await outcomes(service);
  assert.deepEqual(
    ['SUCCESS 1', 'TOO_MANY_REQUESTS 1'].map((wanted) => told.filter((outcome) => outcome === wanted).length),
    [5, 3],
  );
});

test('whoever uses up what an account may ask for keeps its user from nothing: in his own browser, and signed in', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { password } = await service.createUser({ login: 'ada', email: 'ada@example.com' });
  const own = new UserAgent(service.baseUrl);
  assert.equal((await own.signIn(await own.visit('/signin'), { login: 'ada', password })).url.pathname, '/account');
  for (let times = 0; times < 6; times += 1) await ask(service, 'ada');
  await eventually(async () => (await outcomes(service)).includes('TOO_MANY_REQUESTS 1'), 'it is used up');
  await eventually(async () => (await waiting(service)) === 0, 'all are sent');
  const sent = server.mails.length;
  await own.submit(await own.visit('/forgot-password'), 'forgot-password-form', { username: 'ada' });
  const { link } = await server.mail('ada@example.com', sent + 1);
  assert.match(link, /choose-password/);
  const wish = await own.submit(await own.visit('/account/profile'), 'email-form', { email: 'ada@new.example' });
  assert.equal(wish.status, 200, wish.text);
  await server.mail('ada@new.example');
});

test('who signed in by a provider that is not active any more gets no password in its place', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const idp = await createIdp(service, idpBody(await startUpstream(t)));
  const { body: user } = await service.api('POST', '/users', { profile: { login: 'ada', email: 'ada@example.com' } });
  await service.api('POST', `/idps/${idp}/users/${user.id}`, { externalId: 'subject' });
  assert.equal((await service.api('POST', `/idps/${idp}/lifecycle/deactivate`)).status, 200);
  await ask(service, 'ada');
  const subjects = async () => server.mails.map(({ subject }) => subject);
  await eventually(async () => (await subjects()).includes('You sign in to Gatehouse without a password'), 'he is told so');
  assert.ok(!server.mails.some(({ raw }) => raw.includes('choose-password')));
});

test('where there is no mail no reset is offered, and the API says so (management-api.md, "SMTP_URL")', async (t) => {
  const far = await startService(t, { env: { BASE_URL: 'https://id.example' } });
  const near = await startService(t);
  const { id } = await far.createUser({ email: 'ada@example.com' });
  const answer = await far.api('POST', `/users/${id}/lifecycle/reset_password`);
  assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
  assert.match(answer.body.errorSummary, /this service cannot send e-mail. Request the link with sendEmail=false/);
  for (const [service, headers] of [
    [far, {}],
    [near, { 'x-forwarded-for': '192.0.2.1' }],
  ] as const) {
    assert.ok(!(await (await fetch(`${service.listensAt}/signin`, { headers })).text()).includes('forgot-password'));
    assert.equal((await fetch(`${service.listensAt}/forgot-password`, { headers })).status, 404);
    assert.equal((await fetch(`${service.listensAt}/dev/inbox`, { headers })).status, 404);
  }
  assert.ok((await (await fetch(`${near.listensAt}/signin`)).text()).includes('<a id="forgot-password" href="/forgot-password">'));
});

test('an empty name is told; a form of another site is refused', async (t) => {
  const service = await startService(t);
  const page = await ask(service, '');
  assert.equal(page.status, 400);
  assert.match(page.text, /<p><a href="#username">Enter your user name or e-mail address<\/a><\/p>/);
  const forged = await fetch(`${service.baseUrl}/forgot-password`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'ada' }),
    headers: { origin: 'https://evil.example' },
  });
  assert.equal(forged.status, 403);
});
