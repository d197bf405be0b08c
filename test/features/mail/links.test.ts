/** Each mail's link, end to end, over a real mail server and without JavaScript, in four languages (OWASP Forgot Password Cheat Sheet). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { type MailServer, startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const PASSWORD = 'a password of my own';

/** The button of each mail in each language. */
const LANGUAGES = {
  en: ['Choose a password', 'Choose a new password', 'Confirm address'],
  de: ['Passwort wählen', 'Neues Passwort wählen', 'Adresse bestätigen'],
  es: ['Elegir una contraseña', 'Elegir una contraseña nueva', 'Confirmar la dirección'],
  'zh-CN': ['设置密码', '设置新密码', '确认邮箱'],
} as const;

async function start(t: TestContext): Promise<{ service: Service; server: MailServer }> {
  const server = await startMailServer(t);
  return { server, service: await startService(t, { env: server.env, sendsOutbox: true }) };
}

const isVerified = async ({ database }: Service, id: string): Promise<boolean> =>
  onServer(database.url, async (sql) => (await sql.query('SELECT email_verified FROM users WHERE id = $1', [id])).rows[0].email_verified);

/** What scanners of mail do. */
async function scan(link: string): Promise<void> {
  for (let times = 0; times < 10; times += 1) assert.equal((await fetch(link)).status, 200);
  assert.equal((await fetch(link, { method: 'HEAD' })).status, 200);
}

async function choose(service: Service, link: string, password: string): Promise<void> {
  const browser = new UserAgent(service.baseUrl);
  const saved = await browser.submit(await browser.visit(link), 'choose-password-form', { password });
  assert.equal(saved.url.pathname, '/account');
}

async function signsIn(service: Service, login: string, password: string): Promise<boolean> {
  const browser = new UserAgent(service.baseUrl);
  return (await browser.signIn(await browser.visit('/signin'), { login, password })).url.pathname !== '/signin';
}

for (const [language, [first, again, confirm]] of Object.entries(LANGUAGES)) {
  test(`in ${language}: the links of activation, reset, forgotten password and verification; each proves its address`, async (t) => {
    const { service, server } = await start(t);
    const login = 'ada';
    const email = 'ada@example.com';
    const profile = { login, email, preferredLanguage: language };
    const { body: user } = await service.api('POST', '/users?activate=false', { profile });
    assert.deepEqual((await service.api('POST', `/users/${user.id}/lifecycle/activate`)).body, {});
    const activation = await server.mail(email);
    assert.ok(activation.text.includes(`${first}:\n${service.baseUrl}/choose-password/`), activation.text);
    assert.ok(activation.html.includes(`lang="${language === 'zh-CN' ? 'zh-Hans' : language}"`));
    assert.ok(activation.html.includes(`href="${activation.link}"`));
    await scan(activation.link);
    assert.equal(await isVerified(service, user.id), false);
    await choose(service, activation.link, PASSWORD);
    assert.equal(await isVerified(service, user.id), true);
    assert.equal((await fetch(activation.link)).status, 410, 'used');
    assert.equal(await signsIn(service, login, PASSWORD), true);

    assert.deepEqual((await service.api('POST', `/users/${user.id}/lifecycle/reset_password`)).body, {});
    const reset = await server.mail(email, 2, '/choose-password/');
    assert.ok(reset.text.includes(`${again}:\n`), reset.text);
    assert.equal(await signsIn(service, login, PASSWORD), false);

    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit('/forgot-password', { headers: { 'accept-language': language } });
    const told = await browser.submit(page, 'forgot-password-form', { username: ' ADA ' });
    assert.deepEqual([told.status, told.url.pathname], [200, '/forgot-password']);
    const forgotten = await server.mail(email, 3, '/choose-password/');
    assert.ok(forgotten.text.includes(`${again}:\n`), forgotten.text);
    assert.equal((await fetch(reset.link)).status, 410, 'replaced');
    await scan(forgotten.link);
    await choose(service, forgotten.link, `${PASSWORD}, another one`);
    assert.equal(await signsIn(service, login, `${PASSWORD}, another one`), true);

    await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@new.example' } });
    assert.equal(await isVerified(service, user.id), false);
    const verification = await server.mail('ada@new.example');
    assert.ok(verification.text.includes(`${confirm}:\n${service.baseUrl}/verify-email/`), verification.text);
    await scan(verification.link);
    assert.equal(await isVerified(service, user.id), false);
    const question = await browser.visit(verification.link);
    const done = await browser.submit(question, 'verify-email-form');
    assert.deepEqual([done.status, done.url.pathname], [200, '/verified-email']);
    assert.equal(await isVerified(service, user.id), true);
    assert.equal((await browser.submit(question, 'verify-email-form')).status, 410, 'used twice');
  });
}

test('a user who is created with sendEmail=true is invited; one with a password verifies his address', async (t) => {
  const { service, server } = await start(t);
  await service.api('POST', '/users?sendEmail=true', { profile: { login: 'ada', email: 'ada@example.com' } });
  await service.api('POST', '/users?sendEmail=true', {
    profile: { login: 'bob', email: 'bob@example.com' },
    credentials: { password: { value: PASSWORD } },
  });
  await service.api('POST', '/users', { profile: { login: 'eve', email: 'eve@example.com' } });
  const invitation = await server.mail('ada@example.com');
  assert.equal(invitation.subject, 'Your account at Gatehouse');
  await choose(service, invitation.link, PASSWORD);
  assert.match((await server.mail('bob@example.com')).link, /\/verify-email\//);
  assert.deepEqual(
    server.mails.map(({ to }) => to).filter((to) => to.startsWith('eve')),
    [],
  );
});

test('links come from BASE_URL, whatever host a request names', async (t) => {
  const { service, server } = await start(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit('/forgot-password');
  const spoofed = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, username: user.login }).toString();
  const { request } = await import('node:http');
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const cookie = `gatehouse-form=${browser.cookie('gatehouse-form')}`;
    const headers = { ...spoofed, cookie, 'content-type': 'application/x-www-form-urlencoded', origin: service.baseUrl };
    const sent = request(`${service.listensAt}/forgot-password`, { method: 'POST', headers }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    sent.on('error', reject);
    sent.end(body);
  });
  assert.equal(status, 303);
  const mail = await server.mail('ada@example.com');
  assert.ok(mail.link.startsWith(`${service.baseUrl}/choose-password/`), mail.link);
  assert.ok(!mail.raw.includes('evil'));
});

test('no link is lost where there is no mail, or no address: activation tells it, an invitation is refused', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example' } });
  const profile = { login: 'ada', email: 'ada@example.com' };
  const staged = await service.api('POST', '/users?activate=false', { profile });
  assert.match((await service.api('POST', `/users/${staged.body.id}/lifecycle/activate`)).body.activationUrl, /\/choose-password\//);
  const refused = await service.api('POST', '/users?sendEmail=true', { profile: { login: 'grace', email: 'grace@example.com' } });
  assert.equal(refused.status, 403);
  assert.match(refused.body.errorSummary, /cannot send e-mail/);
  assert.equal((await service.api('GET', '/users/grace')).status, 404, 'not half of it');

  const reachable = await startService(t);
  const nameless = await reachable.api('POST', '/users?activate=false', { profile: { login: 'ada' } });
  assert.match((await reachable.api('POST', `/users/${nameless.body.id}/lifecycle/activate`)).body.activationUrl, /\/choose-password\//);
});

test('a link that has expired, or whose user has another address since, is of no use', async (t) => {
  const { service, server } = await start(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@new.example' } });
  const old = await server.mail('ada@new.example');
  await service.api('POST', `/users/${user.id}`, { profile: { email: null } });
  assert.equal((await fetch(old.link)).status, 410, 'another address');
  await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@newer.example' } });
  const next = await server.mail('ada@newer.example');
  await onServer(service.database.url, (sql) => sql.query("UPDATE email_verifications SET expires_at = now() - interval '1 minute'"));
  const gone = await new UserAgent(service.baseUrl).visit(next.link);
  assert.equal(gone.status, 410);
  assert.match(gone.text, /id="error-code">verification_gone</);
  assert.match(gone.text, /<a class="button main" href="\/">/);
});

test('/.well-known/change-password leads to the page (W3C, A Well-Known URL for Changing Passwords)', async (t) => {
  const service = await startService(t);
  const answer = await fetch(`${service.baseUrl}/.well-known/change-password`, { redirect: 'manual' });
  assert.ok([302, 303, 307].includes(answer.status));
  assert.equal(new URL(answer.headers.get('location') ?? '', service.baseUrl).pathname, '/account/password');
});

test('/.well-known/passkey-endpoints names the page of passkeys (W3C, A Well-Known URL for Relying Party Passkey Endpoints)', async (t) => {
  const service = await startService(t);
  const answer = await fetch(`${service.baseUrl}/.well-known/passkey-endpoints`);
  const page = `${service.baseUrl}/account/security`;
  assert.deepEqual(
    [answer.headers.get('content-type'), await answer.json()],
    ['application/json; charset=utf-8', { enroll: page, manage: page }],
  );
});
