/** The queue of password hashes is bounded: what would wait too long is told to come again, whoever is meant (OWASP Authentication Cheat Sheet; RFC 9110 section 15.6.4). */
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { test } from 'node:test';
import { importedInTurn, MOST_IMPORTED_WAITING, MOST_WAITING, verifyPassword } from '../../../src/features/passwords/passwords.service.ts';
import { createSemaphore } from '../../../src/platform/concurrency/semaphore.ts';
import { Overloaded } from '../../../src/platform/database/database-failures.ts';
import { createClient, post } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { holdHashes } from '../../support/held-hashes.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
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

test('while comparisons with imported hashes go on and as many wait as may, all others are compared as ever', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await service.api('POST', '/users', { profile: { login: 'imported' }, credentials: { password: { hash: HASH } } });
  const { release, until } = held();
  const queue = Promise.all(Array.from({ length: MOST_IMPORTED_WAITING + 1 }, () => importedInTurn(() => until)));
  afterwards(t, async () => {
    release();
    await queue;
  });
  const statuses: number[] = [];
  const guess = async (username: string, password: string) =>
    statuses.push((await service.api('POST', '/authn', { username, password })).status);
  for (const [username, password, expected] of [
    ['imported', 'wrong', 503],
    [user.login, user.password, 200],
    [user.login, 'wrong', 401],
    ['nobody-of-these', 'wrong', 401],
  ] as const) {
    const before = statuses.length;
    void guess(username, password);
    await eventually(() => statuses.length > before, `an answer to ${username}`);
    assert.equal(statuses.at(-1), expected, username);
  }
});

test('guesses at a locked account with an imported hash are compared with it no more, and take no place in its queue', async (t) => {
  const service = await startService(t);
  const stored = (salt: string, rounds: number) => `$pbkdf2-sha256$i=${rounds}$${Buffer.from(salt).toString('base64')}$${KEY}`;
  const password = { hash: HASH };
  const { status: created } = await service.api('POST', '/users', { profile: { login: 'imported' }, credentials: { password } });
  assert.equal(created, 200);
  const guess = async () => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'imported', password: 'wrong' }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const fill = () => Array.from({ length: MOST_IMPORTED_WAITING + 1 }, (_, n) => verifyPassword(stored(`salt ${n}`, 200_000), 'wrong'));
  const before = fill();
  assert.equal(await guess(), 503, 'until it is locked, a guess has to wait for its turn');
  await Promise.all(before);
  for (let n = 0; n < 10; n += 1) assert.equal(await guess(), 401);
  const after = fill();
  assert.equal(await guess(), 401);
  await Promise.all(after);
});

test('a full queue: 503 and Retry-After at every door, the same for everybody, and nothing is counted', async (t) => {
  const service = await startService(t);
  const [user, locked] = [await service.createUser(), await service.createUser()];
  const client = await createClient(service, { grant_types: ['password', 'authorization_code'] });
  const authn = async (username: string, password: string) => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
    const body = (await answer.json()) as any;
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: { ...body, errorId: '' } };
  };
  for (let n = 0; n < 10; n += 1) await authn(locked.login, 'wrong');
  const browser = new UserAgent(service.baseUrl);
  const form = await browser.visit('/signin');

  const release = holdHashes(t, MOST_WAITING);
  const answers = [
    await authn(user.login, user.password),
    await authn(user.login, 'wrong'),
    await authn('nobody-of-these', 'wrong'),
    await authn(locked.login, locked.password),
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
  assert.equal((await authn(user.login, user.password)).body.status, 'SUCCESS');
  assert.equal((await browser.signIn(form, user)).url.pathname, '/account');
  moveClock(t, 61);
  assert.equal((await authn(locked.login, locked.password)).body.status, 'SUCCESS', 'no failure was added');
});
