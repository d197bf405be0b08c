/** `user.session.start` and `lastLogin` tell of sign-ins that were done, whatever door is used (docs/decisions). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post } from '../../protocol/servers/relying-party.ts';
import { codeOf, enrolledUser, secretOn, TWO_FACTORS, wrongCode } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, signInAt, startUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('the session of a sign-in starts when its last step is done, and is told then', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'built-in', { client_id: client.clientId, ...parameters });
  const newBrowser = () => new UserAgent(service.baseUrl);
  /** What the audit log and the user himself tell of his sign-ins. */
  const told = async (id: string) => {
    const filter = encodeURIComponent(`target.id eq "${id}" and eventType eq "user.session.start"`);
    const { body: starts } = await service.api('GET', `/logs?filter=${filter}&since=2020-01-01T00:00:00Z`);
    const { body: user } = await service.api('GET', `/users/${id}`);
    assert.ok(starts.every(({ actor }: { actor: { id: string } }) => actor.id === id));
    return { starts: starts.length, lastLogin: user.lastLogin };
  };
  const isTold = async (id: string, before: { starts: number; lastLogin: string | null }, more: number, why: string) => {
    const now = await told(id);
    assert.equal(now.starts, before.starts + more, why);
    assert.equal(now.lastLogin === before.lastLogin, more === 0, why);
  };
  const authn = (user: { login: string; password: string }) =>
    service.api('POST', '/authn', { username: user.login, password: user.password });

  await t.test('on the pages, with a factor', async () => {
    const user = await enrolledUser(service);
    const before = await told(user.id);
    for (const [turn, start] of ['/signin', request().href].entries()) {
      const browser = newBrowser();
      const page = await browser.signIn(await browser.visit(start), user);
      await browser.submit(page, 'factor-form', { passCode: wrongCode(user.secret) });
      await isTold(user.id, before, 0, `${start}: the password alone`);
      if (turn === 1) continue;
      await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
      await isTold(user.id, before, 1, start);
      Object.assign(before, await told(user.id));
    }
  });

  await t.test('with the enrolment of one; a session that becomes stronger does not start', async () => {
    const user = await service.createUser();
    const none = await told(user.id);
    assert.deepEqual(none, { starts: 0, lastLogin: null });
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request({ acr_values: TWO_FACTORS })), user);
    await isTold(user.id, none, 0, 'the password alone');
    const codes = await browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
    await isTold(user.id, none, 0, 'enrolled');
    assert.ok(answerOf(await browser.submit(codes, 'enrolled-form')).code);
    await isTold(user.id, none, 1, 'done');

    const other = await service.createUser();
    const plain = newBrowser();
    await plain.signIn(await plain.visit(request()), other);
    const once = await told(other.id);
    assert.equal(once.starts, 1);
    const stronger = await plain.visit(request({ acr_values: TWO_FACTORS }));
    const shown = await plain.submit(stronger, 'enroll-form', { passCode: codeOf(secretOn(stronger)) });
    assert.ok(answerOf(await plain.submit(shown, 'enrolled-form')).code);
    await isTold(other.id, once, 0, 'step-up');
  });

  await t.test('by API: with SUCCESS, once; the use of its token tells none', async () => {
    const plain = await service.createUser();
    const { body } = await authn(plain);
    const first = await told(plain.id);
    assert.deepEqual([first.starts, first.lastLogin !== null], [1, true]);
    assert.ok(answerOf(await newBrowser().visit(request({ prompt: 'none', sessionToken: body.sessionToken }))).code);
    await isTold(plain.id, first, 0, 'sessionToken');

    const user = await enrolledUser(service);
    const before = await told(user.id);
    const asked = (await authn(user)).body;
    await isTold(user.id, before, 0, 'MFA_REQUIRED');
    const verify = `/authn/factors/${asked._embedded.factors[0].id}/verify`;
    const proof = { stateToken: asked.stateToken, passCode: codeOf(user.secret, 1) };
    assert.equal((await service.api('POST', verify, proof)).body.status, 'SUCCESS');
    await isTold(user.id, before, 1, 'SUCCESS');
  });

  await t.test('the password grant that refuses for want of a factor', async () => {
    const trusted = await createClient(service, { grant_types: ['password', 'authorization_code'] });
    const grant = ({ login, password }: { login: string; password: string }) =>
      post(service, 'default', 'token', trusted, { grant_type: 'password', username: login, password, scope: 'openid' });
    const user = await enrolledUser(service);
    const before = await told(user.id);
    assert.equal((await grant(user)).body.error, 'invalid_grant');
    await isTold(user.id, before, 0, 'refused');
    const plain = await service.createUser();
    assert.equal((await grant(plain)).status, 200);
    assert.equal((await told(plain.id)).starts, 1);
  });

  await t.test('by an external provider, whose users have a factor here, too', async (t) => {
    const idp = await createIdp(service, idpBody(await startUpstream(t)));
    const at = async (address: URL) => {
      const agent = newBrowser();
      return { agent, page: await signInAt(agent, address, idp) };
    };
    assert.ok(answerOf((await at(request())).page).code);
    const [user] = (await service.api('GET', `/users?search=${encodeURIComponent('profile.login eq "ada@example.com"')}`)).body;
    const before = await told(user.id);
    assert.deepEqual([before.starts, before.lastLogin !== null], [1, true]);
    const { agent, page } = await at(request({ acr_values: TWO_FACTORS }));
    assert.match(page.text, /id="enroll-form"/);
    await isTold(user.id, before, 0, 'the provider alone');
    const codes = await agent.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
    assert.ok(answerOf(await agent.submit(codes, 'enrolled-form')).code);
    await isTold(user.id, before, 1, 'done');
  });

  await t.test('an expired password: with the new one', async () => {
    const user = await service.createUser();
    await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    const browser = newBrowser();
    const form = await browser.signIn(await browser.visit('/signin'), user);
    const before = await told(user.id);
    assert.deepEqual(before, { starts: 0, lastLogin: null });
    await browser.submit(form, 'choose-password-form', { password: 'violet engines hum' });
    await isTold(user.id, before, 1, 'done');
  });
});
