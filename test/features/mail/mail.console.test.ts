/** Settings → Mail without JavaScript, with a real mail server: what it tells, and the test mail; what the first page tells of mail. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAdministrator, enter, SUPER, wordsOf } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually, freePort } from '../../support/process.ts';
import type { Received } from '../../support/requests.ts';
import { type Service, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { UserAgent } from '../../support/user-agent.ts';

const MAIL = '/admin/settings/mail';
const TEST = `${MAIL}/test`;
const ADDRESS = 'admin@example.com';

/** The test mails as the log tells them, the newest first; a sign-in in a new browser is told by mail, too. */
const testMails = async ({ api }: Service) =>
  (await api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.email.delivery"')}`)).body.filter(
    ({ debugContext }: { debugContext: { after: { kind: string } } }) => debugContext.after.kind === 'test',
  );
const own = ({ api }: Service, profile: Record<string, string | null>) => api('POST', `/users/${SUPER.login}`, { profile });

/** Whose requests come through a proxy. */
class ViaProxy extends UserAgent {
  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('via', '1.1 proxy.example');
    return super.send(address, { ...init, headers });
  }
}

/** A service with a mail server, and its first administrator's browser. */
async function begin(t: TestContext, answer?: Parameters<typeof startMailServer>[1]) {
  const server = await startMailServer(t, answer);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { agent } = await enter(service);
  return { server, service, agent, sendTest: async () => agent.submit(await agent.visit(TEST), 'console-form') };
}

test('the page of mail tells the server without its password, and what follows for people', async (t) => {
  const env = { SMTP_URL: 'smtps://mailer:top-secret@smtp.example:465', MAIL_FROM: 'Gatehouse <id@example.com>' };
  const { agent } = await enter(await startService(t, { env }));
  const page = await agent.visit(MAIL);
  assert.match(
    wordsOf(page),
    /SMTP_URL and MAIL_FROM name the mail server\. They win.*smtp\.example:465 Set by SMTP_URL Encryption TLS.*user name and password are not shown.*Queued None.*New users get an invitation link/,
  );
  for (const secret of ['top-secret', 'mailer']) assert.ok(!page.text.includes(secret), secret);
});

test('a test mail goes to the administrator’s own address and to no other, in his language, and is in the log', async (t) => {
  const { server, service, agent, sendTest } = await begin(t);
  const without = await agent.visit(TEST);
  assert.match(
    wordsOf(without),
    /Your account has no usable e-mail address.*Edit your profile|Edit your profile.*no usable e-mail address/,
  );
  assert.doesNotMatch(without.text, /console-form/);
  const subjects = {
    en: 'A test message from Gatehouse',
    de: 'Eine Testnachricht von Gatehouse',
    es: 'Un mensaje de prueba de Gatehouse',
    'zh-CN': '来自 Gatehouse 的测试邮件',
  };
  for (const [at, [preferredLanguage, subject]] of Object.entries(subjects).entries()) {
    await own(service, { preferredLanguage, ...(at === 0 && { email: ADDRESS }) });
    const form = await agent.visit(TEST);
    assert.match(
      wordsOf(form),
      at === 0 ? /It goes to admin@example\.com, the address of your own account, and nowhere else/ : /admin@example\.com/,
    );
    const elsewhere = { to: 'victim@example.com', email: 'victim@example.com', address: 'victim@example.com' };
    const sent = await agent.submit(form, 'console-form', elsewhere);
    // The console speaks the administrator's language, too.
    if (at === 0) assert.match(wordsOf(sent), /The mail server accepted the test e-mail/);
    assert.equal(sent.status, 200);
    // The first is the one that verifies the new address.
    assert.ok(
      server.mails.some((mail) => mail.subject === subject && mail.to === ADDRESS),
      `${subject} is there with the answer`,
    );
  }
  assert.deepEqual([...new Set(server.mails.map(({ to }) => to))], [ADDRESS]);
  const [event] = await testMails(service);
  assert.deepEqual(
    [event.actor.displayName, event.outcome.result, event.debugContext.after],
    [SUPER.login, 'SUCCESS', { kind: 'test', to: ADDRESS }],
  );
  await own(service, { preferredLanguage: 'en' });
  assert.match(wordsOf(await sendTest()), /accepted the test e-mail/, 'the fifth within an hour');
  const many = await sendTest();
  assert.match(many.text, /id="error-summary"[\s\S]*Many e-mails were sent to you recently\. Try again in an hour\./);
  assert.equal(server.mails.filter(({ subject }) => /test|Test|prueba|测试/.test(subject)).length, 5);
});

test('what the mail server answers stands beside the form, and in the log and on the first page', async (t) => {
  const { service, agent, sendTest } = await begin(t, (address) => (address === ADDRESS ? 550 : undefined));
  await onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = $1 WHERE login = 'admin'", [ADDRESS]));
  assert.match(wordsOf(await agent.visit('/admin')), /Mail A mail server is configured Undelivered e-mails None/);
  const refused = await sendTest();
  assert.match(refused.text, /role="alert"[\s\S]*The mail server does not accept e-mail for your address\. It says: 550 not this one</);
  assert.equal(refused.url.pathname, TEST);
  const [event] = await testMails(service);
  assert.deepEqual(event.outcome, { result: 'FAILURE', reason: '550 not this one' });
  const page = await agent.visit(MAIL);
  assert.match(
    wordsOf(page),
    /Failed in the last 7 days 1 Latest \S+ \S+ UTC 550 not this one|Failed in the last 7 days 1 Latest .*550 not this one/,
  );
  assert.match((await agent.visit(`/admin/reports/log/${event.uuid}`)).text, /system\.email\.delivery/);
  assert.ok(page.text.includes(`/admin/reports/log/${event.uuid}"`));
  assert.match((await agent.visit('/admin')).text, /<a href="\/admin\/settings\/mail">1 in the last 7 days<\/a>/);
});

test('a mail server that is not there is told as such, and what waits with the reason', async (t) => {
  const port = await freePort();
  const env = { SMTP_URL: `smtp://mailer:top-secret@127.0.0.1:${port}`, MAIL_FROM: 'id@example.com' };
  const service = await startService(t, { env, sendsOutbox: true });
  await onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = $1 WHERE login = 'admin'", [ADDRESS]));
  const { agent } = await enter(service);
  const refused = await agent.submit(await agent.visit(TEST), 'console-form');
  assert.match(wordsOf(refused), /cannot be reached\. Check host, port and firewall.*It says: .*ECONNREFUSED/);
  const user = await service.createUser({ email: 'ada@example.com' });
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password`);
  await eventually(async () => /Why the last attempt failed/.test((await agent.visit(MAIL)).text), 'the first attempt has failed');
  const page = await agent.visit(MAIL);
  assert.match(wordsOf(page), /Queued 1, the oldest since .* Why the last attempt failed .*ECONNREFUSED/);
  for (const secret of ['top-secret', 'ada@example.com']) assert.ok(!`${page.text}${refused.text}`.includes(secret), secret);
});

test('a mail server that says nothing is not waited for without an end', async (t) => {
  // The greeting is what does not come: only its limit is short.
  withTimings(t, { testMail: { connection: 500, silence: 60_000, mail: 60_000 } });
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  assert(address !== null && typeof address === 'object');
  const env = { SMTP_URL: `smtp://127.0.0.1:${address.port}`, MAIL_FROM: 'id@example.com' };
  const service = await startService(t, { env });
  afterwards(t, () => new Promise<void>((resolve) => silent.close(() => resolve())));
  await onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = $1 WHERE login = 'admin'", [ADDRESS]));
  const { agent } = await enter(service);
  const told = await agent.submit(await agent.visit(TEST), 'console-form');
  assert.match(wordsOf(told), /The mail server did not answer in time.*It says: (Greeting never received|Connection timeout)/);
});

test('without a mail server, the test e-mail is in the dev inbox; through a proxy there is none', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  await onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = $1 WHERE login = 'admin'", [ADDRESS]));
  const { agent } = await enter(service);
  const page = await agent.visit(MAIL);
  assert.match(wordsOf(page), /e-mails stay in the dev inbox for one day/);
  assert.match(page.text, /href="\/dev\/inbox"/);
  const sent = await agent.submit(await agent.visit(TEST), 'console-form');
  assert.match(wordsOf(sent), /The test e-mail is in the dev inbox/);
  assert.match((await agent.visit('/dev/inbox')).text, /A test message from Gatehouse/);
  assert.match(wordsOf(await agent.visit('/admin')), /Set up mail.*Mail Dev inbox/);

  const proxied = new ViaProxy(service.baseUrl);
  await proxied.signIn(await proxied.visit('/admin'), SUPER);
  const far = await proxied.visit(MAIL);
  assert.match(wordsOf(far), /you came through a proxy.*Pass them on yourself.*offers no “Forgot password”/);
  assert.doesNotMatch(far.text, /\/dev\/inbox"|\/mail\/test"/);
  const form = await agent.visit(TEST);
  const tried = await proxied.submit({ ...form, text: form.text }, 'console-form').catch((error: unknown) => error);
  assert.ok(!(tried instanceof Error));
  assert.equal((await testMails(service)).length, 1, 'nothing more was sent');
});

test('who may only read sees the page, and no way to send', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN', undefined, { email: 'reader@example.com' }));
  const page = await agent.visit(MAIL);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /\/mail\/test"/);
  assert.equal((await agent.visit(TEST)).status, 403);
});

test('the first page counts the users that its link lists', async (t) => {
  const service = await startService(t);
  const gone = await service.createUser();
  await service.createUser();
  await service.api('POST', `/users/${gone.id}/lifecycle/deactivate`);
  const { agent } = await enter(service);
  const [, told, number] = /<a href="([^"]+)">Users<\/a> <strong>(\d+)<\/strong>/.exec((await agent.visit('/admin')).text) ?? [];
  assert.equal(told, '/admin/users');
  const rows = [...(await agent.visit('/admin/users')).text.matchAll(/<th role="rowheader"/g)].length;
  assert.equal(Number(number), rows);
});
