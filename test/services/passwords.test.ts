import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { hashPassword, verifyPassword } from '../../src/services/passwords.ts';

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

describe('passwords (RFC 9106; OWASP Password Storage Cheat Sheet)', () => {
  it('are kept as Argon2id, 19 MiB, two passes, one lane, salted anew each time', async () => {
    const [one, another] = [await hashPassword('the same'), await hashPassword('the same')];
    assert.notEqual(one, another);
    assert.match(one, /^\$argon2id\$v=19\$/);
    const { memoryCost, timeCost, parallelism } = parseOptions(one);
    assert.deepEqual({ memoryCost, timeCost, parallelism }, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
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

  it('take the same time for a user who does not exist, and are wrong', async () => {
    const stored = await hashPassword('known');
    const known: number[] = [];
    const unknown: number[] = [];
    for (let turn = 0; turn < 15; turn += 1) {
      known.push(await milliseconds(() => verifyPassword(stored, 'wrong')));
      unknown.push(await milliseconds(async () => assert.equal(await verifyPassword(null, 'wrong'), false)));
    }
    // The fastest of each: what else the machine is busy with can only slow a turn down.
    const ratio = Math.min(...unknown) / Math.min(...known);
    assert.ok(ratio > 0.6 && ratio < 1.7, `an unknown user takes ${ratio} times as long`);
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
