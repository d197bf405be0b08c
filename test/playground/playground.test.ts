import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { mock, test } from 'node:test';
import { SignJWT } from 'jose';
import Koa from 'koa';
import { DEFAULT_CHOICES, readChoices } from '../../src/playground/choices.ts';
import { explainExchange, type Time, timeTexts } from '../../src/playground/explanation.ts';
import { CLAIMS, REQUEST } from '../../src/playground/glossary.ts';
import { isPresent, playgroundTransactions, sessionSeal, type Transaction } from '../../src/playground/session.ts';
import { decodeToken } from '../../src/playground/verification.ts';

const keys = [randomBytes(32)] as const;
const transactions = playgroundTransactions({ keys, secure: false });
const transaction: Transaction = { choices: DEFAULT_CHOICES, state: 's'.repeat(43), nonce: 'nonce', codeVerifier: 'verifier' };

const COOKIE = `gatehouse_playground_${transaction.state}`;

/** A request that carries a cookie, and its response. */
function contextWith(cookie: string): Koa.Context {
  const req = new IncomingMessage(new Socket());
  req.headers.cookie = cookie;
  return new Koa().createContext(req, new ServerResponse(req));
}

/** @returns what the browser is given to keep */
async function remembered(): Promise<string> {
  const ctx = contextWith('');
  await transactions.remember(ctx, transaction);
  const [line] = [ctx.response.get('set-cookie')].flat();
  const [, name, value = ''] = /^(\w+)=([^;]*);/.exec(line ?? '') ?? [];
  assert.equal(name, COOKIE);
  return value;
}

const opened = (sealed: string, own = transactions): Promise<Transaction | undefined> =>
  own.take(contextWith(`${COOKIE}=${sealed}`), transaction.state);

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
  const sealed = await remembered();
  assert.equal(sealed.split('.').length, 5);
  assert.equal(Buffer.from(sealed, 'base64url').includes('verifier'), false);
  assert.deepEqual(await opened(sealed), transaction);
});

test('a transaction sealed under another key, altered or invented does not open (RFC 7516 section 5.2)', async () => {
  const sealed = await remembered();
  assert.equal(await opened(sealed, playgroundTransactions({ keys: [randomBytes(32)], secure: false })), undefined);
  assert.equal(await sessionSeal(keys).open(sealed), undefined, 'nor as something else');
  const [header, encryptedKey, iv, ciphertext = '', tag] = sealed.split('.');
  const altered = (ciphertext.startsWith('A') ? 'B' : 'A') + ciphertext.slice(1);
  assert.equal(await opened([header, encryptedKey, iv, altered, tag].join('.')), undefined);
  assert.equal(await opened('nonsense'), undefined);
});

test('a transaction lives ten minutes (RFC 7519 section 4.1.4)', async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T00:00:00Z') });
  try {
    const sealed = await remembered();
    mock.timers.setTime(Date.parse('2026-11-21T00:09:59Z'));
    assert.deepEqual(await opened(sealed), transaction);
    mock.timers.setTime(Date.parse('2026-11-21T00:10:00Z'));
    assert.equal(await opened(sealed), undefined);
  } finally {
    mock.timers.reset();
  }
});

test('a JWT is taken apart, an opaque token is not (RFC 7519 section 3)', async () => {
  const jwt = await new SignJWT({ sub: 'usr_1' }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(keys[0]);
  assert.deepEqual(decodeToken(jwt), { header: { alg: 'HS256', typ: 'at+jwt' }, claims: { sub: 'usr_1' } });
  for (const opaque of ['0123456789abcdefghijklmnopqrstuvwxyz', 'a.b.c', 'short', '']) assert.equal(decodeToken(opaque), undefined);
});

test('one button needs no choice, and what makes no sense is left out (OpenID Connect Core section 3.1.2.1)', () => {
  assert.deepEqual(readChoices(new URLSearchParams({ server: 'orders', prompt: 'none' })), { ...DEFAULT_CHOICES, server: 'orders' });
  const form = new URLSearchParams(
    'server=../x&response_type=code+token&scope=openid&scope=email&other_scopes=orders+openid&max_age=-1&prompt=maybe',
  );
  assert.deepEqual(readChoices(form), { ...DEFAULT_CHOICES, response_type: 'code token', scope: 'openid email orders' });
});

test('moments and durations are told as people say them, a name of Object.prototype means nothing (RFC 7519 section 2)', () => {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T00:00:00Z') });
  try {
    const inAnHour = Date.parse('2026-11-21T01:00:00Z') / 1000;
    const [exp, lifetime, odd, strange] = explainExchange(
      [
        ['exp', inAnHour],
        ['max_age', '5400'],
        ['constructor', 1],
        ['iat', 1e300],
      ],
      CLAIMS,
      REQUEST,
    );
    const told = (time: Time | undefined, lang: string) => time && timeTexts(lang)(time);
    assert.equal(told(exp?.time, 'en'), '21 November 2026 at 01:00:00 UTC, in 1 hour');
    assert.equal(told(lifetime?.time, 'en'), '1.5 hours');
    assert.equal(told(exp?.time, 'de'), '21. November 2026 um 01:00:00 UTC, in 1 Stunde');
    assert.equal(told(lifetime?.time, 'es'), '1,5 horas');
    assert.deepEqual(odd, { name: 'constructor', value: '1' });
    assert.equal(strange?.time, undefined);
  } finally {
    mock.timers.reset();
  }
});
