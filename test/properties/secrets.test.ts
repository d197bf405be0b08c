/** Properties of what is sealed and hashed (src/platform/crypto/secrets.ts, src/platform/crypto/sealed.ts): it opens to itself, in its place alone, and altered not at all. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { sealing } from '../../src/platform/crypto/sealed.ts';
import { digest, Keyring, newId, randomBase62, sameSecret } from '../../src/platform/crypto/secrets.ts';
import { moveClock } from '../support/clock.ts';
import { anyText, tried } from './checking.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
/** Different ones, the newest first. */
const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 4, selector: (one) => one.toString('hex') });
/** Text as UTF-8 can hold it. */
const wellFormed = fc.string({ unit: 'binary' });
const closed = { message: /cannot be decrypted|unable to authenticate|Invalid|authentication tag/i };

test('what a keyring seals it opens, after keys were added before its own too, and only where it belongs (SECRET_KEY rotation)', () => {
  fc.assert(
    fc.property(keys, keys, wellFormed, wellFormed, wellFormed, (own, newer, plain, place, elsewhere) => {
      const sealed = new Keyring(own).seal(plain, place);
      const added = newer.filter((one) => !own.some((known) => known.equals(one)));
      assert.equal(new Keyring([...added, ...own]).open(sealed, place), plain);
      if (elsewhere !== place) assert.throws(() => new Keyring(own).open(sealed, elsewhere), closed);
      // What it sealed is of its newest key alone.
      const without = [...added, ...own.slice(1)];
      if (without.length > 0) assert.throws(() => new Keyring(without).open(sealed, place), closed);
    }),
    tried(),
  );
});

test('a sealed value of which a bit was turned, or a piece was taken or added, does not open (NIST SP 800-38D)', () => {
  fc.assert(
    fc.property(keys, wellFormed, fc.nat(), fc.nat({ max: 7 }), fc.nat(), (own, plain, at, bit, length) => {
      const ring = new Keyring(own);
      const sealed = ring.seal(plain, 'here');
      const [version, id, data = ''] = sealed.split('.');
      const bytes = Buffer.from(data, 'base64url');
      const turned = Buffer.from(bytes);
      turned[at % bytes.length] = (turned[at % bytes.length] ?? 0) ^ (1 << bit);
      const others = [turned, bytes.subarray(0, length % bytes.length), Buffer.concat([bytes, Buffer.from([bit])])];
      for (const other of others) assert.throws(() => ring.open(`${version}.${id}.${other.toString('base64url')}`, 'here'), closed);
      assert.notEqual(ring.seal(plain, 'here'), sealed, 'no nonce twice');
    }),
    tried(),
  );
});

test('whatever is no sealed value is refused by an error, never opened', () => {
  fc.assert(
    fc.property(keys, anyText, (own, text) => {
      const ring = new Keyring(own);
      const [, id] = ring.seal('', '').split('.');
      for (const value of [text, `v1.${id}.${text}`, `v1.${text}`, `v1.${id}`]) assert.throws(() => ring.open(value, ''), closed);
    }),
    tried(),
  );
});

test('keys derived for one purpose are the same each time and no other one’s (RFC 5869)', () => {
  fc.assert(
    fc.property(keys, wellFormed, wellFormed, (own, one, other) => {
      const ring = new Keyring(own);
      const [newest] = ring.keysOf(one);
      assert.deepEqual(ring.keysOf(one), new Keyring(own).keysOf(one));
      assert.deepEqual([...ring.keysFor(one).values()][0], newest);
      assert.equal(newest.equals(ring.keysOf(other)[0]), one === other);
      assert.equal(new Set([...ring.cookieKeys]).size, own.length);
    }),
    tried(),
  );
});

test('a cookie’s content comes back in its time, of its kind and under its key, and altered not at all (RFC 7516)', async (t) => {
  moveClock(t, 0);
  const content = z.strictObject({ text: z.string(), number: z.int() });
  const given = fc.record({ text: wellFormed, number: fc.integer() }, { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(key, given, fc.integer({ min: 1, max: 10_000 }), fc.nat(), async (bytes, value, seconds, at) => {
      const seal = sealing({ kind: 'one', schema: content, keys: [bytes], seconds });
      const sealed = await seal.seal(value);
      assert.deepEqual(await seal.open(sealed), value);
      assert.equal(await sealing({ kind: 'other', schema: content, keys: [bytes], seconds }).open(sealed), undefined);
      const otherKey = Buffer.from(bytes.map((byte) => byte ^ 1));
      assert.equal(await sealing({ kind: 'one', schema: content, keys: [otherKey], seconds }).open(sealed), undefined);
      assert.deepEqual(await sealing({ kind: 'one', schema: content, keys: [otherKey, bytes], seconds }).open(sealed), value);
      // The last character of a part may hold bits that mean nothing.
      const parts = sealed.split('.');
      const inside = parts
        .map((part) => part.length - 1)
        .flatMap((end, part) => Array.from({ length: Math.max(0, end) }, (_, n) => [part, n] as const));
      const [part = 0, n = 0] = inside[at % inside.length] ?? [];
      const old = parts[part] ?? '';
      parts[part] = `${old.slice(0, n)}${old[n] === 'A' ? 'B' : 'A'}${old.slice(n + 1)}`;
      assert.equal(await seal.open(parts.join('.')), undefined);
      moveClock(t, seconds);
      assert.equal(await seal.open(sealed), undefined, 'its time is over');
    }),
    tried(100),
  );
});

test('anything at all opens to nothing', async () => {
  const seal = sealing({ kind: 'one', schema: z.object({}), keys: [Buffer.alloc(32)], seconds: 60 });
  const text = fc.oneof(
    anyText,
    fc.array(fc.base64String(), { maxLength: 6 }).map((parts) => parts.join('.')),
  );
  await fc.assert(
    fc.asyncProperty(text, async (value) => assert.equal(await seal.open(value), undefined)),
    tried(),
  );
});

test('digests and comparisons of secrets', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (one, other) => {
      assert.equal(sameSecret(one, other), one === other);
      assert.equal(sameSecret(one, `${one}`), true);
      assert.equal(digest(one), createHash('sha256').update(one).digest('base64url'));
    }),
    tried(),
  );
});

test('ids have the length and the letters that they are to have', () => {
  fc.assert(
    fc.property(fc.nat({ max: 300 }), (length) => assert.match(randomBase62(length), new RegExp(`^[0-9A-Za-z]{${length}}$`))),
    tried(),
  );
  assert.match(newId('org'), /^org_[0-9A-Za-z]{20}$/);
});
