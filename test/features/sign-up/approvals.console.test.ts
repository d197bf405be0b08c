/** Sign-ups that wait for approval: the list, one by one and several at once, with counts, mail and events. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { GOOD } from '../users/user-holdings.ts';

const WAITING = '/admin/users?status=waiting';

async function start(t: TestContext) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.api('PUT', '/settings/registration', { enabled: true, approval: 'ADMIN' });
  const signUp = async (email: string) => {
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.submit(await agent.visit('/signup'), 'sign-up-form', { email, password: GOOD });
    const code = /Your code is (\d{8})/.exec((await server.mail(email, 1, 'Your code is')).text)?.[1] ?? '';
    assert.equal((await agent.submit(page, 'code-form', { code })).url.pathname, '/signup/waiting');
    return (await service.api('GET', `/users/${email}`)).body as { id: string; approvalRequested: string; _links: object };
  };
  return { service, server, signUp };
}

const statusOf = async ({ api }: Service, id: string) => (await api('GET', `/users/${id}`)).body.status;

test('the list has those who wait and nobody else; one is approved and one refused, each with mail and event', async (t) => {
  const { service, server, signUp } = await start(t);
  await service.api('POST', '/users?activate=false', { profile: { login: 'prepared' } });
  const [good, bad] = [await signUp('good@example.com'), await signUp('bad@example.com')];
  assert.ok(good.approvalRequested && 'refuse' in good._links);
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit('/admin/security/sign-up')), /Waiting for approval 2 users/);
  assert.match(wordsOf(await agent.visit('/admin')), /Sign-ups 2 waiting for approval/);
  const list = await agent.visit(WAITING);
  assert.match(wordsOf(list), /good@example\.com.*bad@example\.com|bad@example\.com.*good@example\.com/);
  assert.doesNotMatch(wordsOf(list), /prepared/);
  assert.match(list.text, new RegExp(`href="/admin/users/${bad.id}/life-cycle/refuse"`));

  const approve = await agent.visit(`/admin/users/${good.id}/life-cycle/activate`);
  assert.match(wordsOf(approve), /Approve: good@example\.com\?/);
  await agent.submit(approve, 'console-form');
  assert.equal(await statusOf(service, good.id), 'ACTIVE');
  assert.equal((await server.mail('good@example.com', 2)).subject, 'Your account at Gatehouse is active');
  await agent.submit(await agent.visit(`/admin/users/${bad.id}/life-cycle/refuse`), 'console-form');
  assert.equal(await statusOf(service, bad.id), 'DEPROVISIONED');
  assert.match((await server.mail('bad@example.com', 2)).text, /not approved/);
  const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.registration.refuse"')}`);
  assert.deepEqual(
    body.map(({ target, actor }: { target: { id: string }[]; actor: { displayName: string } }) => [target[0]?.id, actor.displayName]),
    [[bad.id, 'admin']],
  );
  assert.doesNotMatch(wordsOf(await agent.visit('/admin')), /waiting for approval/);
});

test('several at once are refused; who does not wait is not', async (t) => {
  const { service, server, signUp } = await start(t);
  const [one, two] = [await signUp('one@example.com'), await signUp('two@example.com')];
  const { agent } = await enter(service);
  const confirm = await agent.submit(await agent.visit(WAITING), 'console-form', { action: 'users.refuse', scope: 'all' });
  assert.match(wordsOf(confirm), /Refuse sign-ups: 2 users\?/);
  await agent.submit(confirm, 'console-form');
  for (const { id } of [one, two]) await eventually(async () => (await statusOf(service, id)) === 'DEPROVISIONED', 'refused');
  assert.match((await server.mail('two@example.com', 2)).text, /not approved/);
  const active = await service.createUser();
  const wrong = await service.api('POST', `/users/${active.id}/lifecycle/refuse`);
  assert.equal(wrong.status, 403);
  const staged = await service.api('POST', '/users?activate=false', { profile: { login: 'prepared' } });
  const { status, body } = await service.api('POST', `/users/${staged.body.id}/lifecycle/refuse`);
  assert.deepEqual([status, /is not waiting for approval/.test(JSON.stringify(body))], [403, true]);
});

test('over the API, without an e-mail where that is wished', async (t) => {
  const { service, server, signUp } = await start(t);
  const { id } = await signUp('quiet@example.com');
  const waiting = await service.api('GET', `/users?filter=${encodeURIComponent('approvalRequested pr and status eq "STAGED"')}`);
  assert.deepEqual(
    waiting.body.map((user: { id: string }) => user.id),
    [id],
  );
  const before = server.mails.length;
  assert.equal((await service.api('POST', `/users/${id}/lifecycle/refuse?sendEmail=false`)).status, 200);
  const user = (await service.api('GET', `/users/${id}`)).body;
  assert.deepEqual([user.status, user.approvalRequested], ['DEPROVISIONED', null]);
  assert.equal(server.mails.length, before);
});
