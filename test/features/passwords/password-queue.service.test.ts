/** The queue of password hashes is bounded: what would wait too long is told to come again, whoever is meant (OWASP Authentication Cheat Sheet; RFC 9110 section 15.6.4). */
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import {
  importedHashSemaphore,
  MOST_IMPORTED_WAITING,
  MOST_WAITING,
  verifyPassword,
} from '../../../src/features/passwords/passwords.service.ts';
import { createSemaphore } from '../../../src/platform/concurrency/semaphore.ts';
import { Overloaded } from '../../../src/platform/database/database-failures.ts';
import { createClient, post } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { holdHashes } from '../../support/held-hashes.ts';
import { createInlineHook, inlineReceiver, PASSWORDS } from '../../support/inline-hooks.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

/** 32 bytes that no password hashes to. */
const KEY = Buffer.alloc(32).toString('base64');
const HASH = { algorithm: 'PBKDF2', digestAlgorithm: 'SHA256_HMAC', iterationCount: 1000, keySize: 32, salt: 'c2FsdA==', value: KEY };

/** Works that end when they are let. */
function held() {
  let release = (): void => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, until };
}

/** From now on a comparison with an imported hash waits for its turn. @param more that wait before it */
async function holdImported(t: TestContext, more: number): Promise<void> {
  const { release, until } = held();
  const queue = Promise.all(Array.from({ length: 1 + more }, () => importedHashSemaphore(() => until)));
  afterwards(t, async () => {
    release();
    await queue;
  });
}

async function authn(service: Service, username: string, password: string, address?: string) {
  const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(address && { 'x-forwarded-for': address }) },
    body: JSON.stringify({ username, password }),
  });
  const body = (await answer.json()) as { readonly status?: string; readonly errorCode?: string };
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: { ...body, errorId: '' } };
}

test('works go on so many at once, wait in their order, and are refused where too many wait', async () => {
  const turns = createSemaphore(2, 3);
  const { release, until } = held();
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, (_, n) =>
    turns(async () => {
      begun.push(n);
      await until;
      if (n === 1) throw new Error('its own affair');
      return n;
    }),
  );
  const settled = Promise.allSettled(works);
  let carriedOut = false;
  await assert.rejects(
    turns(async () => {
      carriedOut = true;
    }),
    Overloaded,
  );
  assert.deepEqual([begun, carriedOut], [[0, 1], false]);
  release();
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  assert.equal(await turns(async () => 'free again'), 'free again');
});

test('comparisons with imported hashes have a queue of their own: one at a time, one an account, and no turn of others', async (t) => {
  const stored = (n: number) => {
    const salt = Buffer.from(`the salt of ${n}`);
    return `$pbkdf2-sha256$i=1000$${salt.toString('base64')}$${pbkdf2Sync('right', salt, 1000, 32, 'sha256').toString('base64')}`;
  };
  const release = holdHashes(t);
  assert.deepEqual(await Promise.all(['right', 'right'].map((password) => verifyPassword(stored(0), password))), [true, true]);

  const answers = [verifyPassword(stored(0), 'right'), verifyPassword(stored(0), 'a guess at the same time')];
  const others = Array.from({ length: MOST_IMPORTED_WAITING }, (_, n) => verifyPassword(stored(n + 1), 'right'));
  await assert.rejects(verifyPassword(stored(99), 'right'), Overloaded);
  assert.equal(await answers[0], true);
  assert.ok((await Promise.all(others)).every(Boolean));
  await release();
  assert.equal(await answers[1], false);
});

test('while the queue of imported hashes is full, every refusal is the same 503, and other accounts sign in with the right password', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const other = await service.createUser();
  await service.api('POST', '/users', { profile: { login: 'imported' }, credentials: { password: { hash: HASH } } });
  await holdImported(t, MOST_IMPORTED_WAITING);
  const [imported, unknown, wrong] = [
    await authn(service, 'imported', 'wrong'),
    await authn(service, 'nobody-of-these', 'wrong'),
    await authn(service, user.login, 'wrong'),
  ];
  assert.deepEqual([imported.status, imported.retryAfter, imported.body.errorCode], [503, '1', 'E0000009']);
  assert.deepEqual(unknown, imported);
  assert.deepEqual(wrong, imported);
  assert.equal((await authn(service, other.login, other.password)).status, 200);
  for (let n = 0; n < 9; n += 1) assert.equal((await authn(service, user.login, 'wrong')).status, 503);
  assert.equal((await authn(service, user.login, user.password)).status, 503, 'guesses count: the account is locked by now');

  for (let n = 0; n < 10; n += 1) assert.equal((await authn(service, 'imported', 'wrong')).status, 503);
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "user.account.lock"');
  assert.deepEqual(
    events.map(({ target }: { target: { displayName: string }[] }) => target[0]?.displayName),
    [user.login],
    'without a comparison no account is locked',
  );
  const { body: failures } = await service.api('GET', '/logs?filter=outcome.reason eq "OVERLOADED"');
  assert.equal(failures.length, 11);
});

test('while the queue of imported hashes is full, the right password of a user who may not sign in is refused with the same 503', async (t) => {
  const service = await startService(t);
  const suspended = await service.createUser();
  const expired = await service.createUser();
  await service.api('POST', `/users/${suspended.id}/lifecycle/suspend`);
  await service.api('POST', `/users/${expired.id}/lifecycle/expire_password`);
  const client = await createClient(service, { grant_types: ['password', 'authorization_code'] });
  const byGrant = async (username: string, password: string) =>
    await post(service, 'built-in', 'token', client, { grant_type: 'password', username, password });
  await holdImported(t, MOST_IMPORTED_WAITING);
  const wrong = await authn(service, suspended.login, 'wrong');
  assert.equal(wrong.status, 503);
  assert.deepEqual(await authn(service, suspended.login, suspended.password), wrong);
  const byWrong = await byGrant(expired.login, 'wrong');
  const byRight = await byGrant(expired.login, expired.password);
  assert.equal(byWrong.status, 503);
  assert.deepEqual([byRight.status, byRight.body], [byWrong.status, byWrong.body]);
});

test('while the queue of imported hashes is full, passwords that a hook verifies still work', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const receiver = await inlineReceiver(t);
  await createInlineHook(service, receiver, PASSWORDS);
  receiver.answers((res, { event }) => {
    const credential = event.data.context.credential.password === 'right' ? 'VERIFIED' : 'UNVERIFIED';
    res.end(JSON.stringify({ commands: [{ type: 'com.okta.action.update', value: { credential } }] }));
  });
  const profile = { login: 'elsewhere' };
  await service.api('POST', '/users', { profile, credentials: { password: { hook: { type: 'default' } } } });
  await holdImported(t, MOST_IMPORTED_WAITING);
  assert.equal((await authn(service, 'elsewhere', 'wrong')).status, 503);
  assert.equal((await authn(service, 'elsewhere', 'right')).body.status, 'SUCCESS');
});

test('while the queue of imported hashes is full, an address is blocked after the same number of refusals for every user name', async (t) => {
  const service = await startService(t, { env: { TRUST_PROXY: '1' } });
  await service.api('POST', '/users', { profile: { login: 'imported' }, credentials: { password: { hash: HASH } } });
  await holdImported(t, MOST_IMPORTED_WAITING);
  for (const [username, address] of [
    ['imported', '192.0.2.1'],
    ['nobody-of-these', '192.0.2.2'],
  ] as const) {
    const statuses: number[] = [];
    for (let n = 0; n < 101; n += 1) statuses.push((await authn(service, username, 'wrong', address)).status);
    assert.deepEqual([...new Set(statuses)], [503, 429], username);
    assert.equal(statuses.indexOf(429), 100, username);
  }
});

test('guesses at a locked account with an imported hash are compared with it no more, and take no place in its queue', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/users', { profile: { login: 'imported' }, credentials: { password: { hash: HASH } } });
  for (let n = 0; n < 10; n += 1) assert.equal((await authn(service, 'imported', 'wrong')).status, 401);
  await holdImported(t, 0);
  assert.equal((await authn(service, 'imported', 'wrong')).status, 401, 'a comparison would not end');
});

test('a full queue: 503 and Retry-After at every door, the same for everybody, and nothing is counted', async (t) => {
  const service = await startService(t);
  const [user, locked] = [await service.createUser(), await service.createUser()];
  const client = await createClient(service, { grant_types: ['password', 'authorization_code'] });
  for (let n = 0; n < 10; n += 1) await authn(service, locked.login, 'wrong');
  const browser = new UserAgent(service.baseUrl);
  const form = await browser.visit('/signin');

  const release = holdHashes(t, MOST_WAITING);
  const answers = [
    await authn(service, user.login, user.password),
    await authn(service, user.login, 'wrong'),
    await authn(service, 'nobody-of-these', 'wrong'),
    await authn(service, locked.login, locked.password),
  ];
  const [first] = answers;
  assert.deepEqual([first?.status, first?.retryAfter, first?.body.errorCode], [503, '1', 'E0000009']);
  for (const answer of answers) assert.deepEqual(answer, first);
  const page = await browser.signIn(form, user);
  assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '10']);
  assert.match(page.text, /temporarily_unavailable/);
  const grant = await post(service, 'built-in', 'token', client, {
    grant_type: 'password',
    username: user.login,
    password: user.password,
  });
  assert.deepEqual([grant.status, grant.body.error], [503, 'temporarily_unavailable']);
  await release();
  assert.equal((await authn(service, user.login, user.password)).body.status, 'SUCCESS');
  assert.equal((await browser.signIn(form, user)).url.pathname, '/account');
  moveClock(t, 61);
  assert.equal((await authn(service, locked.login, locked.password)).body.status, 'SUCCESS', 'no failure was added');
});
