/** The life of an account, without JavaScript, and what is known of it: its steps, its activity, its data as a file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { enrolledUser } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, GOOD, linkOn } from './user-holdings.ts';

test('the life of an account: each step as far as the status offers it, to its end', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}/life-cycle`;
  const take = async (step: string, typed = {}) => agent.submit(await agent.visit(`${home}/${step}`), 'console-form', typed);
  const steps = (page: Page) => [...page.text.matchAll(/\/life-cycle\/([\w-]+)"/g)].map(([, step]) => step);
  const statusOf = async () => (await service.api('GET', `/users/${user.id}`)).body.status;

  const overview = `/admin/users/${user.id}`;
  assert.deepEqual(steps(await agent.visit(overview)), ['set-password', 'expire_password', 'reset_password', 'suspend', 'deactivate']);
  assert.match(wordsOf(await take('suspend')), /The user is suspended/);
  assert.deepEqual([await statusOf(), await canSignIn(service, user)], ['SUSPENDED', false]);
  const refused = await take('suspend');
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /suspend requires ACTIVE/);
  assert.match(wordsOf(await take('unsuspend')), /can sign in again/);
  assert.ok(await canSignIn(service, user));

  const poor = await take('set-password', { password: 'short' });
  assert.match(poor.text, /id="password-problem">/);
  await agent.submit(await agent.visit(`${home}/set-password`), 'console-form', { password: GOOD });
  assert.equal(await statusOf(), 'PASSWORD_EXPIRED', 'he chooses another one');
  const reset = await take('reset_password');
  assert.match(linkOn(reset), /choose-password/);
  assert.equal(await canSignIn(service, { ...user, password: GOOD }), false);

  assert.equal((await agent.visit(`${home}/delete`)).status, 404, 'only a deactivated user can be deleted');
  assert.equal((await agent.visit(`${home}/fly`)).status, 404);
  await take('deactivate');
  const deactivated = await agent.visit(overview);
  assert.deepEqual(steps(deactivated), ['activate', 'set-password', 'delete']);
  assert.match(wordsOf(await agent.visit(`${home}/delete`)), /This cannot be undone/);
  assert.match(wordsOf(await take('delete')), /The user is deleted/);
  assert.equal((await service.api('GET', `/users/${user.id}`)).status, 404);
  assert.equal((await agent.visit(`/admin/users/${user.id}`)).status, 404);
  for (const type of ['user.lifecycle.suspend', 'user.account.reset_password', 'user.lifecycle.delete.initiated']) {
    const [event] = await eventsOf(service, type, user.id);
    assert.equal(event?.actor.displayName, 'admin', type);
  }
});

test('activity shows at once what happened to a user, and the data are a file without secrets', async (t) => {
  const service = await startService(t);
  const user = await enrolledUser(service, { firstName: 'Frida' });
  const other = await service.createUser();
  const { agent } = await enter(service);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  const activity = await agent.visit(`/admin/users/${user.id}/activity`);
  assert.match(wordsOf(activity), /Suspend user.*Create user/, 'the newest first');
  assert.doesNotMatch(activity.text, new RegExp(other.login));

  const page = await agent.visit(`/admin/users/${user.id}/data`);
  const address = /href="([^"]+\/data\/download)"/.exec(page.text)?.[1] ?? assert.fail(page.text);
  const answer = await agent.send(address);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.headers.get('content-disposition'), `attachment; filename="${user.id}.json"`);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const text = await answer.text();
  assert.equal(JSON.parse(text).user.profile.firstName, 'Frida');
  assert.deepEqual(
    JSON.parse(text).factors.map((factor: object) => Object.keys(factor)),
    [['id', 'type', 'name', 'created', 'lastUsed']],
  );
  assert.doesNotMatch(text, /passwordHash|scrypt|argon|sealedSecret|publicKey/);
  const [event] = await eventsOf(service, 'user.account.export_data', user.id);
  assert.equal(event?.actor.displayName, 'admin');

  const nobody = new UserAgent(service.baseUrl);
  assert.equal((await nobody.send(address)).status, 303);
  const { agent: orgAdmin } = await enter(
    service,
    await createAdministrator(service, 'ORG_ADMIN', await createOrganization(service, 'Acme')),
  );
  assert.equal((await orgAdmin.send(address)).status, 403);
  const { agent: reader } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  assert.equal((await reader.send(address)).status, 200, 'as far as the API lets him');
  assert.equal((await agent.send('/admin/users/usr_00000000000000000000/data/download')).status, 404);
});
