/** Passwords that another system knows: users are taken over one sign-in at a time (Okta's password import hook), from a second real service. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { createInlineHook, inlineReceiver, PASSWORDS } from '../../support/inline-hooks.ts';
import { type Service, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';

const verdict = (credential: string) => ({ commands: [{ type: 'com.okta.action.update', value: { credential } }] });

const authn = (service: Service, username: string, password: string) => service.api('POST', '/authn', { username, password });

async function withHook(t: TestContext) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const receiver = await inlineReceiver(t);
  const id = await createInlineHook(service, receiver, PASSWORDS);
  const take = async (login: string): Promise<string> => {
    const { status, body } = await service.api('POST', '/users', {
      profile: { login },
      credentials: { password: { hook: { type: 'default' } } },
    });
    assert.deepEqual([status, body.status], [200, 'ACTIVE'], JSON.stringify(body));
    return body.id;
  };
  return { service, receiver, id, take };
}

const hashOf = (service: Service, id: string): Promise<string> =>
  onServer(
    service.database.url,
    async (client) => (await client.query('SELECT password_hash FROM users WHERE id = $1', [id])).rows[0].password_hash,
  );

const eventsOf = async (service: Service, id: string): Promise<{ eventType: string; outcome: { reason: string | null } }[]> =>
  (await service.api('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${id}"`, limit: '200' })}`)).body;

test('a user of a second service signs in here with the password of there, and is not asked for there again', async (t) => {
  const old = await startService(t);
  const there = await old.createUser();
  const { service, receiver, take } = await withHook(t);
  const id = await take(there.login);
  receiver.answers(async (res, { event }) => {
    const { username, password } = event.data.context.credential;
    const { body } = await authn(old, username, password);
    res.end(JSON.stringify(verdict(body.status === 'SUCCESS' ? 'VERIFIED' : 'UNVERIFIED')));
  });
  const wrong = await authn(service, there.login, 'not the password');
  assert.deepEqual([wrong.status, wrong.body.errorCode], [401, 'E0000004']);
  assert.equal(await hashOf(service, id), '$hook$');
  const right = await authn(service, there.login, there.password);
  assert.deepEqual([right.status, right.body.status], [200, 'SUCCESS'], JSON.stringify(right.body));
  assert.equal(receiver.asked.length, 2);
  const { data } = receiver.asked[1]?.event ?? {};
  assert.deepEqual(
    [data.context.credential, data.action],
    [{ username: there.login, password: there.password }, { credential: 'UNVERIFIED' }],
  );
  assert.match(await hashOf(service, id), /^\$argon2id\$/);

  // The second service is gone.
  receiver.answers((res) => res.destroy());
  assert.equal((await authn(service, there.login, there.password)).body.status, 'SUCCESS');
  assert.equal((await authn(service, there.login, 'not the password')).status, 401);
  assert.equal(receiver.asked.length, 2);
  const events = await eventsOf(service, id);
  assert.equal(events.filter(({ eventType }) => eventType === 'user.import.password').length, 1);
  assert.equal(events.filter(({ eventType }) => eventType === 'inline_hook.executed').length, 2);
  assert.ok(!JSON.stringify(events).includes(there.password));
});

test('what is no plain word of the hook verifies nothing', async (t) => {
  // A refusal takes as long as a hook may.
  withTimings(t, { inlineHook: 1000 });
  const { service, receiver, id, take } = await withHook(t);
  const answers: readonly Parameters<typeof receiver.answers>[0][] = [
    {},
    verdict('UNVERIFIED'),
    verdict('verified'),
    { commands: [...verdict('VERIFIED').commands, ...verdict('UNVERIFIED').commands] },
    { ...verdict('VERIFIED'), error: { errorSummary: 'but' } },
    { commands: [{ type: 'com.okta.user.update', value: { credential: 'VERIFIED' } }] },
    (res) => res.writeHead(500).end(JSON.stringify(verdict('VERIFIED'))),
    (res) => res.end('VERIFIED'),
  ];
  for (const [turn, answer] of answers.entries()) {
    const login = `nobody${turn}@example.com`;
    const user = await take(login);
    receiver.answers(answer);
    assert.equal((await authn(service, login, 'whatever it is')).status, 401, `${turn}`);
    assert.equal(await hashOf(service, user), '$hook$');
  }
  const asked = receiver.asked.length;
  await service.api('POST', `/inlineHooks/${id}/lifecycle/deactivate`);
  receiver.answers(verdict('VERIFIED'));
  await take('inactive@example.com');
  assert.equal((await authn(service, 'inactive@example.com', 'whatever it is')).status, 401);
  assert.equal(receiver.asked.length, asked, 'an inactive hook is not asked');
});

test('wrong guesses lock like any others, and a locked account asks no hook; of guesses at once one is asked', async (t) => {
  const { service, receiver, take } = await withHook(t);
  receiver.answers((res, { event }) => {
    const isRight = event.data.context.credential.password === 'the right password';
    setTimeout(() => res.end(JSON.stringify(verdict(isRight ? 'VERIFIED' : 'UNVERIFIED'))), 200);
  });
  const id = await take('guessed@example.com');
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => authn(service, 'guessed@example.com', `guess number ${n}`)));
  assert.ok(answers.every(({ status }) => status === 401));
  assert.ok(receiver.asked.length >= 1 && receiver.asked.length < 10, `${receiver.asked.length} were asked at once`);
  const asked = receiver.asked.length;
  assert.equal((await authn(service, 'guessed@example.com', 'the right password')).status, 401, 'locked');
  assert.equal(receiver.asked.length, asked);
  assert.ok((await eventsOf(service, id)).some(({ eventType }) => eventType === 'user.account.lock'));
});

test('while passwords are elsewhere, each refusal takes as long as a hook may, whoever is meant', async (t) => {
  withTimings(t, { inlineHook: 700 });
  const { service, receiver, take } = await withHook(t);
  const here = await service.createUser();
  await take('elsewhere@example.com');
  receiver.answers(verdict('UNVERIFIED'));
  for (const username of ['elsewhere@example.com', 'unknown@example.com', here.login]) {
    const begun = performance.now();
    assert.equal((await authn(service, username, 'not the password')).status, 401);
    assert.ok(performance.now() - begun >= 700, username);
  }
  const begun = performance.now();
  assert.equal((await authn(service, here.login, here.password)).status, 200);
  assert.ok(performance.now() - begun < 700, 'a right password is not held back');
});

test('a password that is set here ends the hook, and nothing but the default hook can be given', async (t) => {
  const { service, receiver, take } = await withHook(t);
  receiver.answers(verdict('VERIFIED'));
  const id = await take('set@example.com');
  const credentials = { password: { value: 'a password that is set here' } };
  assert.equal((await service.api('POST', `/users/${id}`, { credentials })).status, 200);
  assert.equal((await authn(service, 'set@example.com', 'whatever it is')).status, 401);
  assert.equal((await authn(service, 'set@example.com', 'a password that is set here')).status, 200);
  assert.equal(receiver.asked.length, 0);
  for (const password of [{ hook: { type: 'other' } }, { hook: {} }, { value: 'a password of length', hook: { type: 'default' } }])
    assert.equal((await service.api('POST', '/users', { profile: { login: 'x@example.com' }, credentials: { password } })).status, 400);
});
