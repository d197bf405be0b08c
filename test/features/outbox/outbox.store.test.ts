/** The outbox under many hands: each entry is taken by one, and by another only when the first was heard of no more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { claimDue, type OutboxEntry, postponeBlocked, postponeEntry, removeEntry } from '../../../src/features/outbox/outbox.store.ts';
import { type Executor, openDatabase } from '../../../src/platform/database/database.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';

const at = (seconds: number): Date => new Date(1_800_000_000_000 + seconds * 1000);

/** Rows of the table that this transaction has read, by an index or from end to end. */
const READ = `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'outbox'`;

/** A look as a sender makes it: what was behind another one is put off where there is room for more. */
async function take(...[executor, look]: Parameters<typeof claimDue>): ReturnType<typeof claimDue> {
  const taken = await claimDue(executor, look);
  if (taken.length < look.limit) await postponeBlocked(executor, look);
  return taken;
}

test('of twenty who ask at once each gets other entries, the longest due first, of the kinds it carries', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const entry = { ordering_key: 'x', payload: {}, created: at(0) };
  await database
    .knex('outbox')
    .insert(Array.from({ length: 200 }, (_, due) => ({ ...entry, ordering_key: `x${due}`, kind: 'known', due: at(due) })));
  await database.knex('outbox').insert({ ...entry, kind: 'unknown', due: at(0) });
  const claim = (now: number, limit: number) =>
    take(database.knex, { kinds: ['known', 'another'], now: at(now), until: at(now + 15), limit });

  assert.deepEqual(
    (await claim(4, 2)).map(({ seq }) => seq).sort((a, b) => a - b),
    [1, 2],
  );
  const taken = (await Promise.all(Array.from({ length: 20 }, () => claim(198, 9)))).flat();
  assert.equal(new Set(taken.map(({ seq }) => seq)).size, taken.length, 'none is taken twice');
  assert.equal(taken.length, 180);

  // One was not due yet; those that were taken are due again after a while.
  assert.equal((await claim(198, 50)).length, 19);
  assert.equal((await claim(212, 500)).length, 1, 'the one that was due last');
  const again = await claim(213, 500);
  assert.equal(again.length, 199);
  const [one, other] = again.filter(({ attempts }) => attempts === 2);
  assert.ok(one && other, 'attempts are counted when they begin');

  assert.deepEqual([await removeEntry(database.knex, one), await removeEntry(database.knex, one)], [{ isFollowed: false }, undefined]);
  await postponeEntry(database.knex, { ...other, attempts: 1 }, { due: at(0), error: 'late news of the first attempt', counts: true });
  assert.deepEqual(await claim(214, 500), []);
  await postponeEntry(database.knex, other, { due: at(214), error: 'news of the second', counts: true });
  assert.deepEqual(
    (await claim(214, 500)).map(({ seq }) => seq),
    [other.seq],
  );
});

test('one receiver has few at a time, and none while it is busy: it holds up nobody else', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const entry = { kind: 'known', payload: {}, created: at(0) };
  const waiting = Array.from({ length: 50 }, () => ({ ...entry, ordering_key: 'slow', due: at(0) }));
  await database.knex('outbox').insert([...waiting, { ...entry, ordering_key: 'quick', due: at(1) }]);
  const claim = async (busy: string[], limit = 20) =>
    (await take(database.knex, { kinds: ['known'], busy, now: at(2), until: at(20), limit })).map(({ orderingKey }) => orderingKey);
  assert.deepEqual((await claim([])).sort(), ['quick', 'slow', 'slow', 'slow']);
  assert.deepEqual(await claim(['slow']), []);
  assert.deepEqual(await claim([]), ['slow', 'slow', 'slow']);
  await database.knex('outbox').insert({ ...entry, ordering_key: 'quick', due: at(1) });
  assert.deepEqual((await claim([], 2)).sort(), ['quick', 'slow'], 'few places are shared');
});

test('what has an object is taken in the order in which it was written, one at a time, and holds up no other object', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const entry = { kind: 'known', ordering_key: 'receiver', payload: {}, created: at(0), due: at(0) };
  await database.knex('outbox').insert([
    { ...entry, object_key: 'a' }, // 1
    { ...entry, object_key: 'a' }, // 2
    { ...entry, object_key: 'b' }, // 3
    { ...entry, object_key: 'a', ordering_key: 'another' }, // 4
    { ...entry, object_key: 'a', kind: 'other' }, // 5
    { ...entry, object_key: 'a' }, // 6
    { ...entry, object_key: null }, // 7
  ]);
  const claim = (now: number) => take(database.knex, { kinds: ['known', 'other'], now: at(now), until: at(now + 15), limit: 20 });
  const taken = (await Promise.all(Array.from({ length: 20 }, () => claim(1)))).flat();
  assert.deepEqual(taken.map(({ seq }) => seq).sort(), [1, 3, 4, 5, 7]);
  const [first] = taken.filter(({ seq }) => seq === 1);
  assert.ok(first);

  // It failed: all of the object waits as long as it does or longer, and is not even looked at meanwhile.
  await database.knex('outbox').insert({ ...entry, object_key: 'a', due: at(2) });
  await postponeEntry(database.knex, first, { due: at(100), error: 'failed', counts: true });
  const dues = async () =>
    (await database.knex('outbox').where({ ordering_key: 'receiver', object_key: 'a', kind: 'known' }).orderBy('seq').select('due')).map(
      ({ due }) => due,
    );
  assert.ok((await dues()).every((due) => due >= at(100)));
  await database.knex('outbox').insert({ ...entry, object_key: 'a', due: at(2) });
  assert.deepEqual(
    (await claim(15)).map(({ seq }) => seq),
    [],
  );
  const again = (await claim(100)).filter(
    ({ objectKey, orderingKey, kind }) => objectKey === 'a' && orderingKey === 'receiver' && kind === 'known',
  );
  assert.deepEqual(
    again.map(({ seq }) => seq),
    [1],
  );

  // It was told: what is next is taken at once, and what comes after that waits for it in turn.
  assert.deepEqual(await removeEntry(database.knex, first), { isFollowed: true });
  for (const expected of [2, 6, 8]) {
    const mine = (await claim(101)).filter(
      ({ objectKey, orderingKey, kind }) => objectKey === 'a' && orderingKey === 'receiver' && kind === 'known',
    );
    assert.deepEqual(
      mine.map(({ seq }) => seq),
      [expected],
    );
    for (const one of mine) await removeEntry(database.knex, one);
  }
});

test('a hundred thousand that wait for one receiver delay nobody else', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  await database.knex.raw(
    `INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
      SELECT 'known', 'slow', 'object ' || n % 50000, '{}', :now, :now FROM generate_series(1, 100000) AS n`,
    { now: at(0) },
  );
  await database.knex.raw("INSERT INTO outbox (kind, ordering_key, payload, created, due) VALUES ('other', 'quick', '{}', :now, :now)", {
    now: at(5),
  });
  await database.knex.raw('ANALYZE outbox');
  const claim = (busy: string[]) => take(database.knex, { kinds: ['known', 'other'], busy, now: at(10), until: at(25), limit: 20 });
  await claim(['slow', 'quick']);
  assert.deepEqual((await claim([])).map(({ orderingKey }) => orderingKey).sort(), ['quick', 'slow', 'slow', 'slow']);
});

test('a hundred thousand of one object are passed by: they delay neither those of others nor, in their turn, each other', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const insert = (objects: string, count: number, due: number) =>
    database.knex.raw(
      `INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
        SELECT 'known', 'receiver', ${objects}, '{}', :due, :due FROM generate_series(1, ${count}) AS n`,
      { due: at(due) },
    );
  await insert("'hot'", 100_000, 0);
  await database.knex.raw('ANALYZE outbox');
  const claim = (now: number) => take(database.knex, { kinds: ['known'], now: at(now), until: at(now + 15), limit: 20 });
  await claim(0);
  for (let now = 1; now <= 5; now += 1) assert.deepEqual(await claim(now), []);

  const [head, ...others] = await claim(15);
  assert.deepEqual([head?.objectKey, head?.seq, others], ['hot', 1, []]);
  assert.ok(head);
  await removeEntry(database.knex, head);
  assert.deepEqual(
    (await claim(16)).map(({ seq }) => seq),
    [2],
    'its turn has come at once, although it was put off',
  );

  // Those that come later get their turn long before all of the hundred thousand had theirs.
  await database.knex('outbox').whereRaw('seq > 400').delete();
  await insert("'quiet'", 1, 17);
  const taken: (string | null)[] = [];
  for (let look = 0; look < 5; look += 1) taken.push(...(await claim(18)).map(({ objectKey }) => objectKey));
  assert.deepEqual(taken, ['quiet']);
});

test('what is put off while that before it goes is brought back at once', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const entry = { kind: 'known', ordering_key: 'receiver', object_key: 'a', payload: {}, created: at(0) };
  await database.knex('outbox').insert([
    { ...entry, due: at(15) },
    { ...entry, due: at(0) },
    { ...entry, due: at(0) },
  ]);
  // Whoever looks at the table is held up at the gate, once the statement's snapshot is taken; who removes the first looks by another name.
  await database.knex.raw(`CREATE FUNCTION gate() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
      IF current_setting('application_name') = 'held up' THEN PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); END IF;
      RETURN true;
    END $$`);
  await database.knex.raw('ALTER TABLE outbox RENAME TO entries');
  await database.knex.raw('CREATE VIEW outbox AS SELECT * FROM entries WHERE gate()');
  const gatekeeper = new pg.Client(connection);
  await gatekeeper.connect();
  afterwards(t, () => gatekeeper.end());
  await gatekeeper.query('SELECT pg_advisory_lock(1)');
  const heldUp = await openDatabase({ connection: { ...connection, application_name: 'held up' }, onError: () => {} });
  afterwards(t, () => heldUp.close());
  const putOff = postponeBlocked(heldUp.knex, { kinds: ['known'], now: at(1) });
  const waiting = "SELECT FROM pg_stat_activity WHERE application_name = 'held up' AND wait_event = 'advisory'";
  await eventually(async () => (await gatekeeper.query(waiting)).rowCount === 1, 'it is held up');
  assert.deepEqual(await removeEntry(database.knex, { seq: 1 } as OutboxEntry), { isFollowed: true });
  await gatekeeper.query('SELECT pg_advisory_unlock(1)');
  await putOff;
  assert.deepEqual(await database.knex('outbox').orderBy('seq').select('seq', 'due'), [
    { seq: 2, due: at(0) },
    { seq: 3, due: at(301) },
  ]);
});

test('a look reads few rows of a thousand that come at once, however often it was made before while there was one', async (t) => {
  const { connection, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const insert = (trx: Executor, count: number, due: number) =>
    trx.raw(
      `INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
        SELECT 'known', 'receiver', 'object ' || n % 300, '{}', :due, :due FROM generate_series(1, ${count}) AS n`,
      { due: at(due) },
    );
  await insert(database.knex, 1, 1_000_000);
  await database.knex.raw('VACUUM ANALYZE outbox');
  // One connection throughout, for a plan is kept by each.
  await database.transaction(async (trx) => {
    const look = (now: number) => take(trx, { kinds: ['known'], now: at(now), until: at(now + 15), limit: 20 });
    for (let now = 0; now < 30; now += 1) {
      await insert(trx, 1, now);
      assert.deepEqual(await look(now), [], 'it waits behind the first, and is put off');
    }
    await insert(trx, 1000, 0);
    const { rows: before } = await trx.raw<{ rows: { read: number }[] }>(READ);
    assert.equal((await look(30)).length, 3);
    const { rows: after } = await trx.raw<{ rows: { read: number }[] }>(READ);
    const read = Number(after[0]?.read) - Number(before[0]?.read);
    // Each compared with each would be a million, and more.
    assert.ok(read < 100_000, `${read} rows`);
  });
});
