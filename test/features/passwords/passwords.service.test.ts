import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { dummyHash, hashPassword, verifyPassword } from '../../../src/features/passwords/passwords.service.ts';
import { PRODUCTION } from '../../../src/platform/clock/timings.ts';
import { hashOperations } from '../../support/hash-operations.ts';
import { withProductionTimings } from '../../support/short-waits.ts';

function costOf(hash: string) {
  const { memoryCost, timeCost, parallelism } = parseOptions(hash);
  return { memoryCost, timeCost, parallelism };
}

describe('passwords (RFC 9106; OWASP Password Storage Cheat Sheet)', () => {
  it('are kept as Argon2id, 19 MiB, two passes, one lane, salted anew each time', async (t) => {
    withProductionTimings(t, 'passwordHash');
    const [one, another] = [await hashPassword('the same'), await hashPassword('the same')];
    assert.notEqual(one, another);
    assert.match(one, /^\$argon2id\$v=19\$/);
    assert.deepEqual(costOf(one), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  });

  const pairs: [stored: string, tried: string, right: boolean][] = [
    ['correct horse', 'correct horse', true],
    ['correct horse', 'Correct horse', false],
    ['correct horse', 'correct horse ', false],
    ['', '', true],
    ['nul\u0000here', 'nul\u0000there', false],
    ['caf\u00e9', 'cafe\u0301', true],
    ['пароль 🔑', 'пароль 🔑', true],
  ];
  for (const [stored, tried, right] of pairs) {
    it(`${JSON.stringify(tried)} is ${right ? '' : 'not '}${JSON.stringify(stored)} (RFC 8265 section 4.2)`, async () => {
      assert.equal(await verifyPassword(await hashPassword(stored), tried), right);
    });
  }

  // The times themselves are compared in test/long/password-times.test.ts.
  it('cost the same for a user who does not exist, and are wrong', async () => {
    const stored = await hashPassword('known');
    assert.equal(await hashOperations(() => hashPassword('known')), 1, 'they can be counted');
    assert.equal(await hashOperations(() => verifyPassword(stored, 'wrong')), 1);
    assert.equal(await hashOperations(async () => assert.equal(await verifyPassword(null, 'wrong'), false)), 1);
    assert.deepEqual(costOf(dummyHash()), costOf(stored));
    assert.deepEqual(costOf(dummyHash(PRODUCTION.passwordHash)), PRODUCTION.passwordHash);
  });

  it('wait for each other, and a failure among them holds up nobody', async () => {
    const stored = await hashPassword('right');
    const tried = Array.from({ length: 30 }, (_, turn) => verifyPassword(turn % 3 === 0 ? 'no hash' : stored, 'right'));
    const results = await Promise.allSettled(tried);
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 10);
    assert.equal(results.filter((result) => result.status === 'fulfilled' && result.value).length, 20);
    assert.equal(await verifyPassword(stored, 'right'), true);
  });
});
