/** Invitations over a real mail server: PROVISIONED until the user chooses a password, by API and console; sent again, expired, filtered for. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { moveClock } from '../../support/clock.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, GOOD } from '../users/user-holdings.ts';

const EMAIL = 'ada@example.com';

async function start(t: TestContext) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  return { service, server };
}

const invite = (service: Service, login = 'ada', email = EMAIL) =>
  service.api('POST', '/users?activate=true&sendEmail=true', { profile: { login, email } });

const statusOf = async (service: Service, id: string): Promise<string> => (await service.api('GET', `/users/${id}`)).body.status;

async function choose(service: Service, link: string): Promise<void> {
  const browser = new UserAgent(service.baseUrl);
  await browser.submit(await browser.visit(link), 'choose-password-form', { password: GOOD });
}

test('POST users?activate=true&sendEmail=true invites: PROVISIONED until a password is chosen; reactivate replaces the link', async (t) => {
  const { service, server } = await start(t);
  const { body: user } = await invite(service);
  assert.deepEqual([user.status, user.activated], ['PROVISIONED', null]);
  assert.deepEqual(Object.keys(user._links).sort(), ['deactivate', 'reactivate', 'self']);
  const search = encodeURIComponent('status eq "PROVISIONED"');
  const found = await service.api('GET', `/users?filter=${search}`);
  assert.deepEqual(
    found.body.map(({ id }: { id: string }) => id),
    [user.id],
  );

  const first = await server.mail(EMAIL);
  assert.deepEqual((await service.api('POST', `/users/${user.id}/lifecycle/reactivate`)).body, {});
  const second = await server.mail(EMAIL, 2);
  assert.equal(second.subject, first.subject);
  assert.equal((await fetch(first.link)).status, 410);
  assert.equal(await statusOf(service, user.id), 'PROVISIONED');

  await choose(service, second.link);
  const { body: active } = await service.api('GET', `/users/${user.id}`);
  assert.deepEqual([active.status, active.profile.emailVerified, active.activated === active.statusChanged], ['ACTIVE', true, true]);
  assert.ok(await canSignIn(service, { login: 'ada', password: GOOD }));
  const [again] = await eventsOf(service, 'user.lifecycle.reactivate', user.id);
  assert.deepEqual([again?.debugContext.before, again?.debugContext.after], [{ status: 'PROVISIONED' }, { status: 'PROVISIONED' }]);
  const refused = await service.api('POST', `/users/${user.id}/lifecycle/reactivate`);
  assert.deepEqual([refused.status, refused.body.errorCode], [403, 'E0000038']);
});

test('an invitation ends after seven days; reactivate with sendEmail=false answers with the link', async (t) => {
  const { service, server } = await start(t);
  const { body: user } = await invite(service);
  const { link } = await server.mail(EMAIL);
  moveClock(t, 7 * 86_400 + 1);
  assert.equal((await fetch(link)).status, 410);
  const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reactivate?sendEmail=false`);
  await choose(service, body.activationUrl);
  assert.equal(await statusOf(service, user.id), 'ACTIVE');
  assert.equal(server.mails.filter(({ to }) => to === EMAIL).length, 1);
});

test('a password that an administrator sets ends the invitation, and so does a deactivation', async (t) => {
  const { service, server } = await start(t);
  const { body: ada } = await invite(service);
  const { body: bob } = await invite(service, 'bob', 'bob@example.com');
  const links = [await server.mail(EMAIL), await server.mail('bob@example.com')];
  await service.api('POST', `/users/${ada.id}`, { credentials: { password: { value: GOOD } } });
  await service.api('POST', `/users/${bob.id}/lifecycle/deactivate`);
  assert.deepEqual([await statusOf(service, ada.id), await statusOf(service, bob.id)], ['ACTIVE', 'DEPROVISIONED']);
  for (const { link } of links) assert.equal((await fetch(link)).status, 410);
  assert.deepEqual((await service.api('POST', `/users/${bob.id}/lifecycle/activate`)).body, {});
  assert.equal(await statusOf(service, bob.id), 'PROVISIONED');
});

test('an invited user who asks for a new password gets in by that mail, too', async (t) => {
  const { service, server } = await start(t);
  const { body: user } = await invite(service);
  await server.mail(EMAIL);
  const browser = new UserAgent(service.baseUrl);
  await browser.submit(await browser.visit('/forgot-password'), 'forgot-password-form', { username: EMAIL });
  await choose(service, (await server.mail(EMAIL, 2)).link);
  assert.equal(await statusOf(service, user.id), 'ACTIVE');
});

test('the console invites by e-mail address alone, shows who is invited, and sends again', async (t) => {
  const { service, server } = await start(t);
  const { agent } = await enter(service);
  const list = await agent.visit('/admin/users');
  assert.match(list.text, /href="\/admin\/users\/invite"/);
  const form = await agent.visit('/admin/users/invite');
  const missing = await agent.submit(form, 'console-form', { email: '', firstName: 'Ada' });
  assert.equal(missing.status, 400);
  const sent = { email: EMAIL, firstName: 'Ada' };
  const [page, twice] = await Promise.all([agent.submit(form, 'console-form', sent), agent.submit(form, 'console-form', sent)]);
  assert.equal(page.url.pathname, twice.url.pathname);
  assert.match(wordsOf(page), /Invited/);
  const first = await server.mail(EMAIL);
  const { body } = await service.api('GET', `/users/${EMAIL}`);
  assert.deepEqual([body.status, body.profile.firstName], ['PROVISIONED', 'Ada']);
  assert.match(wordsOf(await agent.visit('/admin/users?status=PROVISIONED')), /ada@example\.com/);

  const again = await agent.visit(`/admin/users/${body.id}/life-cycle/reactivate`);
  assert.match(wordsOf(await agent.submit(again, 'console-form')), /The invitation is on its way/);
  const second = await server.mail(EMAIL, 2);
  assert.equal((await fetch(first.link)).status, 410);
  await choose(service, second.link);
  assert.equal(await statusOf(service, body.id), 'ACTIVE');
});
