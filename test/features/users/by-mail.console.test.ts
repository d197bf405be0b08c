/** Users whose links are mailed from the console, with a real mail server and without JavaScript: each way to its end, once however often it is sent. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAdministrator, createOrganization, enter, SUPER, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import type { Received } from '../../support/requests.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, GOOD, linkOn } from './user-holdings.ts';

const idIn = ({ url, text }: Page): string => /\/admin\/users\/(usr_\w+)/.exec(url.pathname)?.[1] ?? assert.fail(text);
const NEW = '/admin/users/new';

async function begin(t: TestContext) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { agent } = await enter(service);
  return { server, service, agent };
}

/** Through a proxy there is no dev inbox, and so no mail. */
class ViaProxy extends UserAgent {
  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('x-forwarded-for', '203.0.113.9');
    return super.send(address, { ...init, headers });
  }
}

async function choose(service: Service, link: string, password = GOOD): Promise<void> {
  const browser = new UserAgent(service.baseUrl);
  await browser.submit(await browser.visit(link), 'choose-password-form', { password });
}

test('a user is invited by mail, which is what is offered first; the form sent twice makes one user and one mail', async (t) => {
  const { server, service, agent } = await begin(t);
  const form = await agent.visit(NEW);
  assert.match(form.text, /value="mail" checked/);
  const typed = { login: 'anna', email: 'anna@example.com', firstName: 'Anna' };
  const [created, again] = await Promise.all([agent.submit(form, 'console-form', typed), agent.submit(form, 'console-form', typed)]);
  for (const page of [created, again]) assert.match(wordsOf(page), /on its way by e-mail.*User name anna/);
  assert.equal(idIn(created), idIn(again));
  const { subject, link } = await server.mail('anna@example.com');
  assert.equal(subject, 'Your account at Gatehouse');
  assert.doesNotMatch(created.text, /choose-password/);
  assert.match(wordsOf(await agent.visit(`/admin/users/${idIn(created)}`)), /anna@example\.com not confirmed/);
  await choose(service, link);
  assert.ok(await canSignIn(service, { login: 'anna', password: GOOD }));
  assert.match(wordsOf(await agent.visit(`/admin/users/${idIn(created)}`)), /anna@example\.com confirmed/);
  const other = await agent.submit(form, 'console-form', { ...typed, login: 'bert', email: 'bert@example.com' });
  assert.match(wordsOf(other), /This form was already processed with other values/);
  assert.equal((await service.api('GET', '/users/bert')).status, 404);
  assert.equal(server.mails.filter((mail) => mail.to === 'anna@example.com' && mail.subject === subject).length, 1);
});

test('what does not go together is refused beside its field, and makes nobody', async (t) => {
  const { server, service, agent } = await begin(t);
  const form = await agent.visit(NEW);
  const submit = (typed: Record<string, string>) => agent.submit(form, 'console-form', { login: 'anna', ...typed });
  const without = await submit({ way: 'mail', email: '' });
  assert.equal(without.status, 400);
  assert.match(without.text, /id="email-problem">Is required: the link is sent to this address</);
  for (const way of ['mail', 'link', 'later']) {
    const typed = await submit({ way, email: 'anna@example.com', password: GOOD });
    assert.equal(typed.status, 400, way);
    assert.match(typed.text, /id="password-problem">Is only used with “With a password that you set”/, way);
  }
  const long = await submit({ way: 'mail', email: `${'a'.repeat(70)}@example.com` });
  assert.equal(long.status, 400);
  assert.match(long.text, /id="email-problem">/);
  assert.equal((await service.api('GET', '/users/anna')).status, 404);
  assert.equal(server.mails.length, 0);
});

test('a link is shown where that is wished, or where there is no address, with the reason', async (t) => {
  const { server, service, agent } = await begin(t);
  const shown = await agent.submit(await agent.visit(NEW), 'console-form', { login: 'anna', email: 'anna@example.com', way: 'link' });
  await choose(service, linkOn(shown));
  assert.ok(await canSignIn(service, { login: 'anna', password: GOOD }));
  const nobody = await service.createUser();
  const reset = await agent.visit(`/admin/users/${nobody.id}/life-cycle/reset_password`);
  assert.match(wordsOf(reset), /You see a link once and pass it on\. The user has no usable e-mail address/);
  assert.doesNotMatch(reset.text, /name="way"/);
  assert.match(linkOn(await agent.submit(reset, 'console-form')), /choose-password/);
  assert.deepEqual(
    server.mails.filter(({ text }) => text.includes('/choose-password/')),
    [],
  );
});

test('activated and reset by mail, each once, with the mail’s link to the end', async (t) => {
  const { server, service, agent } = await begin(t);
  const email = 'anna@example.com';
  const { body: user } = await service.api('POST', '/users?activate=false', { profile: { login: 'anna', email } });
  const home = `/admin/users/${user.id}/life-cycle`;

  const activate = await agent.visit(`${home}/activate`);
  assert.match(wordsOf(activate), /By mail A link is sent to anna@example\.com/);
  for (const page of await Promise.all([agent.submit(activate, 'console-form'), agent.submit(activate, 'console-form')]))
    assert.match(wordsOf(page), /The link to choose a password is on its way/);
  await choose(service, (await server.mail(email)).link);
  assert.ok(await canSignIn(service, { login: 'anna', password: GOOD }));

  const reset = await agent.visit(`${home}/reset_password`);
  for (const page of await Promise.all([agent.submit(reset, 'console-form'), agent.submit(reset, 'console-form')]))
    assert.match(wordsOf(page), /no longer works\. A link to choose a new one was sent/);
  assert.equal(await canSignIn(service, { login: 'anna', password: GOOD }), false);
  const resets = () => server.mails.filter(({ subject }) => subject === 'Choose a new password for Gatehouse');
  await eventually(() => resets().length > 0, 'the mail is there');
  assert.deepEqual(
    resets().map(({ to }) => to),
    [email],
  );
  const link = resets()[0]?.link ?? '';
  await choose(service, link, `${GOOD}, another`);
  assert.ok(await canSignIn(service, { login: 'anna', password: `${GOOD}, another` }));
  const events = await eventsOf(service, 'user.account.reset_password', user.id);
  assert.deepEqual(
    events.map(({ actor }) => actor.displayName),
    [SUPER.login],
  );

  const form = await agent.visit(`${home}/reset_password`);
  assert.match(linkOn(await agent.submit(form, 'console-form', { way: 'link' })), /choose-password/);
  assert.equal((await agent.submit(form, 'console-form', { way: 'pigeon' })).status, 400);
});

test('where no mail can be sent there is only the link, and the form says why', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const agent = new ViaProxy(service.baseUrl);
  await agent.signIn(await agent.visit('/admin'), SUPER);
  const form = await agent.visit(NEW);
  assert.doesNotMatch(form.text, /value="mail"/);
  assert.match(wordsOf(form), /Show me the link .* This service cannot send e-mail/);
  const forced = await agent.submit(form, 'console-form', { login: 'anna', email: 'anna@example.com', way: 'mail' });
  assert.match(forced.text, /id="way-problem">By e-mail is not possible/);
  assert.match(linkOn(await agent.submit(form, 'console-form', { login: 'anna', email: 'anna@example.com' })), /choose-password/);
  const reset = await agent.visit(`/admin/users/${user.id}/life-cycle/reset_password`);
  assert.match(wordsOf(reset), /You see a link once and pass it on\. This service cannot send e-mail/);
  const late = await agent.submit(reset, 'console-form', { way: 'mail' });
  assert.equal(late.status, 400);
  assert.ok(await canSignIn(service, user), 'the password is as before');
  assert.match(linkOn(await agent.submit(reset, 'console-form')), /choose-password/);
  assert.doesNotMatch((await agent.visit(`/admin/users/${user.id}`)).text, /verify-email/);
});

test('a password that is set is expired with it, or not set at all', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/users/${user.id}/life-cycle/set-password`);
  const trigger = (what: string) => onServer(service.database.url, (sql) => sql.query(what));
  await trigger(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`);
  await trigger(
    `CREATE TRIGGER refuse BEFORE INSERT ON audit_events FOR EACH ROW WHEN (NEW.event_type = 'user.account.expire_password') EXECUTE FUNCTION refuse()`,
  );
  assert.equal((await agent.submit(form, 'console-form', { password: GOOD })).status, 500);
  assert.ok(await canSignIn(service, user), 'the password before is still the one');
  await trigger('DROP TRIGGER refuse ON audit_events');
  assert.match(wordsOf(await agent.submit(form, 'console-form', { password: GOOD })), /The password is set/);
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'PASSWORD_EXPIRED');
  for (const type of ['user.account.update_password', 'user.account.expire_password'])
    assert.equal((await eventsOf(service, type, user.id)).length, 1, type);
  const kept = await agent.visit(`/admin/users/${user.id}/life-cycle/set-password`);
  const fields = { ...kept, text: kept.text.replace(/<input[^>]*name="expire"[^>]*>/, '') };
  await agent.submit(fields, 'console-form', { password: `${GOOD}, kept` });
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
});

test('an address is confirmed by a mail that an administrator sends: where that makes sense, and not too often', async (t) => {
  const { server, service, agent } = await begin(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const home = `/admin/users/${user.id}`;
  const profile = await agent.visit(home);
  assert.match(profile.text, new RegExp(`href="${home}/verify-email"`));
  const sent = await agent.submit(await agent.visit(`${home}/verify-email`), 'console-form');
  assert.match(wordsOf(sent), /The confirmation e-mail is on its way/);
  const [event] = await eventsOf(service, 'user.account.send_verification', user.id);
  assert.equal(event?.actor.displayName, SUPER.login);
  const browser = new UserAgent(service.baseUrl);
  const { link } = await server.mail('ada@example.com');
  await browser.submit(await browser.visit(link), 'verify-email-form');
  const confirmed = await agent.visit(home);
  assert.match(wordsOf(confirmed), /ada@example\.com confirmed/);
  assert.doesNotMatch(confirmed.text, /verify-email/);
  assert.equal((await agent.submit(await agent.visit(`${home}/verify-email`), 'console-form')).status, 400, 'confirmed already');

  const suspended = await service.createUser({ email: 'bob@example.com' });
  await service.api('POST', `/users/${suspended.id}/lifecycle/suspend`);
  const none = await service.createUser();
  for (const one of [suspended, none]) assert.doesNotMatch((await agent.visit(`/admin/users/${one.id}`)).text, /verify-email/);

  const often = await service.createUser({ email: 'eve@example.com' });
  const form = await agent.visit(`/admin/users/${often.id}/verify-email`);
  for (let times = 1; times <= 5; times += 1) assert.equal((await agent.submit(form, 'console-form')).status, 200);
  const many = await agent.submit(form, 'console-form');
  assert.equal(many.status, 400);
  assert.match(wordsOf(many), /Too many e-mails were sent to this user recently. Try again in an hour/);
});

test('an organization’s administrator sends it to his own people alone, and is told the rules of passwords himself', async (t) => {
  const { service } = await begin(t);
  const [mine, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  const [his, shared] = [await service.createUser({ email: 'his@example.com' }), await service.createUser({ email: 'shared@example.com' })];
  for (const [orgId, { id }] of [
    [mine, his],
    [mine, shared],
    [other, shared],
  ] as const)
    await service.api('PUT', `/account/org/${orgId}/member/${id}`, {});
  await service.api('PUT', '/settings/password', { minLength: 13 });
  const { agent } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', mine));
  assert.equal((await agent.submit(await agent.visit(`/admin/users/${his.id}/verify-email`), 'console-form')).status, 200);
  assert.equal((await agent.visit(`/admin/users/${shared.id}/verify-email`)).status, 403);
  for (const path of [NEW, `/admin/users/${his.id}/life-cycle/set-password`]) {
    const form = await agent.visit(path);
    assert.match(wordsOf(form), /At least 13 characters/, path);
    assert.doesNotMatch(wordsOf(form), /Security, Passwords|Settings, Mail/, 'pages that he does not have');
  }
});
