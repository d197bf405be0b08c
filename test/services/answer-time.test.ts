/** A wrong password takes the same time, whoever is meant (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"; issue 6, "Lockout"). */
import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { type Service, startService } from '../support/service.ts';

const ATTEMPTS = 5;
/** Of as many attempts each. */
const ROUNDS = 6;
/** Wrong passwords in a row that lock an account. */
const LOCKS = 10;

/** As Okta's API takes it. */
async function bcryptHash(workFactor: number) {
  const [, , , rest = ''] = (await bcrypt('right password', workFactor)).split('$');
  return { algorithm: 'BCRYPT', workFactor, salt: rest.slice(0, 22), value: rest.slice(22) };
}

function pbkdf2Hash(iterationCount: number) {
  const salt = randomBytes(16);
  const value = pbkdf2Sync('right password', salt, iterationCount, 32, 'sha256').toString('base64');
  return { algorithm: 'PBKDF2', digestAlgorithm: 'SHA256_HMAC', iterationCount, keySize: 32, salt: salt.toString('base64'), value };
}

async function imported(service: Service, login: string, hash: object): Promise<string> {
  const { status, body } = await service.api('POST', '/users', { profile: { login }, credentials: { password: { hash } } });
  assert.ok(status < 300, JSON.stringify(body));
  return login;
}

/** Milliseconds of a refusal. */
async function refusal(service: Service, username: string, password: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${service.baseUrl}/api/v1/authn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  await answer.arrayBuffer();
  assert.equal(answer.status, 401);
  return performance.now() - begun;
}

interface Attempt {
  readonly login: string;
  readonly password: string;
}

/**
 * The same time for all of them. What the machine does besides only ever adds to a time, so the shortest of several are compared; where they still differ, more
 * are taken, for a difference of the service itself stays however many there are.
 */
async function assertEven(t: TestContext, service: Service, attempts: readonly Attempt[]): Promise<number[]> {
  const shortest = attempts.map(() => Number.POSITIVE_INFINITY);
  const isEven = () => Math.min(...shortest) > 0.8 * Math.max(...shortest);
  for (let round = 0; round < ROUNDS && !(round > 0 && isEven()); round += 1) {
    for (let turn = 0; turn < ATTEMPTS; turn += 1) {
      for (const [index, { login, password }] of attempts.entries()) {
        shortest[index] = Math.min(shortest[index] ?? 0, await refusal(service, login, password));
      }
    }
  }
  const told = attempts.map(({ login, password }, index) => `${login}, ${password}: ${Math.round(shortest[index] ?? 0)} ms`).join('; ');
  t.diagnostic(told);
  assert.ok(isEven(), told);
  return shortest;
}

test('unknown, of our own hash, imported: a refusal takes the same time, in any composition of the password, and during a lock', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  await service.createUser();
  const { login: own } = await service.createUser();
  const dear = await imported(service, 'bcrypt', await bcryptHash(10));
  const other = await imported(service, 'pbkdf2', pbkdf2Hash(40_000));
  for (const password of ['wrong password', 'wrong passwo\u0308rd']) {
    await assertEven(
      t,
      service,
      ['nobody', own, dear, other].map((login) => ({ login, password })),
    );
  }
  assert.ok(2 * ATTEMPTS >= LOCKS);
  // By now all of them are locked: a right password is refused as a wrong one is.
  await assertEven(
    t,
    service,
    ['wrong password', 'right password'].map((password) => ({ login: dear, password })),
  );
});

test('where nothing was imported, nothing is held back; from the first import on everything is', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const { login } = await service.createUser();
  const password = 'wrong password';
  const before = await assertEven(t, service, [
    { login: 'nobody', password },
    { login, password },
  ]);
  const bcrypted = await imported(service, 'bcrypt', await bcryptHash(12));
  // From the next answer on: not only the imported user's takes its time.
  const first = await refusal(service, 'nobody', password);
  const [, dear = 0] = await assertEven(
    t,
    service,
    ['nobody', bcrypted].map((each) => ({ login: each, password })),
  );
  assert.ok(Math.max(...before) < dear, `${before} and ${dear}`);
  assert.ok(first > 0.8 * dear, `${first} and ${dear}`);
});
