/** A user changes his own e-mail address: it is his once the link that went there is used, and the address before is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMailServer } from '../support/mail.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

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
  assert.equal(await wish('taken@example.com'), free, 'nobody is told that it is taken');
  const taken = await server.mail('taken@example.com');
  const reader = new UserAgent(service.baseUrl);
  assert.equal((await reader.submit(await reader.visit(taken.link), 'verify-email-form')).status, 410);
  const replaced = await server.mail('new@example.com');
  assert.equal((await fetch(replaced.link)).status, 410, 'replaced by the link that came after it');
  assert.equal(await addressOf(), 'old@example.com');

  await wish('new@example.com');
  const mail = await server.mail('new@example.com', 2);
  assert.equal((await reader.submit(await reader.visit(mail.link), 'verify-email-form')).url.pathname, '/verified-email');
  assert.equal(await addressOf(), 'new@example.com');
  const told = await server.mail('old@example.com');
  assert.equal(told.subject, 'Your e-mail address at Gatehouse was changed');
  assert.ok(told.text.includes('Your account now has the address new@example.com.'));
});
