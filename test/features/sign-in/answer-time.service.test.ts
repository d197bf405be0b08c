/** A wrong password takes the same time, whoever is meant (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"; issue 6, "Lockout"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { ATTEMPTS, assertEven, bcryptHash, imported, pbkdf2Hash, refusal } from './refusal-times.ts';

/** Wrong passwords in a row that lock an account. */
const LOCKS = 10;
/**
 * What is held back takes so many times what a comparison takes, on this machine at this moment: whoever is not held back is told apart by far, however busy
 * it is. By the margin that operators get they are compared in test/long/password-times.test.ts.
 */
const MARGIN = 10;
const EVEN = 0.5;

test('unknown, of our own hash, imported: a refusal takes the same time, in any composition of the password, and during a lock', async (t) => {
  withTimings(t, { comparisonMargin: MARGIN });
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  await service.createUser();
  const { login: own } = await service.createUser();
  const dear = await imported(service, 'bcrypt', await bcryptHash(6));
  const other = await imported(service, 'pbkdf2', pbkdf2Hash(2000));
  for (const password of ['wrong password', 'wrong passwo\u0308rd']) {
    await assertEven(
      t,
      service,
      ['nobody', own, dear, other].map((login) => ({ login, password })),
      EVEN,
    );
  }
  assert.ok(2 * ATTEMPTS >= LOCKS);
  // By now all of them are locked: a right password is refused as a wrong one is.
  await assertEven(
    t,
    service,
    ['wrong password', 'right password'].map((password) => ({ login: dear, password })),
    EVEN,
  );
});

test('where nothing was imported, nothing is held back; from the first import on every refusal is', async (t) => {
  withTimings(t, { comparisonMargin: MARGIN });
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const { login } = await service.createUser();
  const password = 'wrong password';
  const before = await assertEven(
    t,
    service,
    ['nobody', login].map((each) => ({ login: each, password })),
    EVEN,
  );
  const bcrypted = await imported(service, 'bcrypt', await bcryptHash(6));
  // From the next answer on: not only the imported user's takes its time.
  const first = await refusal(service, 'nobody', password);
  const [, dear = 0] = await assertEven(
    t,
    service,
    ['nobody', bcrypted].map((each) => ({ login: each, password })),
    EVEN,
  );
  assert.ok(Math.max(...before) < dear, `${before} and ${dear}`);
  assert.ok(first > EVEN * dear, `${first} and ${dear}`);
});

test('a right password is never held back: an imported hash delays nobody else’s sign-in', async (t) => {
  withTimings(t, { comparisonMargin: 20 * MARGIN });
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const { login: username, password } = await service.createUser();
  await imported(service, 'bcrypt', await bcryptHash(6));
  const refused = await refusal(service, username, 'wrong password');
  const times: number[] = [];
  for (let turn = 0; turn < ATTEMPTS; turn += 1) {
    const begun = performance.now();
    assert.equal((await service.api('POST', '/authn', { username, password })).status, 200);
    times.push(performance.now() - begun);
  }
  assert.ok(Math.min(...times) < EVEN * refused, `${times} and ${refused}`);
});

test('a stored hash that cannot be compared ends nobody else’s sign-in', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const { login, password } = await service.createUser();
  const stuck = await imported(service, 'bcrypt', await bcryptHash(6));
  const stored = `$scrypt$ln=16,r=1,p=1$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(32).toString('base64')}`;
  await onServer(service.database.url, (client) => client.query('UPDATE users SET password_hash = $1 WHERE login = $2', [stored, stuck]));
  await refusal(service, 'nobody', 'wrong password');
  await refusal(service, login, 'wrong password');
  assert.equal((await service.api('POST', '/authn', { username: login, password })).status, 200);
});
