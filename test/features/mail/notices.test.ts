/** What happened to an account is told to its user, so that he notices what he has not done himself (OWASP Multifactor Authentication Cheat Sheet). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { enrolledUser } from '../../support/factors.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0 <b>visit evil.example</b>';
const EMAIL = 'ada@example.com';

test('a sign-in in a browser that is new to the account is told, but for the very first one, and once', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: EMAIL, locale: 'de_AT' });
  const first = new UserAgent(service.baseUrl);
  const signIn = async (browser: UserAgent) => {
    const page = await browser.submit(await browser.visit('/signin'), 'sign-in-form', { username: user.login, password: user.password });
    assert.equal(page.status, 200);
  };
  await signIn(first);
  const second = new UserAgent(service.baseUrl);
  const page = await second.visit('/signin');
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, username: user.login, password: user.password });
  assert.equal(
    (await second.send('/signin', { method: 'POST', body, headers: { origin: service.baseUrl, 'user-agent': FIREFOX } })).status,
    303,
  );
  const mail = await server.mail(EMAIL);
  assert.equal(mail.subject, 'Neue Anmeldung bei Gatehouse');
  assert.match(mail.text, /\nBrowser: Firefox, Windows\nNetzwerkadresse: 127\.0\.0\.1\n/);
  assert.equal(mail.link, `${service.baseUrl}/account`);
  assert.ok(!mail.raw.includes('evil.example'));

  // Known browsers, signed out: the one of the first sign-in, and the one that was told of.
  for (const browser of [first, second]) {
    const again = new UserAgent(service.baseUrl);
    const cookie = `gatehouse-device=${browser.cookie('gatehouse-device')}`;
    const form = await again.visit('/signin');
    const token = /name="csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const answer = await fetch(`${service.baseUrl}/signin`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ csrf: token, username: user.login, password: user.password }),
      headers: { origin: service.baseUrl, cookie: `${cookie}; gatehouse-form=${again.cookie('gatehouse-form')}` },
    });
    assert.equal(answer.status, 303);
  }
  // Another new one after them: mails come in order, so that none of them was told of.
  await signIn(new UserAgent(service.baseUrl));
  await server.mail(EMAIL, 2);
  const left = () => onServer(service.database.url, async (sql) => (await sql.query('SELECT 1 FROM outbox')).rowCount);
  await eventually(async () => (await left()) === 0, 'nothing waits');
  assert.equal(server.mails.length, 2);
});

test('changes of password, factors and connected accounts are told, whoever makes them; a first password is not', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const idp = await createIdp(service, { ...idpBody(await startUpstream(t)), name: 'Fern <i>& Sons</i>' });
  const user = await enrolledUser(service, { email: EMAIL });
  await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: 'another good password' } } });
  await service.api('DELETE', `/users/${user.id}/factors`);
  assert.equal((await service.api('POST', `/idps/${idp}/users/${user.id}`, { externalId: 'subject' })).status, 200);
  await service.api('DELETE', `/idps/${idp}/users/${user.id}`);
  await server.mail(EMAIL, 5);
  assert.deepEqual(
    server.mails.map(({ subject }) => subject),
    [
      'Two-step verification was added at Gatehouse',
      'Your password for Gatehouse was changed',
      'Two-step verification was removed at Gatehouse',
      'Your account at Gatehouse was connected',
      'Your account at Gatehouse was disconnected',
    ],
  );
  const [, changed, , linked] = server.mails;
  assert.equal(changed?.link, `${service.baseUrl}/forgot-password`);
  // What an administrator did tells nothing of his own browser.
  assert.ok(!/Network address|Browser/.test(changed?.text ?? ''));
  assert.ok(linked?.html.includes('Fern &lt;i&gt;&amp; Sons&lt;/i&gt;') && linked.text.includes('Fern <i>& Sons</i>'));

  const { body: fresh } = await service.api('POST', '/users', { profile: { login: 'eve', email: 'eve@example.com' } });
  await service.api('POST', `/users/${fresh.id}`, { credentials: { password: { value: 'another good password' } } });
  const rows = await onServer(
    service.database.url,
    async (sql) => (await sql.query("SELECT 1 FROM outbox WHERE payload->>'userId' = $1", [fresh.id])).rowCount,
  );
  assert.equal(rows, 0);
});
