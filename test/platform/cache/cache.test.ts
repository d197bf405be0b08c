/** What a process keeps of something that seldom changes ("A change made in one process reaches the others within a second"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CachedValue } from '../../../src/platform/cache/cache.ts';
import { withProductionTimings, withTimings } from '../../support/short-waits.ts';

/** Something to read whose answers are given by hand. */
function source() {
  const asked: { answer(value: string): void; fail(error: Error): void }[] = [];
  const read = () => new Promise<string>((answer, fail) => asked.push({ answer, fail }));
  return { asked, read };
}

test('it is read once for all who ask, and anew after a change', async () => {
  const { asked, read } = source();
  const known = new CachedValue(read);
  const both = [known.current(), known.current()];
  asked[0]?.answer('before');
  assert.deepEqual(await Promise.all(both), ['before', 'before']);
  assert.equal(await known.current(), 'before');
  assert.equal(asked.length, 1);
  known.forget();
  const after = known.current();
  asked[1]?.answer('after');
  assert.equal(await after, 'after');
});

test('what was read before a change and comes after it is not kept, nor is it the answer to who asks after the change', async () => {
  const { asked, read } = source();
  const known = new CachedValue(read);
  const before = known.current();
  known.forget();
  const after = known.current();
  asked[1]?.answer('after');
  assert.equal(await after, 'after');
  asked[0]?.answer('before');
  assert.equal(await before, 'before');
  assert.equal(await known.current(), 'after');
});

test('what cannot be read is nobody’s default, but where something may hold meanwhile', async () => {
  const { asked, read } = source();
  const strict = new CachedValue(read);
  const refused = strict.current();
  asked[0]?.fail(new Error('away'));
  await assert.rejects(refused, /away/);
  const again = strict.current();
  asked[1]?.answer('back');
  assert.equal(await again, 'back');

  const lenient = new CachedValue(read, 'meanwhile');
  const first = lenient.current();
  asked[2]?.fail(new Error('away'));
  assert.equal(await first, 'meanwhile');
  assert.equal(await lenient.current(), 'meanwhile');
  assert.equal(asked.length, 3, 'not asked each time');
});

test('a change that nobody was told of counts after a few seconds', async (t) => {
  withProductionTimings(t, 'cache');
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  let value = 'before';
  const known = new CachedValue(async () => value);
  assert.equal(await known.current(), 'before');
  value = 'after';
  now += 2900;
  assert.equal(await known.current(), 'before', 'not asked each time');
  now += 100;
  assert.equal(await known.current(), 'after', 'it is read anew');
});

test('what hangs is not waited for where something may hold meanwhile: first that, then what was known last', async (t) => {
  withTimings(t, { optional: 20 });
  const { asked, read } = source();
  const known = new CachedValue(read, 'meanwhile');
  assert.equal(await known.current(), 'meanwhile', 'though nothing was answered');
  const late = known.current();
  asked[0]?.answer('at last');
  assert.equal(await late, 'at last');
  known.forget();
  assert.equal(await known.current(), 'at last');
  assert.equal(asked.length, 2);
});
