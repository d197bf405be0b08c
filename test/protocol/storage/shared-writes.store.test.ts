/** Statements that requests share (design: one read and one write a request): fewer of them, and each request answered as if it had been alone. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { batch } from '../../../src/platform/database/batch.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { isUnavailable } from '../../../src/platform/database/database-failures.ts';
import { findModel, type StoredModel } from '../../../src/protocol/storage/protocol-state.store.ts';
import { AlreadyUsed, type WriteSet, write } from '../../../src/protocol/storage/protocol-writes.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { withProductionTimings } from '../../support/short-waits.ts';

const NOW = 2_000_000_000;
const NOTHING: WriteSet = {
  inserts: [],
  sessions: [],
  uses: [],
  extensions: [],
  answers: [],
  deletes: [],
  notes: [],
  sessionClients: [],
  events: [],
  bySession: false,
};

const row = (id: string, accountId?: string, payload: StoredModel['payload'] = {}): StoredModel => ({
  model: 'RefreshToken',
  id,
  serverKey: 1,
  payload: { kind: 'RefreshToken', ...payload },
  accountId,
  clientId: 'app',
  grantId: `grant of ${id}`,
  uid: undefined,
  expiresAt: NOW + 60,
});
const use = (id: string, leeway = 0) => ({ model: 'RefreshToken' as const, id, serverKey: 1, leeway });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A database, what asks for a row in it, what tells the statements that it was sent since the last call, and a connection of somebody else's. */
async function opened(t: TestContext) {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const counted = await countingProxy(t, own);
  const database: Database = await openDatabase({ connection: counted.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const { pool } = database;
  const [other, watcher] = [new pg.Client(own.connection), new pg.Client(own.connection)];
  for (const client of [other, watcher]) {
    client.on('error', () => {});
    await client.connect();
    afterwards(t, () => client.end());
  }
  return {
    pool,
    other,
    cut: counted.cut,
    /** Waits until so many statements wait for a lock. */
    async waiting(count: number) {
      const held = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      for (;;) {
        if ((await watcher.query(held)).rowCount === count) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    taken: () => counted.taken().filter((text) => text.includes('oidc_payload')),
    find: (id: string) => findModel(pool, id, 1, NOW),
  };
}

test('rows of many requests are written, and looked up, by fewer statements', async (t) => {
  const { pool, taken, find } = await opened(t);
  await Promise.all(numbers(40).map((n) => write(pool, { ...NOTHING, inserts: [row(`row ${n}`, undefined, { n })] }, NOW)));
  assert.ok(taken().length < 10);
  const found = await Promise.all(numbers(40).map((n) => find(`row ${n}`)));
  assert.deepEqual(
    found.map((one) => one?.payload.n),
    numbers(40),
  );
  assert.ok(taken().length < 10);
  assert.deepEqual(await Promise.all([find('row 3'), find('none'), find('row 3')]).then((all) => all.map((one) => one?.payload.n)), [
    3,
    undefined,
    3,
  ]);
});

test('of uses that travel together each succeeds or fails by itself, and its rows with it', async (t) => {
  const { pool, taken, find } = await opened(t);
  await write(pool, { ...NOTHING, inserts: numbers(12).map((n) => row(`token ${n}`, `user ${n}`)) }, NOW);
  await Promise.all(
    [3, 7].map((n) => write(pool, { ...NOTHING, inserts: [row(`first ${n}`, `user ${n}`)], uses: [use(`token ${n}`)] }, NOW)),
  );
  taken();
  const rotate = (n: number) => write(pool, { ...NOTHING, inserts: [row(`next ${n}`, `user ${n}`)], uses: [use(`token ${n}`)] }, NOW);
  const outcomes = await Promise.allSettled(numbers(12).map(rotate));
  assert.ok(taken().length < 6);
  for (const [n, outcome] of outcomes.entries()) {
    const isUsed = n === 3 || n === 7;
    assert.equal(outcome.status, isUsed ? 'rejected' : 'fulfilled', `token ${n}`);
    if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof AlreadyUsed);
    assert.equal((await find(`next ${n}`)) === undefined, isUsed, `the successor of token ${n}`);
  }
});

test('of twenty uses of one value at once one succeeds; within its leeway all do, and one successor is left (RFC 9700 section 4.14.2)', async (t) => {
  const { pool, find } = await opened(t);
  await write(pool, { ...NOTHING, inserts: [row('once', 'user'), row('leeway', 'user')] }, NOW);
  const successor = (of: string, id: string): StoredModel => ({ ...row(id, 'user', { predecessor: of }), grantId: `grant of ${of}` });
  const rotate = (of: string, id: string, leeway: number, now = NOW) =>
    write(pool, { ...NOTHING, inserts: [successor(of, id)], uses: [use(of, leeway)] }, now);
  const succeeding = async (id: string, leeway: number) => {
    const all = await Promise.allSettled(numbers(20).map((n) => rotate(id, `${id} ${n}`, leeway)));
    const successors = await Promise.all(numbers(20).map((n) => find(`${id} ${n}`)));
    return {
      succeeded: all.filter(({ status }) => status === 'fulfilled').length,
      left: successors.filter((found) => found !== undefined && found.consumedAt === undefined).length,
    };
  };
  assert.deepEqual(await succeeding('once', 0), { succeeded: 1, left: 1 });
  assert.deepEqual(await succeeding('leeway', 30), { succeeded: 20, left: 1 });

  // The successor and its predecessor at once: one of them goes on, never both.
  for (const n of numbers(20)) {
    const [token, first, again, next] = [`token ${n}`, `first ${n}`, `again ${n}`, `next ${n}`];
    await write(pool, { ...NOTHING, inserts: [row(token, 'user')] }, NOW);
    await rotate(token, first, 30);
    const both = await Promise.allSettled([rotate(token, again, 30, NOW + 1), rotate(first, next, 0, NOW + 1)]);
    assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1, String(n));
  }
});

test('uses that travel together wait for no row that somebody removes with many others, in whatever order he does', async (t) => {
  const { pool, other, waiting } = await opened(t);
  await write(pool, { ...NOTHING, inserts: numbers(6).map((n) => row(`token ${n}`, `user ${n}`)) }, NOW);
  await other.query('BEGIN');
  // Of two who wait for each other PostgreSQL ends the one that looks first.
  await other.query("SET LOCAL deadlock_timeout = '50ms'");
  await other.query("SELECT FROM oidc_payload WHERE id = 'token 3' FOR UPDATE");
  const rotate = (n: number) => write(pool, { ...NOTHING, inserts: [row(`next ${n}`, `user ${n}`)], uses: [use(`token ${n}`)] }, NOW);
  const outcomes = Promise.allSettled(numbers(6).map(rotate));
  await waiting(1);
  await other.query("DELETE FROM oidc_payload WHERE client_id = 'app'");
  await other.query('COMMIT');
  assert.deepEqual(
    (await outcomes).map(({ status }) => status === 'fulfilled'),
    numbers(6).map((n) => n !== 3),
  );
});

test('rows that somebody holds for long hold up none but who wants them', async (t) => {
  const { pool, other, waiting, find } = await opened(t);
  await write(pool, { ...NOTHING, inserts: numbers(7).map((n) => row(`token ${n}`, `user ${n}`)) }, NOW);
  await other.query('BEGIN');
  await other.query("SELECT FROM oidc_payload WHERE id <> 'token 6' FOR UPDATE");
  const rotate = (n: number) => write(pool, { ...NOTHING, inserts: [row(`next ${n}`, `user ${n}`)], uses: [use(`token ${n}`)] }, NOW);
  const held: Promise<void>[] = [];
  for (const n of numbers(4)) {
    held.push(rotate(n));
    await waiting(n + 1);
  }
  held.push(rotate(4), rotate(5));
  await Promise.all([rotate(6), write(pool, { ...NOTHING, inserts: [row('new')] }, NOW)]);
  assert.ok((await find('new')) && (await find('next 6')));
  await other.query('COMMIT');
  await Promise.all(held);
});

test('look-ups whose connection broke are asked again, once', async (t) => {
  const { pool, other, waiting, taken, find, cut } = await opened(t);
  await write(pool, { ...NOTHING, inserts: numbers(40).map((n) => row(`row ${n}`)) }, NOW);
  taken();
  await other.query('BEGIN');
  await other.query('LOCK TABLE oidc_payload IN ACCESS EXCLUSIVE MODE');
  const found = Promise.all(numbers(40).map((n) => find(`row ${n}`)));
  await waiting(1);
  cut();
  await other.query('COMMIT');
  assert.ok((await found).every((one) => one !== undefined));
  assert.ok(taken().length <= 2);

  await other.query('BEGIN');
  await other.query('LOCK TABLE oidc_payload IN ACCESS EXCLUSIVE MODE');
  const lost = assert.rejects(find('row 1'), (error) => isUnavailable(error));
  // PostgreSQL notices only later that nobody waits for its answer any more.
  for (const asked of [1, 2]) {
    await waiting(asked);
    cut();
  }
  await lost;
});

test('a row that PostgreSQL refuses fails alone', async (t) => {
  const { pool, find } = await opened(t);
  const rows = numbers(8).map((n) => row(`row ${n}`, undefined, { text: n === 5 ? 'a\u0000character that no jsonb holds' : 'fine' }));
  const outcomes = await Promise.allSettled(rows.map((one) => write(pool, { ...NOTHING, inserts: [one] }, NOW)));
  assert.deepEqual(
    outcomes.map(({ status }) => status === 'fulfilled'),
    numbers(8).map((n) => n !== 5),
  );
  assert.equal(await find('row 5'), undefined);
  assert.ok(await find('row 4'));
});

test('where the database is away nothing is asked a second time', async () => {
  let statements = 0;
  const ask = batch(async (_pool, questions: readonly number[]): Promise<number[]> => {
    statements += 1;
    throw new Error(`Connection terminated after ${questions.length} questions`);
  }, 100);
  const pool = new pg.Pool();
  const outcomes = await Promise.allSettled(numbers(5).map((n) => ask(pool, n)));
  assert.deepEqual([statements, outcomes.filter(({ status }) => status === 'rejected').length], [1, 5]);
});

test('where no statement is answered, what waits for its turn is told so', async (t) => {
  withProductionTimings(t, 'databaseTurn');
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  let statements = 0;
  const ends: (() => void)[] = [];
  const ask = batch(async (_pool, questions: readonly number[]): Promise<readonly number[]> => {
    statements += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    return questions;
  }, 100);
  const pool = new pg.Pool();
  const answers: Promise<number>[] = [];
  // Each that is held up is passed by another, up to four.
  for (let held = 1; held <= 4; held += 1) {
    answers.push(ask(pool, held));
    while (statements < held) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const early = ask(pool, 5);
  const refused = assert.rejects(early, (error) => isUnavailable(error));
  now += 4000;
  const later = ask(pool, 6);
  now += 2000;
  const last = ask(pool, 7);
  await refused;
  for (const end of ends.splice(0)) end();
  assert.deepEqual(await Promise.all(answers), [1, 2, 3, 4]);
  while (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const end of ends.splice(0)) end();
  assert.deepEqual(await Promise.all([later, last]), [6, 7]);
});

test('after a statement that was cancelled, one that waits for a lock holds up none of the others', async () => {
  let release = (): void => {};
  const locked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ask = batch(async (_pool, questions: readonly number[]): Promise<readonly number[]> => {
    if (questions.length > 1) throw new Error('canceling statement due to statement timeout');
    if (questions[0] === 0) await locked;
    return questions;
  }, 100);
  const pool = new pg.Pool();
  const [waits, ...others] = numbers(5).map((n) => ask(pool, n));
  assert.deepEqual(await Promise.all(others), [1, 2, 3, 4]);
  release();
  assert.equal(await waits, 0);
});

test('of two answers to a device the second writes nothing: no session, no part in it, no event (RFC 8628 section 3.3)', async (t) => {
  const { pool, other, find } = await opened(t);
  const code: StoredModel = { ...row('device'), model: 'DeviceCode', grantId: undefined, payload: { kind: 'DeviceCode', until: NOW + 60 } };
  const interaction: StoredModel = { ...row('interaction'), model: 'Interaction', payload: { kind: 'Interaction' } };
  const session = (id: string): StoredModel => ({ ...row(id, 'usr1'), model: 'Session', serverKey: 0, grantId: undefined, uid: 'session' });
  await write(pool, { ...NOTHING, inserts: [code, interaction, session('cookie')] }, NOW);
  const answer = (id: string, clientId: string): Promise<void> =>
    write(
      pool,
      {
        ...NOTHING,
        answers: [{ ...code, accountId: 'usr1', payload: { ...code.payload, accountId: 'usr1', by: id } }],
        sessions: [{ ...session(id), foundId: 'cookie' }],
        deletes: [interaction],
        sessionClients: [{ sessionUid: 'session', serverKey: 1, clientId, state: {}, expiresAt: NOW + 60, isFirst: true }],
        bySession: true,
      },
      NOW,
    );
  await write(pool, { ...NOTHING, answers: [{ ...code, payload: { ...code.payload, error: 'access_denied' } }] }, NOW);
  await assert.rejects(answer('renewed', 'app'), AlreadyUsed);
  assert.equal((await find('device'))?.payload.error, 'access_denied');
  assert.ok(await find('interaction'));
  const { rows } = await other.query<{ id: string }>("SELECT id FROM oidc_payload WHERE uid = 'session'");
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['cookie'],
  );
  assert.equal((await other.query('SELECT FROM browser_session_clients')).rowCount, 0);
});
