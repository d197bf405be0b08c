/** A user changes his own e-mail address: it is his once the link that went there is used, and the address before is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('the address changes when its link is used, and the one before is told; another user’s is refused there alone', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: 'old@example.com' });
  await service.createUser({ email: 'taken@example.com' });
  const addressOf = async () => (await service.api('GET', `/users/${user.id}`)).body.profile.email;
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit('/signin'), user);
  const wish = async (email: string) => {
    const answer = await browser.submit(await browser.visit('/account/profile'), 'email-form', { email });
    assert.equal(answer.status, 200);
    return answer.text.replace(/name="csrf" value="[^"]*"/g, '');
  };
  const free = await wish('new@example.com');
  const replaced = await server.mail('new@example.com');
  assert.equal(await wish('taken@example.com'), free, 'nobody is told that it is taken');
  const taken = await server.mail('taken@example.com');
  const reader = new UserAgent(service.baseUrl);
  assert.equal((await reader.submit(await reader.visit(taken.link), 'verify-email-form')).status, 410);
  assert.equal((await fetch(replaced.link)).status, 410, 'replaced by the link that came after it');
  assert.equal(await addressOf(), 'old@example.com');

  await wish('new@example.com');
  const mail = await server.mail('new@example.com', 2);
  assert.equal((await reader.submit(await reader.visit(mail.link), 'verify-email-form')).url.pathname, '/verified-email');
  assert.equal(await addressOf(), 'new@example.com');
  const told = await server.mail('old@example.com');
  assert.equal(told.subject, 'Your e-mail address at Gatehouse was changed');
  assert.ok(told.text.includes('Your account now uses the address new@example.com.'));
});

test('an address that an administrator gives or takes is told to the one before, too', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: 'old@example.com', preferredLanguage: 'fr', locale: 'de_AT' });
  await service.api('POST', `/users/${user.id}`, { profile: { email: 'new@example.com' } });
  const changed = await server.mail('old@example.com');
  // In the first language of his that is spoken here.
  assert.equal(changed.subject, 'Ihre E-Mail-Adresse bei Gatehouse wurde geändert');
  assert.ok(changed.text.includes('new@example.com'));
  await server.mail('new@example.com');
  await service.api('POST', `/users/${user.id}`, { profile: { email: null } });
  const removed = await server.mail('new@example.com', 2);
  assert.equal(removed.subject, 'Ihre E-Mail-Adresse bei Gatehouse wurde entfernt');
});

test('a link to another address ends with the session of whoever asked for it, and with the password; it never signs anybody in', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: 'old@example.com' });
  const thief = new UserAgent(service.baseUrl);
  const wish = async (email: string) => {
    await thief.signIn(await thief.visit('/signin'), user);
    await thief.submit(await thief.visit('/account/profile'), 'email-form', { email });
    return (await server.mail(email)).link;
  };
  const addressOf = async () => (await service.api('GET', `/users/${user.id}`)).body.profile.email;
  const isGone = async (link: string, what: string) => assert.equal((await fetch(link)).status, 410, what);

  const first = await wish('thief1@example.com');
  await service.api('DELETE', `/users/${user.id}/sessions`);
  await isGone(first, 'an administrator ended his sessions');

  const second = await wish('thief2@example.com');
  const owner = new UserAgent(service.baseUrl);
  await owner.signIn(await owner.visit('/signin'), user);
  const sessions = await owner.visit('/account/sessions');
  await owner.submit(sessions, 'end-others-form');
  await isGone(second, 'the user ended the session');

  const third = await wish('thief3@example.com');
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password`);
  const resetMail = () => server.mails.find(({ link }) => link.includes('/choose-password/'));
  await eventually(resetMail, 'the mail with the link comes');
  const link = resetMail()?.link ?? '';
  await owner.submit(await owner.visit(link), 'choose-password-form', { password: 'a password of my own' });
  await isGone(third, 'the user chose another password');
  assert.equal(await addressOf(), 'old@example.com');

  // One of his own address lives on, and whoever opens it stays who he is.
  await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@new.example' } });
  const own = await server.mail('ada@new.example');
  await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: 'set by an administrator' } } });
  const other = await service.createUser();
  const passerBy = new UserAgent(service.baseUrl);
  await passerBy.signIn(await passerBy.visit('/signin'), other);
  for (const browser of [passerBy, new UserAgent(service.baseUrl)]) {
    const before = (await browser.visit('/account')).url.pathname;
    const opened = await browser.visit(own.link);
    if (browser === passerBy) assert.equal((await browser.submit(opened, 'verify-email-form')).url.pathname, '/verified-email');
    assert.equal((await browser.visit('/account')).url.pathname, before);
  }
  assert.ok((await passerBy.visit('/account')).text.includes(other.login));
});

test('an address is composed, as it is looked for, and one with invisible characters is none (RFC 8265 section 3.3)', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const user = await service.createUser({ email: 'old@example.com' });
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit('/signin'), user);
  const wish = async (email: string) => (await browser.submit(await browser.visit('/account/profile'), 'email-form', { email })).status;
  assert.equal(await wish('zoe\u3164@example.com'), 400);
  assert.equal(await wish('zoe\u0308@example.com'), 200);
  const { link, to } = await server.mail('zo\u00eb@example.com');
  await browser.submit(await browser.visit(link), 'verify-email-form');
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.profile.email, to);
  const again = new UserAgent(service.baseUrl);
  const signedIn = await again.signIn(await again.visit('/signin'), { ...user, login: 'zoe\u0308@example.com' });
  assert.notEqual(signedIn.url.pathname, '/signin', 'and he signs in with it, however it is typed');
});
