/** Invitations to organizations over a real mail server: joining with an existing account after a sign-in, and with a new one; used once, revoked, renewed. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, GOOD } from '../users/user-holdings.ts';

const EMAIL = 'ada@example.com';

async function start(t: TestContext) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { orgId } = await ok('POST', '/account/org?orgName=Acme');
  const rolesOf = async (userId: string): Promise<readonly string[]> =>
    (await service.api('GET', `/account/org/${orgId}/member/${userId}/role`)).body.roles ?? [];
  return { server, service, ok, orgId, rolesOf };
}

const BARE = /[\w-]{43}/g;

test('a new account chooses a password, joins with role and department, and the link works once', async (t) => {
  const { server, service, ok, orgId, rolesOf } = await start(t);
  const { depId } = await ok('POST', `/account/org/${orgId}/department`, { name: 'Sales' });
  await ok('POST', `/account/org/${orgId}/role`, { name: 'billing' });
  const made = await ok('POST', `/account/org/${orgId}/invitation`, { email: EMAIL, role: 'billing', depId });
  assert.deepEqual([made.email, made.role, made.depId], [EMAIL, 'billing', depId]);
  assert.equal(JSON.stringify(made).includes('token'), false);
  const { link, subject } = await server.mail(EMAIL);
  assert.match(subject, /Acme/);

  const browsers = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  const pages = await Promise.all(browsers.map((browser) => browser.visit(link)));
  assert.match(pages[0]?.text ?? '', /Join Acme/);
  const weak = await browsers[0]?.submit(pages[0] ?? assert.fail(), 'create-form', { password: 'short' });
  assert.equal(weak?.status, 400);
  const ends = await Promise.all(
    browsers.map((browser, turn) => browser.submit(pages[turn] ?? assert.fail(), 'create-form', { password: GOOD })),
  );
  assert.equal(ends.filter(({ status }) => status === 200).length, 1, 'of two at once one is used');
  assert.ok(await canSignIn(service, { login: EMAIL, password: GOOD }));
  const { body: user } = await service.api('GET', `/users/${EMAIL}`);
  assert.deepEqual([user.status, user.profile.emailVerified], ['ACTIVE', true]);
  assert.deepEqual(await rolesOf(user.id), ['member', 'billing']);
  const [member] = await ok('GET', `/account/org/${orgId}/member`);
  assert.deepEqual([member.userId, member.depId], [user.id, depId]);
  assert.equal((await fetch(link)).status, 410);
  assert.deepEqual(await ok('GET', `/account/org/${orgId}/invitation`), []);
  const [event] = await eventsOf(service, 'org.invitation.accept', user.id);
  assert.equal(event?.actor.id, user.id);
});

test('an existing account joins after a sign-in; the page, the answer and the e-mail are those of an unknown address', async (t) => {
  const { server, service, ok, orgId, rolesOf } = await start(t);
  const user = await service.createUser({ email: EMAIL });
  const invitations = [];
  const letters = [];
  for (const email of [EMAIL, 'nobody@example.com']) {
    invitations.push(await ok('POST', `/account/org/${orgId}/invitation`, { email, role: 'admin' }));
    letters.push(await server.mail(email));
  }
  const [known, unknown] = letters;
  assert.ok(known && unknown);
  assert.deepEqual(Object.keys(invitations[0]), Object.keys(invitations[1]));
  assert.equal(known.subject, unknown.subject);
  const seen = await Promise.all(
    letters.map(async ({ link }) => (await new UserAgent(service.baseUrl).visit(link)).text.replace(BARE, '')),
  );
  assert.equal(seen[0], seen[1]);

  const browser = new UserAgent(service.baseUrl);
  const taken = await browser.submit(await browser.visit(known.link), 'create-form', { password: GOOD });
  assert.equal(taken.status, 400);
  assert.match(taken.text, /An account with this e-mail address already exists/);
  const signIn = await browser.submit(taken, 'join-form', { decision: 'sign-in' });
  const back = await browser.signIn(signIn, user);
  assert.match(back.text, new RegExp(user.login));
  const joined = await browser.submit(back, 'join-form', { decision: 'join' });
  assert.equal(joined.url.pathname, '/account');
  assert.deepEqual(await rolesOf(user.id), ['admin', 'member']);
  assert.equal((await fetch(known.link)).status, 410);
});

test('who joins a second organization chooses a new password at once: the first one’s administrators may know the one before', async (t) => {
  const { server, service, ok, orgId, rolesOf } = await start(t);
  const user = await service.createUser({ email: EMAIL });
  const other = await ok('POST', '/account/org?orgName=Bolt');
  await ok('PUT', `/account/org/${other.orgId}/member/${user.id}`, {});
  await ok('POST', `/account/org/${orgId}/invitation`, { email: EMAIL });
  const { link } = await server.mail(EMAIL);
  const browser = new UserAgent(service.baseUrl);
  const back = await browser.signIn(await browser.submit(await browser.visit(link), 'join-form', { decision: 'sign-in' }), user);
  const choose = await browser.submit(back, 'join-form', { decision: 'join' });
  assert.match(choose.text, /id="choose-password-form"/);
  assert.equal(await canSignIn(service, user), false);
  await browser.submit(choose, 'choose-password-form', { password: GOOD });
  assert.ok(await canSignIn(service, { login: user.login, password: GOOD }));
  assert.deepEqual(await rolesOf(user.id), ['member']);
});

test('too many e-mails to one address are refused, and no other organization notices', async (t) => {
  const { service, ok, orgId } = await start(t);
  const { orgId: other } = await ok('POST', '/account/org?orgName=Other');
  const { id } = await ok('POST', `/account/org/${orgId}/invitation`, { email: EMAIL });
  const again = async () => (await service.api('POST', `/account/org/${orgId}/invitation/${id}/resend`)).status;
  const answers = [];
  for (let turn = 0; turn < 6; turn += 1) answers.push(await again());
  assert.deepEqual([answers[0], answers.at(-1)], [200, 429], String(answers));
  assert.equal((await service.api('POST', `/account/org/${other}/invitation`, { email: EMAIL })).status, 201);
});

test('sending again ends the link before; revoking, time and the inviter’s removal end it, too', async (t) => {
  const { server, service, ok, orgId } = await start(t);
  const { id } = await ok('POST', `/account/org/${orgId}/invitation`, { email: EMAIL });
  assert.equal((await service.api('POST', `/account/org/${orgId}/invitation`, { email: EMAIL.toUpperCase() })).status, 409);
  const first = await server.mail(EMAIL);
  await ok('POST', `/account/org/${orgId}/invitation/${id}/resend`);
  const second = await server.mail(EMAIL, 2);
  assert.equal((await fetch(first.link)).status, 410);
  assert.equal((await fetch(second.link)).status, 200);
  await ok('DELETE', `/account/org/${orgId}/invitation/${id}`);
  assert.equal((await fetch(second.link)).status, 410);
  assert.equal((await service.api('POST', `/account/org/${orgId}/invitation/${id}/resend`)).status, 404);

  await ok('POST', `/account/org/${orgId}/invitation`, { email: 'eve@example.com' });
  const { link } = await server.mail('eve@example.com');
  moveClock(t, 7 * 86_400_000 + 1000);
  assert.equal((await fetch(link)).status, 410);
});
