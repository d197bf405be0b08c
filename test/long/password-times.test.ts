/** What passwords take, in milliseconds at what operators get (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"). It wants a quiet machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeImportedHash } from '../../src/features/passwords/password-hashes.service.ts';
import { hashPassword, verifyPassword } from '../../src/features/passwords/passwords.service.ts';
import { assertEven, bcryptHash, imported, pbkdf2Hash, refusal } from '../features/sign-in/refusal-times.ts';
import { startService } from '../support/service.ts';
import { withProductionTimings } from '../support/short-waits.ts';

const EVEN = 0.8;

/** The fastest of several, in turn: what else the machine is busy with can only slow one down. */
async function fastestOf(...works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const fastest = works.map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < 15; turn += 1) {
    for (const [index, work] of works.entries()) {
      const begun = performance.now();
      await work();
      fastest[index] = Math.min(fastest[index] ?? 0, performance.now() - begun);
    }
  }
  return fastest;
}

test('a comparison takes the same time for a user who does not exist, and for one whose imported hash is cheap', async (t) => {
  withProductionTimings(t, 'passwordHash');
  const stored = await hashPassword('known');
  const cheap = encodeImportedHash({
    ...{ algorithm: 'SHA-256', salt: 'AAECAwQFBgcICQoLDA0ODw==', saltOrder: 'PREFIX' },
    value: 'PT7NB1B2A4OlzWox1NgpSt0YKawNe+BkcIP3OEfdMl4=',
  });
  const [known = 0, ...others] = await fastestOf(...[stored, null, cheap].map((hash) => () => verifyPassword(hash, 'wrong')));
  for (const other of others) assert.ok(other / known > 0.6 && other / known < 1.7, `${other / known} times as long`);
});

test('unknown, of our own hash, imported: a refusal takes the same time, in any composition of the password', async (t) => {
  withProductionTimings(t, 'passwordHash', 'comparisonMargin');
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const { login: own } = await service.createUser();
  const dear = await imported(service, 'bcrypt', await bcryptHash(10));
  const other = await imported(service, 'pbkdf2', pbkdf2Hash(40_000));
  for (const password of ['wrong password', 'wrong passwo\u0308rd']) {
    await assertEven(
      t,
      service,
      ['nobody', own, dear, other].map((login) => ({ login, password })),
      EVEN,
    );
  }
});

test('from the first import of a dear hash on, every refusal takes its time', async (t) => {
  withProductionTimings(t, 'passwordHash', 'comparisonMargin');
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const bcrypted = await imported(service, 'bcrypt', await bcryptHash(12));
  const first = await refusal(service, 'nobody', 'wrong password');
  const attempts = ['nobody', bcrypted].map((login) => ({ login, password: 'wrong password' }));
  const [, dear = 0] = await assertEven(t, service, attempts, EVEN);
  assert.ok(first > EVEN * dear, `${first} and ${dear}`);
});
