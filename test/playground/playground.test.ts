import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mock, test } from 'node:test';
import { SignJWT } from 'jose';
import { isPresent } from '../../src/playground/presence.ts';
import { presentToken } from '../../src/playground/presentation.ts';
import { openTransaction, sealTransaction, type Transaction } from '../../src/playground/transaction.ts';

const key = randomBytes(32);
const transaction: Transaction = { server: 'default', state: 's'.repeat(43), nonce: 'nonce', codeVerifier: 'verifier' };

test('the playground is there on a loopback base URL, and nowhere else (management-api, How it is started)', () => {
  assert.equal(isPresent({ playground: true, loopback: true }, { host: 'localhost:3000' }), true);
  assert.equal(isPresent({ playground: false, loopback: true }, {}), false);
  assert.equal(isPresent({ playground: true, loopback: false }, {}), false);
});

for (const header of ['forwarded', 'via', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port']) {
  test(`a request that carries ${header} finds no playground (management-api, How it is started)`, () => {
    assert.equal(isPresent({ playground: true, loopback: true }, { [header]: '127.0.0.1' }), false);
  });
}

test('a sealed transaction opens again, and shows nothing of itself (RFC 7516 section 7.1)', async () => {
  const sealed = await sealTransaction(transaction, key);
  assert.equal(sealed.split('.').length, 5);
  assert.equal(Buffer.from(sealed, 'base64url').includes('verifier'), false);
  assert.deepEqual(await openTransaction(sealed, key), transaction);
});

test('a transaction sealed under another key, altered or invented does not open (RFC 7516 section 5.2)', async () => {
  const sealed = await sealTransaction(transaction, key);
  assert.equal(await openTransaction(sealed, randomBytes(32)), undefined);
  const [header, encryptedKey, iv, ciphertext = '', tag] = sealed.split('.');
  const altered = (ciphertext.startsWith('A') ? 'B' : 'A') + ciphertext.slice(1);
  assert.equal(await openTransaction([header, encryptedKey, iv, altered, tag].join('.'), key), undefined);
  assert.equal(await openTransaction('nonsense', key), undefined);
});

test('a transaction lives ten minutes (RFC 7519 section 4.1.4)', async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T00:00:00Z') });
  try {
    const sealed = await sealTransaction(transaction, key);
    mock.timers.setTime(Date.parse('2026-11-21T00:09:59Z'));
    assert.deepEqual(await openTransaction(sealed, key), transaction);
    mock.timers.setTime(Date.parse('2026-11-21T00:10:00Z'));
    assert.equal(await openTransaction(sealed, key), undefined);
  } finally {
    mock.timers.reset();
  }
});

test('a JWT is shown taken apart, an opaque token by its ends (RFC 7519 section 3)', async () => {
  const jwt = await new SignJWT({ sub: 'usr_1' }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(key);
  const shown = presentToken(jwt).decoded;
  assert.deepEqual(JSON.parse(shown?.header ?? ''), { alg: 'HS256', typ: 'at+jwt' });
  assert.deepEqual(JSON.parse(shown?.claims ?? ''), { sub: 'usr_1' });
  for (const opaque of ['0123456789abcdefghijklmnopqrstuvwxyz', 'a.b.c', 'short']) {
    const view = presentToken(opaque);
    assert.equal(view.decoded, undefined);
    assert.equal(view.value, opaque);
  }
  assert.equal(presentToken('0123456789abcdefghijklmnopqrstuvwxyz').excerpt, '01234567…stuvwxyz');
});
