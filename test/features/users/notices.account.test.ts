/** What a user does in his own pages that somebody else must not have done unnoticed is told to him by mail (OWASP ASVS 5.0 section 6.3.7). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt } from '../../pages/account/arrival.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { userWithPasskey } from '../../support/passkeys.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, linkTo, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('a download of the data is told, and a first password: it is a new way in', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const user = await service.createUser({ email: 'data@example.com' });
  const { browser, page } = await arriveAt(service, '/account/data', user);
  await browser.submit(page, 'data-form');
  const mail = await server.mail('data@example.com');
  assert.equal(mail.subject, 'Your data at Gatehouse was downloaded');
  assert.equal(mail.link, `${service.baseUrl}/account`);
  assert.match(mail.text, /127\.0\.0\.1/);

  const upstream = await startUpstream(t);
  const idp = await createIdp(service, idpBody(upstream));
  Object.assign(upstream.behaviour, { claims: { email: 'fed@there.example', email_verified: true } });
  const other = new UserAgent(service.baseUrl);
  const out = (await other.visit(linkTo(await other.visit('/signin?account=password'), idp))).url;
  const form = await throughUpstream(other, out);
  assert.doesNotMatch(form.text, /id="current"/);
  const done = await other.submit(form, 'password-form', { password: 'a first and long password' });
  assert.match(done.text, /id="notice"/);
  assert.equal((await server.mail('fed@there.example')).subject, 'Your password for Gatehouse was changed');
});

test('new recovery codes are told, another name of a passkey is not', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { id, browser } = await userWithPasskey(service);
  assert.equal((await service.api('POST', `/users/${id}`, { profile: { email: 'codes@example.com' } })).status, 200);
  const security = await browser.visit('/account/security');
  const [, href = ''] = /id="name-passkey-1"[^>]*href="([^"]*)"/.exec(security.text) ?? [];
  await browser.submit(await browser.visit(href), 'passkey-name-form', { name: 'Another name' });
  await browser.submit(security, 'recovery-codes-form');
  await server.mail('codes@example.com', 2);
  const left = () => onServer(service.database.url, async (sql) => (await sql.query('SELECT 1 FROM outbox')).rowCount);
  await eventually(async () => (await left()) === 0, 'nothing waits');
  assert.deepEqual(
    server.mails.map(({ subject }) => subject).filter((subject) => !subject.startsWith('Confirm your e-mail address')),
    ['New recovery codes at Gatehouse'],
  );
});
