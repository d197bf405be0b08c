/** How mail leaves (RFC 5321 section 4.2.1, RFC 5322, RFC 3834): from the outbox, after the commit; tried again, given up, in order, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer, startedDatabase, type TestDatabase } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';

const waiting = ({ url }: TestDatabase): Promise<{ attempts: number; payload: Record<string, unknown>; last_error: string | null }[]> =>
  onServer(url, async (sql) => (await sql.query("SELECT attempts, payload, last_error FROM outbox WHERE kind = 'mail' ORDER BY seq")).rows);
const hurry = ({ url }: TestDatabase) =>
  onServer(url, (sql) => sql.query('UPDATE outbox SET due = $1 WHERE last_error IS NOT NULL', [new Date(Date.now() - 60_000)]));
const events = async ({ api }: Service, result: string) =>
  (await api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.email.delivery"')}`)).body.filter(
    (event: { outcome: { result: string } }) => event.outcome.result === result,
  );
const reset = ({ api }: Service, id: string) => api('POST', `/users/${id}/lifecycle/reset_password`);

test('what a mail is: to one address, both forms, generated, with an id; the event tells to whom, and not the link', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.api('PUT', '/settings/branding', { name: 'Acme <b>& Söhne</b>', supportUrl: 'https://help.example/?a=1&b=2' });
  const user = await service.createUser({ login: '<i>ada</i>', email: 'ada@example.com', displayName: 'Eve\u2028Bcc: x@evil.example' });
  await reset(service, user.id);
  const mail = await server.mail('ada@example.com');
  assert.equal(mail.from, 'id@gatehouse.example');
  assert.deepEqual([mail.headers.get('to'), mail.headers.get('auto-submitted')], ['ada@example.com', 'auto-generated']);
  assert.match(mail.headers.get('message-id') ?? '', /^<[\w-]{36}@[\w.-]+>$/);
  assert.ok(!Number.isNaN(Date.parse(mail.headers.get('date') ?? '')));
  assert.equal(mail.subject, 'Choose a new password for Acme <b>& Söhne</b>');
  assert.ok(mail.html.includes('Acme &lt;b&gt;&amp; Söhne&lt;/b&gt;') && mail.html.includes('&lt;i&gt;ada&lt;/i&gt;'));
  assert.ok(!/<b>|<i>|<img|<script|<link/.test(mail.html));
  assert.match(mail.html, /class="preheader">Use this link to choose a new password\.</);
  assert.ok(mail.text.includes('Account: <i>ada</i>') && mail.text.includes('https://help.example/?a=1&b=2'));
  assert.ok(!mail.raw.includes('evil.example'));

  await eventually(async () => (await events(service, 'SUCCESS')).length === 1, 'the event is there');
  const [event] = await events(service, 'SUCCESS');
  assert.deepEqual(event.debugContext.after, { kind: 'password-reset', to: 'ada@example.com' });
  assert.equal(event.target[0].id, user.id);
  assert.ok(!JSON.stringify(event).includes('choose-password'));
});

test('the outbox does not tell the link, and holds nothing of a change that was not made', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env });
  const user = await service.createUser({ email: 'ada@example.com' });
  await reset(service, user.id);
  const [entry] = await waiting(service.database);
  assert.deepEqual(Object.keys(entry?.payload ?? {}).sort(), ['id', 'kind', 'login', 'sealed', 'userId']);
  assert.match(String(entry?.payload.sealed), /^v1\./);
  // Two resets at once on one who is gone by then: refused, and nothing is noted.
  await service.api('DELETE', `/users/${user.id}`);
  assert.equal((await reset(service, user.id)).status, 403);
  assert.equal((await waiting(service.database)).length, 1);
});

test('a refusal for now is tried again, one for ever is given up at once, with an event (RFC 5321 section 4.2.1)', async (t) => {
  // No attempt is made before it is hurried.
  stopClock(t);
  const server = await startMailServer(t, (address, asked) =>
    address.startsWith('grey') && asked < 3 ? 450 : address.startsWith('gone') ? 550 : undefined,
  );
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const grey = await service.createUser({ email: 'grey@example.com' });
  const gone = await service.createUser({ email: 'gone@example.com' });
  await reset(service, grey.id);
  await reset(service, gone.id);
  const metrics = async () => (await fetch(`${service.baseUrl}/metrics`)).text();
  const counts = (outcome: string, count: number) => `gatehouse_outbox_deliveries_total{kind="mail",outcome="${outcome}"} ${count}\n`;
  for (const attempts of [1, 2]) {
    // Counted once its outcome is stored. To hurry an attempt under way would change nothing.
    await eventually(async () => (await metrics()).includes(counts('failed', attempts)), `attempt ${attempts} has failed`);
    await hurry(service.database);
  }
  await server.mail('grey@example.com');
  await eventually(async () => (await waiting(service.database)).length === 0, 'nothing waits');
  const [lost, ...others] = await events(service, 'FAILURE');
  assert.deepEqual([lost?.target[0]?.id, others.length], [gone.id, 0]);
  assert.match(lost.outcome.reason, /550/);
  assert.equal(server.mails.length, 1);
  const told = await metrics();
  for (const [outcome, count] of [
    ['delivered', 1],
    ['failed', 2],
    ['given_up', 1],
  ] as const)
    assert.ok(told.includes(counts(outcome, count)), `${outcome}\n${told}`);
});

test('without its server mail waits, the service starts, and what has lost its worth meanwhile is not sent', async (t) => {
  stopClock(t);
  const env = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'id@gatehouse.example' };
  const service = await startService(t, { env, sendsOutbox: true });
  const user = await service.createUser({ email: 'ada@example.com' });
  await reset(service, user.id);
  await eventually(async () => (await waiting(service.database))[0]?.last_error, 'it has failed');
  await onServer(service.database.url, (sql) => sql.query('DELETE FROM users WHERE id = $1', [user.id]));
  await hurry(service.database);
  await eventually(async () => (await waiting(service.database)).length === 0, 'it is dropped');
});

test('a mail whose link has ended before it could be sent is not sent', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env });
  const user = await service.createUser({ email: 'ada@example.com' });
  await reset(service, user.id);
  moveClock(t, 3601);
  const beside = { database: service.database, secretKey: STARTED.SECRET_KEY };
  await startService(t, { beside, env: { ...server.env, BASE_URL: service.baseUrl }, sendsOutbox: true });
  await eventually(async () => (await waiting(service.database)).length === 0, 'it is given up');
  assert.equal(server.mails.length, 0);
  const [lost] = await events(service, 'FAILURE');
  assert.deepEqual([lost?.target[0]?.id, lost?.outcome.reason], [user.id, 'its link has ended']);
});

test('two processes send each mail once, and one user’s in order', async (t) => {
  const server = await startMailServer(t);
  const beside = { database: await startedDatabase(), secretKey: STARTED.SECRET_KEY };
  afterwards(t, () => beside.database.drop());
  const service = await startService(t, { beside, env: server.env });
  const users = await Promise.all([1, 2, 3, 4].map((n) => service.createUser({ email: `user${n}@example.com` })));
  for (const { id } of users) {
    // Ended by the new password before it is sent.
    await reset(service, id);
    for (const [turn, preferredLanguage] of ['de', 'es', 'en'].entries()) {
      await service.api('POST', `/users/${id}`, { profile: { preferredLanguage } });
      await service.api('POST', `/users/${id}`, { credentials: { password: { value: `another good password, ${turn}` } } });
    }
  }
  for (const _ of [1, 2]) await startService(t, { beside, env: { ...server.env, BASE_URL: service.baseUrl }, sendsOutbox: true });
  await eventually(async () => (await waiting(service.database)).length === 0, 'all are sent');
  for (const n of [1, 2, 3, 4]) {
    const subjects = server.mails.filter(({ to }) => to === `user${n}@example.com`).map(({ subject }) => subject);
    assert.deepEqual(subjects, [
      'Ihr Passwort für Gatehouse wurde geändert',
      'Se ha cambiado su contraseña de Gatehouse',
      'Your password for Gatehouse was changed',
    ]);
  }
});

test('a link waits for no notice, and one mailbox for no other: who takes none of his mail hides nothing from whom he robs', async (t) => {
  const server = await startMailServer(t, (address) => (address.startsWith('never') ? 450 : undefined));
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: 'never@example.com' });
  const setPassword = (value: string) => service.api('POST', `/users/${user.id}`, { credentials: { password: { value } } });
  const setEmail = (email: string) => service.api('POST', `/users/${user.id}`, { profile: { email } });
  await setPassword('another good password');
  await eventually(async () => (await waiting(service.database))[0]?.last_error, 'the notice waits');
  await setEmail('ada@example.com');
  assert.match((await server.mail('ada@example.com')).link, /verify-email/);
  await setPassword('yet another good password');
  assert.match((await server.mail('ada@example.com', 2)).link, /forgot-password/);
  await reset(service, user.id);
  assert.match((await server.mail('ada@example.com', 3)).link, /choose-password/);
  // A mail leaves the outbox a moment after it arrived.
  const left = async () => [...new Set((await waiting(service.database)).map(({ payload }) => payload.kind))].sort();
  await eventually(async () => (await left()).length === 2, 'the link is out');
  assert.deepEqual(await left(), ['email-changed', 'password-changed']);
});

test('however many users have mail to come, whoever looks for what is due goes by few', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env });
  const invited = Array.from({ length: 100 }, (_, n) => ({ profile: { login: `user${n}`, email: `user${n}@example.com` } }));
  for (const user of invited) await service.api('POST', '/users?sendEmail=true', user);
  const count = (what: string) =>
    onServer(service.database.url, async (sql) =>
      Number((await sql.query(`SELECT count(${what}) FROM outbox WHERE kind = 'mail'`)).rows[0].count),
    );
  assert.equal(await count('*'), 100);
  const lanes = await count('DISTINCT ordering_key');
  assert.ok(lanes > 10 && lanes <= 64, String(lanes));
});
