/** Directory → Users, without JavaScript: the list, creating, the profile; each effect seen from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization, enter, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, GOOD, linkOn } from './user-holdings.ts';

const idIn = ({ url, text }: Page): string => /\/admin\/users\/(usr_\w+)/.exec(url.pathname)?.[1] ?? assert.fail(text);

test('a user is created with a password, with a link, or to be activated later', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);

  await t.test('with a password, in a department of an organization that both are named', async () => {
    const orgId = await createOrganization(service, 'Acme');
    await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' });
    const form = await agent.visit('/admin/users/new');
    const typed = { login: 'anna', firstName: 'Anna', email: 'anna@example.com', way: 'password', password: GOOD };
    const created = await agent.submit(form, 'console-form', { ...typed, orgId, depId: 'sal' });
    assert.match(wordsOf(created), /The user is created.*User name anna/);
    assert.ok(await canSignIn(service, { login: 'anna', password: GOOD }));
    assert.match(wordsOf(await agent.visit(`/admin/users/${idIn(created)}/organizations`)), /Acme Sales/);
    const [event] = await eventsOf(service, 'user.lifecycle.create', idIn(created));
    assert.equal(event?.actor.displayName, 'admin');
  });

  await t.test('a problem stands beside its field, and what was typed stays, but for the password', async () => {
    const form = await agent.visit('/admin/users/new');
    const poor = await agent.submit(form, 'console-form', { login: 'bert', way: 'password', password: 'short' });
    assert.equal(poor.status, 400);
    assert.match(poor.text, /id="password-problem">/);
    assert.equal(typedIn(poor, 'login'), 'bert');
    assert.doesNotMatch(poor.text, /value="short"/);
    assert.match(
      (await agent.submit(poor, 'console-form', { login: '', email: 'no address' })).text,
      /id="login-problem">.*id="email-problem">/s,
    );
    const taken = await agent.submit(poor, 'console-form', { login: 'ANNA', way: 'later' });
    assert.match(taken.text, /id="login-problem">Another user has this user name. Choose another one/);
    const nowhere = await agent.submit(poor, 'console-form', { way: 'later', orgId: '', depId: 'Sales' });
    assert.match(nowhere.text, /id="orgId-problem">Is required with a department/);
    assert.equal((await service.api('GET', '/users/bert')).status, 404);
  });

  await t.test('with a link, which is shown once, and the form sent again makes no second one', async () => {
    const form = await agent.visit('/admin/users/new');
    const made = await agent.submit(form, 'console-form', { login: 'carla', way: 'link' });
    const link = linkOn(made);
    assert.equal(linkOn(await agent.submit(form, 'console-form', { login: 'carla', way: 'link' })), link);
    assert.doesNotMatch((await agent.visit('/admin/users/carla')).text, /choose-password/);
    const browser = new UserAgent(service.baseUrl);
    await browser.submit(await browser.visit(link), 'choose-password-form', { password: GOOD });
    assert.ok(await canSignIn(service, { login: 'carla', password: GOOD }));
  });

  await t.test('to be activated later, by a link', async () => {
    const created = await agent.submit(await agent.visit('/admin/users/new'), 'console-form', { login: 'dora', way: 'later' });
    assert.match(wordsOf(created), /Not activated yet/);
    const activated = await agent.submit(await agent.visit(`/admin/users/${idIn(created)}/life-cycle/activate`), 'console-form');
    assert.match(linkOn(activated), /choose-password/);
    assert.equal((await service.api('GET', '/users/dora')).body.status, 'PROVISIONED');
  });
});

test('the list is searched by names, by status and by an expression, and has pages', async (t) => {
  const service = await startService(t);
  for (let n = 1; n <= 22; n += 1)
    await service.createUser({ login: `crowd-${String(n).padStart(2, '0')}`, city: n === 7 ? 'Rome' : 'Bonn' });
  await service.api('POST', '/users/crowd-03/lifecycle/deactivate');
  const { agent } = await enter(service);
  const first = await agent.visit('/admin/users?q=crowd');
  assert.match(wordsOf(first), /21 users.*crowd-22.*crowd-02 .*Next page/);
  assert.doesNotMatch(first.text, /crowd-01|crowd-03/);
  const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(next, /q=crowd/);
  assert.match(wordsOf(await agent.visit(next)), /crowd-01.*Previous page/);
  const deactivated = await agent.visit('/admin/users?status=DEPROVISIONED');
  assert.match(wordsOf(deactivated), /crowd-03/);
  assert.doesNotMatch(deactivated.text, /crowd-01/);
  const found = await agent.visit(`/admin/users?expression=${encodeURIComponent('profile.city eq "Rome"')}`);
  assert.match(found.text, /crowd-07/);
  assert.doesNotMatch(found.text, /crowd-08/);
  const wrong = await agent.visit('/admin/users?expression=city');
  assert.equal(wrong.status, 200);
  assert.match(wrong.text, /id="expression-problem">[^<]+</);
  assert.match(wrong.text, /id="expression"[^>]*value="city"[^>]*aria-invalid="true"/);
  assert.match(wrong.text, /id="error-summary"[\s\S]*<a href="#expression">Expression: /);
  assert.match(wordsOf(await agent.visit('/admin/users?q=%00')), /No users match/);
  assert.match(wordsOf(await agent.visit('/admin/users?q=%25')), /No users match/);
});

test('the profile is changed; a problem stands beside its field, and an attribute left empty goes', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Erna', city: 'Rome', title: 'Dr. <b>' });
  const { agent } = await enter(service);
  const form = await agent.visit(`/admin/users/${user.id}/edit`);
  assert.equal(typedIn(form, 'city'), 'Rome');
  const wrong = await agent.submit(form, 'console-form', { email: 'nonsense', city: 'Bonn' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /id="email-problem">Must be an e-mail address/);
  assert.equal(typedIn(wrong, 'city'), 'Bonn');
  const taken = await agent.submit(form, 'console-form', { login: 'admin' });
  assert.match(taken.text, /id="login-problem">Another user has this user name. Choose another one/);
  const changed = await agent.submit(wrong, 'console-form', { email: 'erna@example.com', title: '' });
  assert.match(wordsOf(changed), /The profile is changed.*erna@example\.com/);
  const verified = async () => (await service.api('GET', `/users/${user.id}`)).body.profile.emailVerified;
  assert.equal(await verified(), false);
  const again = () => agent.visit(`/admin/users/${user.id}/edit`);
  await agent.submit(await again(), 'console-form', { emailVerified: 'on' });
  assert.equal(await verified(), true);
  await agent.submit(await again(), 'console-form', { email: 'e.r@example.com' });
  assert.equal(await verified(), false, 'a box that stays ticked says nothing of another address');
  const { profile } = (await service.api('GET', `/users/${user.id}`)).body;
  assert.deepEqual([profile.city, profile.title, profile.firstName], ['Bonn', undefined, 'Erna']);
  const [event] = await eventsOf(service, 'user.account.update_profile', user.id);
  assert.equal(event?.actor.displayName, 'admin');
});
