/** The dearest imported hash of each kind, by which refusals are held back: each cost more than another of its kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCostliestHashes } from '../../../src/features/passwords/password-history.store.ts';
import { verifyPassword } from '../../../src/features/passwords/passwords.service.ts';
import { waitForEqualTime } from '../../../src/features/sign-in/answer-time.service.ts';
import { unique } from '../../api/people.ts';
import { startManagementApi } from '../../support/management-api.ts';

const SALT = 'AAECAwQFBgcICQoLDA0ODw==';
const bytes = (size: number): string => Buffer.alloc(size, 7).toString('base64');
const argon2 = (memory: number, iterations: number) => ({
  ...{ algorithm: 'ARGON2', variant: 'id', memory, iterations, parallelism: 1, salt: SALT, value: bytes(32) },
});
const scrypt = (cost: number, blockSize: number, parallelism: number) => ({
  ...{ algorithm: 'SCRYPT', cost, blockSize, parallelism, salt: SALT, value: bytes(32) },
});
const firebase = (memoryCost: number, rounds: number) => ({
  ...{ algorithm: 'FIREBASE_SCRYPT', memoryCost, rounds, salt: SALT, saltSeparator: 'Bw==', signerKey: bytes(64), value: bytes(64) },
});
const sha1 = (iterationCount: number) => ({
  ...{ algorithm: 'PBKDF2', digestAlgorithm: 'SHA1_HMAC', iterationCount, keySize: 20, salt: SALT, value: bytes(20) },
});

test('the dearest of each kind is found, by its work, and a comparison with its like can be measured', async (t) => {
  const api = await startManagementApi();
  t.after(() => api.close());
  const { knex } = api.services.database;
  const none = { bcrypt: null, sha1: null, sha256: null, sha512: null, scrypt: null, firebase: null, argon2: null, elsewhere: false };
  assert.deepEqual(await findCostliestHashes(knex), none);
  const hashes = [
    argon2(256, 3),
    argon2(64, 100),
    scrypt(1024, 8, 1),
    scrypt(16, 8, 16),
    firebase(4, 8),
    firebase(6, 1),
    sha1(100),
    sha1(2000),
  ];
  for (const hash of hashes) {
    const { status, body } = await api.call('POST', '/users', { profile: { login: unique('moved') }, credentials: { password: { hash } } });
    assert.equal(status, 200, JSON.stringify(body));
  }
  assert.deepEqual(await findCostliestHashes(knex), {
    ...none,
    ...{ sha1: 2000, scrypt: [8192, 10, 8, 1], firebase: [128, 4, 8, 1], argon2: [6400, 64, 100, 1] },
  });
  // What stands for them is compared, or it would throw.
  await waitForEqualTime(api.services.database, 'a password', performance.now());
  const stored: string[] = await knex('users').where('login', 'like', 'moved%').pluck('password_hash');
  assert.equal(stored.length, hashes.length);
  for (const hash of stored) assert.equal(await verifyPassword(hash, 'wrong'), false);
});
