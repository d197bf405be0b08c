/** A wrong password takes the same time, whoever is meant (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"; issue 6, "Lockout"). */
import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { type Service, startService } from '../support/service.ts';

const ATTEMPTS = 5;
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

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function medians(t: TestContext, service: Service, logins: readonly string[], password = 'wrong password'): Promise<number[]> {
  const times = logins.map((): number[] => []);
  // In turns: what the machine does besides slows all alike.
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    for (const [index, login] of logins.entries()) times[index]?.push(await refusal(service, login, password));
  }
  const found = times.map(median);
  t.diagnostic(logins.map((login, index) => `${login}: ${Math.round(found[index] ?? 0)} ms`).join(', '));
  return found;
}

test('unknown, of our own hash, imported: a refusal takes the same time, in any composition of the password, and during a lock', async (t) => {
  const service = await startService(t);
  await service.createUser();
  const { login: own } = await service.createUser();
  const dear = await imported(service, 'bcrypt', await bcryptHash(10));
  const other = await imported(service, 'pbkdf2', pbkdf2Hash(40_000));
  for (const password of ['wrong password', 'wrong passwo\u0308rd']) {
    const found = await medians(t, service, ['nobody', own, dear, other], password);
    assert.ok(Math.min(...found) > 0.8 * Math.max(...found), `${password}: ${found.map(Math.round)}`);
  }
  assert.equal(2 * ATTEMPTS, LOCKS);
  // By now all of them are locked: a right password is refused as a wrong one is.
  const [wrong = 0] = await medians(t, service, [dear]);
  const [right = 0] = await medians(t, service, [dear], 'right password');
  assert.ok(Math.min(wrong, right) > 0.8 * Math.max(wrong, right), `${wrong} and ${right}`);
});

test('where nothing was imported, nothing is held back; from the first import on everything is', async (t) => {
  const service = await startService(t);
  const { login } = await service.createUser();
  const found = await medians(t, service, ['nobody', login]);
  await imported(service, 'bcrypt', await bcryptHash(12));
  // From the next answer on: not only the imported user's takes its time.
  const unknown = await refusal(service, 'nobody', 'wrong password');
  const dear = await refusal(service, 'bcrypt', 'wrong password');
  assert.ok(Math.max(...found) < dear, `${found} and ${dear}`);
  assert.ok(unknown > 0.8 * dear, `${unknown} and ${dear}`);
});
