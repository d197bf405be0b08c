/** Properties of how people sign in: wrong passwords and locks, poor passwords, hashes of other services, codes, addresses of mail (policies, src/services). */
import assert from 'node:assert/strict';
import { createHash, pbkdf2Sync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Secret, TOTP } from 'otpauth';
import { isMailable, languageOf } from '../../src/features/mail/mail.policy.ts';
import { verifyImportedHash } from '../../src/features/passwords/imported-passwords.service.ts';
import { foldPassword, isTooOld, MOST_CHARACTERS, passwordProblem } from '../../src/features/passwords/password.policy.ts';
import { encodeImportedHash, type ImportedHash, importedHash } from '../../src/features/passwords/password-hashes.service.ts';
import { newTotpSecret, stepOfCode, totpUri } from '../../src/features/second-factors/one-time-codes.service.ts';
import { decideAttempt, type FailedAttempts, isLocked, NO_FAILURES } from '../../src/features/sign-in/lockout.policy.ts';
import { userProfile } from '../../src/features/users/user-profile.service.ts';
import { isSameAddress } from '../../src/platform/dns/address-spelling.ts';
import { anyText, endless, of, tried } from './checking.ts';

test('a lock comes with each tenth wrong password in a row, lasts a minute and then twice as long up to an hour, and nothing counts during it', () => {
  const attempt = of({ right: fc.boolean(), seconds: fc.constantFrom(0, 1, 59, 60, 61, 119, 3600, 100_000) });
  // Rarely right, so that locks come about.
  const attempts = fc.array(fc.oneof({ weight: 30, arbitrary: attempt.map((one) => ({ ...one, right: false })) }, attempt), {
    maxLength: 150,
    size: 'max',
  });
  fc.assert(
    fc.property(attempts, (tries) => {
      let known: FailedAttempts = NO_FAILURES;
      let now = 0;
      let [wrong, locks, until] = [0, 0, 0];
      for (const { right, seconds } of tries) {
        now += seconds;
        const { admitted, remembered } = decideAttempt(known, right, new Date(now * 1000));
        if (now < until) assert.deepEqual([admitted, remembered], [false, known]);
        else if (right) [wrong, locks, until] = [0, 0, 0];
        else {
          wrong += 1;
          if (wrong % 10 === 0) {
            until = now + Math.min(3600, 60 * 2 ** locks);
            locks += 1;
          }
        }
        known = remembered;
        assert.equal(admitted, right && now >= until);
        assert.equal(isLocked(known, new Date(now * 1000)), now < until);
      }
    }),
    tried(),
  );
});

const name = fc.oneof(fc.constantFrom('ada', 'ada.lovelace@example.com', 'Jo', 'Gatehouse', 'Ödön'), anyText);

test('a password is judged whatever it is, and not differently by how it is composed or by the order of names', () => {
  const common = new Set(['password', 'letmein', 'ünlü']);
  fc.assert(
    fc.property(
      anyText,
      fc.array(name, { maxLength: 4 }),
      fc.array(name, { maxLength: 2 }),
      fc.integer({ min: 1, max: 20 }),
      (password, ofUser, ofService, minLength) => {
        const judge = (text: string, users = ofUser) =>
          passwordProblem({ minLength }, text, { userNames: users, serviceNames: ofService, isCommon: (one) => common.has(one) });
        assert.equal(judge(password.normalize('NFD')), judge(password.normalize('NFC')));
        assert.equal(judge(password, ofUser.toReversed()), judge(password));
        const problem = judge(password);
        const length = [...password.normalize('NFC')].length;
        assert.equal(problem === 'too-short', length < minLength);
        // Whoever is asked for less, or has fewer names, is not refused by it.
        const easier = passwordProblem({ minLength: 1 }, password, { userNames: [], serviceNames: [], isCommon: () => false });
        if (problem === undefined) assert.ok(easier === undefined || length > MOST_CHARACTERS);
        assert.equal(foldPassword(foldPassword(password)), foldPassword(password));
      },
    ),
    tried(500),
  );
});

test('a password is too old from its day on, and never where there is no such day', () => {
  const moment = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(moment, fc.integer({ min: 1, max: 3650 }), fc.nat({ max: 1_000_000_000 }), (changed, maxAgeDays, later) => {
      const end = changed.getTime() + maxAgeDays * 86_400_000;
      assert.equal(isTooOld({ maxAgeDays }, changed, new Date(end - 1 - later)), false);
      assert.equal(isTooOld({ maxAgeDays }, changed, new Date(end + later)), true);
      assert.equal(isTooOld({ maxAgeDays: null }, changed, new Date(end + later)), false);
    }),
    tried(),
  );
});

const base64 = (min: number, max: number) => fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => Buffer.from(bytes));

/** A password, and what another service would have stored of it. */
const hashed: fc.Arbitrary<{ password: string; hash: ImportedHash }> = fc.oneof(
  fc
    .tuple(
      fc.string({ unit: 'binary' }),
      base64(1, 64),
      fc.constantFrom('SHA-256' as const, 'SHA-512' as const),
      fc.constantFrom('PREFIX' as const, 'POSTFIX' as const),
    )
    .map(([password, salt, algorithm, saltOrder]) => {
      const parts = saltOrder === 'PREFIX' ? [salt, Buffer.from(password)] : [Buffer.from(password), salt];
      const value = createHash(algorithm.replace('-', '')).update(Buffer.concat(parts)).digest('base64');
      return { password, hash: { algorithm, salt: salt.toString('base64'), saltOrder, value } };
    }),
  fc
    .tuple(
      fc.string({ unit: 'binary' }),
      base64(1, 64),
      fc.constantFrom('sha256' as const, 'sha512' as const),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 16, max: 64 }),
    )
    .map(([password, salt, digest, iterationCount, size]) => ({
      password,
      salt,
      digest,
      iterationCount,
      keySize: digest === 'sha256' ? Math.min(size, 32) : size,
    }))
    .map(({ password, salt, digest, iterationCount, keySize }) => ({
      password,
      hash: {
        ...{ algorithm: 'PBKDF2' as const, digestAlgorithm: digest === 'sha256' ? ('SHA256_HMAC' as const) : ('SHA512_HMAC' as const) },
        ...{ iterationCount, keySize, salt: salt.toString('base64') },
        value: pbkdf2Sync(password, salt, iterationCount, keySize, digest).toString('base64'),
      },
    })),
);

test('a password that another service hashed is right, and no other one is, by the stored form of its hash', async () => {
  await fc.assert(
    fc.asyncProperty(hashed, fc.string({ unit: 'binary' }), async ({ password, hash }, other) => {
      const read = importedHash.parse(hash);
      assert.deepEqual(read, hash);
      const stored = encodeImportedHash(read);
      assert.equal(await verifyImportedHash(stored, password), true);
      // HMAC fills its key up with zero bytes (RFC 2104 section 2), so PBKDF2 does not tell trailing ones apart.
      const asKey = (text: string) => text.normalize('NFC').replace(/\0+$/, '');
      if (asKey(other) !== asKey(password)) assert.equal(await verifyImportedHash(stored, other), false);
    }),
    tried(),
  );
});

test('whatever is said to be a hash is taken, and then can be compared with, or refused', async () => {
  const digit = fc.oneof(fc.integer(), fc.double(), anyText);
  const text = fc.oneof(
    anyText,
    fc.base64String(),
    base64(0, 70).map((bytes) => bytes.toString('base64')),
  );
  const claimed = fc.oneof(
    of({
      algorithm: fc.constantFrom('SHA-256', 'SHA-512', 'MD5', 'SHA-1'),
      salt: text,
      saltOrder: fc.constantFrom('PREFIX', 'POSTFIX', ''),
      value: text,
    }),
    of({
      algorithm: fc.constant('PBKDF2'),
      digestAlgorithm: fc.constantFrom('SHA256_HMAC', 'SHA1_HMAC', 'MD5_HMAC'),
      iterationCount: digit,
      keySize: digit,
      salt: text,
      value: text,
    }),
    of({
      algorithm: fc.constant('BCRYPT'),
      workFactor: fc.constantFrom(4, 5, 3, 99),
      salt: fc.stringMatching(/^[./A-Za-z0-9]{22}$/),
      value: fc.stringMatching(/^[./A-Za-z0-9]{31}$/),
    }),
    of({
      algorithm: fc.constant('ARGON2'),
      variant: fc.constantFrom('id', 'i', 'd', 'x'),
      memory: fc.integer({ min: 0, max: 300 }),
      iterations: fc.integer({ min: 0, max: 3 }),
      parallelism: fc.integer({ min: 0, max: 20 }),
      salt: text,
      value: text,
    }),
    of({
      algorithm: fc.constantFrom('SCRYPT'),
      cost: fc.constantFrom(0, 1, 2, 16, 17, 2 ** 30),
      blockSize: fc.integer({ min: 0, max: 40 }),
      parallelism: fc.integer({ min: 0, max: 20 }),
      salt: text,
      value: text,
    }),
    fc.anything(),
  );
  await fc.assert(
    fc.asyncProperty(claimed, async (hash) => {
      const read = importedHash.safeParse(hash);
      if (!read.success) return;
      if (read.data.algorithm === 'PBKDF2' && read.data.iterationCount > 1000) return;
      assert.equal(typeof (await verifyImportedHash(encodeImportedHash(read.data), 'a password')), 'boolean');
    }),
    tried(300),
  );
});

test('a code of an authenticator app is that of its time step, and of the one before and after it (RFC 6238 section 5.2)', () => {
  const secret = newTotpSecret();
  const codeAt = (step: number) =>
    new TOTP({ algorithm: 'SHA1', digits: 6, period: 30, secret: Secret.fromBase32(secret) }).generate({ timestamp: step * 30_000 });
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 100_000_000 }),
      fc.integer({ min: -4, max: 4 }),
      fc.nat({ max: 29_999 }),
      (step, ahead, within) => {
        const code = codeAt(step + ahead);
        const near = [-1, 0, 1].filter((one) => codeAt(step + one) === code).map((one) => step + one);
        const found = stepOfCode(secret, `${code.slice(0, 3)} ${code.slice(3)}`, new Date(step * 30_000 + within));
        assert.ok(near.length === 0 ? found === undefined : found !== undefined && near.includes(found));
      },
    ),
    tried(),
  );
  fc.assert(
    fc.property(anyText, (text) => assert.ok(stepOfCode(secret, text, new Date(0)) === undefined || /^(\s*\d){6}\s*$/.test(text))),
    tried(),
  );
});

test('what an app reads from the picture is the secret, whatever the names are', () => {
  const secret = newTotpSecret();
  const printable = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(printable, printable, (issuer, login) => {
      const uri = totpUri(secret, { issuer, login });
      const { protocol, host, searchParams } = new URL(uri);
      assert.deepEqual([protocol, host, searchParams.get('secret')], ['otpauth:', 'totp', secret]);
    }),
    tried(),
  );
});

test('an address that mail is sent to is one address: no list, no second header, no longer than SMTP takes (RFC 5321 section 4.5.3.1)', () => {
  const long = fc
    .tuple(fc.integer({ min: 60, max: 70 }), fc.integer({ min: 1, max: 200 }), fc.constantFrom('a', 'é'))
    .map(([local, domain, letter]) => `${letter.repeat(local)}@${'b.'.repeat(domain)}example`);
  const near = fc.tuple(anyText, fc.constantFrom('@', '@@', ''), anyText).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), near, long, endless), (address) => {
      const is = isMailable(address);
      const [local = '', domain = '', ...more] = address.split('@');
      if (is) {
        assert.ok(more.length === 0 && local !== '' && domain !== '');
        assert.ok(!/[\s,;<>"()[\]\\:\p{C}]/u.test(address));
        assert.ok(Buffer.byteLength(address) <= 254 && Buffer.byteLength(local) <= 64);
      }
    }),
    tried(500),
  );
  // An encoded word in the local part; dots and letters that mail servers map to others; a number that is an address.
  for (const address of ['=?utf-8?q?x?=@corp.example', 'a@evil\u3002example', 'a@\uff45vil.example', 'a@xn--.example', 'a@127.1'])
    assert.ok(!isMailable(address), address);
  for (const address of [
    'a@b\u00fccher.example',
    'a@xn--bcher-kva.example',
    'A@Example.ORG',
    'a@fa\u00df.example',
    'a=b?@example.org',
    'a@localhost',
  ])
    assert.ok(isMailable(address), address);
  fc.assert(
    fc.property(fc.emailAddress(), (address) => assert.ok(isMailable(address), address)),
    tried(),
  );
});

test('addresses are the same but for capitals of ASCII: an equivalence, and no other letter becomes one of ASCII', () => {
  const address = fc.mixedCase(fc.constantFrom('kim@example.com', '\u212aim@example.com', 'k\u0131m@example.com', 'kim@example.co'));
  fc.assert(
    fc.property(address, address, address, anyText, (one, other, third, text) => {
      assert.ok(isSameAddress(one, one) && isSameAddress(text, text) && !isSameAddress(null, text));
      assert.equal(isSameAddress(one, other), isSameAddress(other, one));
      if (isSameAddress(one, other) && isSameAddress(other, third)) assert.ok(isSameAddress(one, third));
      const ascii = (value: string) => [...value].filter((letter) => letter <= '\x7f').length;
      if (isSameAddress(one, other)) assert.deepEqual([one.length, ascii(one)], [other.length, ascii(other)]);
    }),
    tried(),
  );
});

test('a profile that was read is read again as it is', () => {
  const value = fc.oneof(
    fc.constantFrom(' Ada ', '\u00a0x', '', 'a@b.example'),
    anyText,
    endless.map((text) => text.slice(0, 300)),
  );
  fc.assert(
    fc.property(value, value, value, (login, email, firstName) => {
      const read = userProfile.safeParse({ login, email, firstName });
      if (!read.success) return;
      assert.deepEqual(userProfile.parse(read.data), read.data);
      assert.equal(read.data.login, login.normalize('NFC').trim());
      assert.ok(read.data.login !== '' && !/[\p{Cc}\p{Cs}]/u.test(read.data.login));
    }),
    tried(500),
  );
});

test('languages of a letter are those of the profile first, in the form of BCP 47', () => {
  const tag = fc.option(fc.constantFrom('de_AT', 'en', '', 'zh-Hans'), { nil: undefined });
  fc.assert(
    fc.property(tag, tag, tag, (preferredLanguage, locale, page) => {
      const profile = Object.fromEntries(
        Object.entries({ preferredLanguage, locale }).filter(([, value]) => value !== undefined),
      ) as Record<string, string>;
      const expected = [preferredLanguage, locale, page].filter(Boolean).join(' ').replaceAll('_', '-');
      assert.equal(languageOf(profile, page) ?? '', expected);
    }),
    tried(100),
  );
});
