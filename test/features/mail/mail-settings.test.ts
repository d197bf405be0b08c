/** `settings/mail`: the server of the settings, its password under the keyring, and the environment that wins; each with a real mail server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';

const PORT = (env: Readonly<Record<string, string>>) => Number(new URL(env.SMTP_URL ?? '').port);
const SENDER = { fromAddress: 'id@acme.example', fromName: 'Acme, Inc.', replyTo: 'help@acme.example' };
const ownAddress = (service: Service) =>
  onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = 'admin@example.com' WHERE login = 'admin'"));
const problems = (body: { errorCauses: { errorSummary: string }[] }) => body.errorCauses.map(({ errorSummary }) => errorSummary).join('; ');

/** A server that wants a sign-in, and notes the passwords that it got. */
async function startAuthServer(t: TestContext, right: string) {
  const given: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ password }, _session, callback) => {
      given.push(String(password));
      callback(password === right ? null : Object.assign(new Error('wrong'), { responseCode: 535 }), { user: 'gate' });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  afterwards(t, () => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (listening.address() as AddressInfo).port, given };
}

test('mail goes to the server of the settings, from its sender, as soon as it is set, in every process', async (t) => {
  const [first, second] = [await startMailServer(t), await startMailServer(t)];
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const beside = { database, secretKey: STARTED.SECRET_KEY };
  const service = await startService(t, { beside });
  await startService(t, { beside, env: { BASE_URL: service.baseUrl }, sendsOutbox: true });
  const user = await service.createUser({ email: 'ada@example.com' });
  const change = (server: typeof first) =>
    service.api('PUT', '/settings/mail', { host: '127.0.0.1', port: PORT(server.env), security: 'OPPORTUNISTIC', ...SENDER });
  assert.equal((await service.api('GET', '/settings/mail')).body.source, 'NONE');
  const { status, body } = await change(first);
  assert.deepEqual([status, body.source, body.passwordSet, body.environment], [200, 'SETTINGS', false, null]);
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password`);
  const mail = await first.mail('ada@example.com');
  assert.equal(mail.headers.get('from'), '"Acme, Inc." <id@acme.example>');
  assert.equal(mail.headers.get('reply-to'), 'help@acme.example');
  await change(second);
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password`);
  await second.mail('ada@example.com');
  assert.equal(first.mails.length, 1);
});

test('the password is sealed, never leaves, and is kept for the same server only', async (t) => {
  const server = await startAuthServer(t, 'top-secret');
  const service = await startService(t);
  await ownAddress(service);
  const set = { host: '127.0.0.1', port: server.port, security: 'OPPORTUNISTIC', username: 'gate', ...SENDER };
  assert.match(problems((await service.api('PUT', '/settings/mail', set)).body), /^password: .*is required with a user name/);
  const answers = [
    await service.api('PUT', '/settings/mail', { ...set, password: 'top-secret' }),
    await service.api('GET', '/settings/mail'),
  ];
  for (const { body } of answers) {
    assert.equal(body.passwordSet, true);
    assert.ok(!JSON.stringify(body).includes('top-secret'));
  }
  const stored = async () =>
    (await onServer(service.database.url, async (sql) => (await sql.query("SELECT value FROM settings WHERE name = 'mail'")).rows[0]))
      .value;
  const before = (await stored()).password.sealed;
  assert.match(before, /^v1\./);
  const logged = JSON.stringify(
    (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.settings.update"')}`)).body,
  );
  assert.ok(logged.includes('127.0.0.1') && !logged.includes('top-secret') && !logged.includes(before));

  // What was read is sent back, and the password stays.
  const again = await service.api('PUT', '/settings/mail', { ...set, fromName: 'Other' });
  assert.deepEqual([again.status, again.body.passwordSet], [200, true]);
  assert.equal((await service.api('POST', '/settings/mail/test')).body.outcome, 'taken');
  assert.equal(server.given.at(-1), 'top-secret');
  for (const other of [{ host: 'localhost' }, { port: server.port + 1 }, { username: 'other' }]) {
    const { status, body } = await service.api('PUT', '/settings/mail', { ...set, ...other });
    assert.equal(status, 400, JSON.stringify(other));
    assert.match(problems(body), /password: must be entered again/);
  }
  const { body: removed } = await service.api('PUT', '/settings/mail', { ...set, username: null, password: null });
  assert.equal(removed.passwordSet, false);
});

test('what cannot be is refused, with the field', async (t) => {
  const service = await startService(t);
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ host: 'mail.example' }, /fromAddress: is required/],
    [{ host: 'smtp://mail.example', ...SENDER }, /host: must be a host name or an IP address/],
    [{ host: 'mail.example:25', ...SENDER }, /host: must be/],
    [{ host: 'mail.example', port: 0, ...SENDER }, /port: /],
    [{ host: 'mail.example', ...SENDER, fromName: 'Acme" <x@evil.example>' }, /fromName: must not contain/],
    [{ host: 'mail.example', ...SENDER, fromName: 'Acme\r\nBcc: x@evil.example' }, /fromName: must not contain control characters/],
    [{ host: 'mail.example', ...SENDER, replyTo: 'a@example.com, b@example.com' }, /replyTo: must be one e-mail address/],
    [{ host: 'mail.example', username: 'gate', password: 'x', security: 'OPPORTUNISTIC', ...SENDER }, /security: must be STARTTLS or TLS/],
    [{ password: 'x' }, /username: is required with a password/],
  ];
  for (const [body, wanted] of refused) {
    const answer = await service.api('PUT', '/settings/mail', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(problems(answer.body), wanted);
  }
});

test('the addresses by which clouds tell a machine its secrets are no mail servers', async (t) => {
  const service = await startService(t);
  await ownAddress(service);
  for (const host of ['169.254.169.254', 'fd00:ec2::254']) {
    await service.api('PUT', '/settings/mail', { host, port: 80, security: 'OPPORTUNISTIC', ...SENDER });
    const { body } = await service.api('POST', '/settings/mail/test');
    assert.equal(body.outcome, 'failed');
    assert.match(body.failure.words, /is not an address of a mail server/);
  }
});

test('SMTP_URL and MAIL_FROM win over the settings, and the API and the console say so', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await ownAddress(service);
  await service.api('PUT', '/settings/mail', { host: 'mail.invalid', ...SENDER });
  const { body } = await service.api('GET', '/settings/mail');
  assert.deepEqual(
    [body.source, body.host, body.environment.host, body.environment.fromAddress],
    ['ENVIRONMENT', 'mail.invalid', '127.0.0.1', 'id@gatehouse.example'],
  );
  assert.equal((await service.api('POST', '/settings/mail/test')).body.outcome, 'taken');
  assert.equal(server.mails.filter(({ to }) => to === 'admin@example.com').length, 1);
  const { agent } = await enter(service);
  const page = await agent.visit('/admin/settings/mail');
  assert.match(wordsOf(page), /They win over these settings.*Set by SMTP_URL/);
  assert.doesNotMatch(page.text, /settings\/mail\/edit/);
});

test('the mail server is set up, tried and changed in the console, without JavaScript', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { sendsOutbox: true });
  await ownAddress(service);
  const { agent } = await enter(service);
  const page = await agent.visit('/admin/settings/mail');
  assert.match(wordsOf(page), /Set up a mail server/);
  const wrong = await agent.submit(await agent.visit('/admin/settings/mail/edit'), 'console-form', {
    host: '127.0.0.1',
    username: 'gate',
    password: 'top-secret',
  });
  assert.equal(wrong.status, 400);
  assert.match(wordsOf(wrong), /Address: is required/);
  assert.ok(!wrong.text.includes('top-secret'));
  const port = String(PORT(server.env));
  const typed = { host: '127.0.0.1', port, security: 'OPPORTUNISTIC', username: '', password: '', fromAddress: 'id@acme.example' };
  const saved = await agent.submit(await agent.visit('/admin/settings/mail/edit'), 'console-form', typed);
  assert.match(wordsOf(saved), /The mail server is changed\..*127\.0\.0\.1:\d+ Encryption STARTTLS where offered.*Sender id@acme\.example/);
  const sent = await agent.submit(await agent.visit('/admin/settings/mail/test'), 'console-form');
  assert.match(wordsOf(sent), /The mail server accepted the test e-mail/);
  await server.mail('admin@example.com');
  const emptied = await agent.submit(await agent.visit('/admin/settings/mail/edit'), 'console-form', { host: '' });
  assert.match(wordsOf(emptied), /There is no mail server/);
});
