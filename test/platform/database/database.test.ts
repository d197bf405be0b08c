/** The pool, knex over it, and the migrations, on real databases. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Database, migrate, openDatabase } from '../../../src/platform/database/database.ts';
import { afterwards } from '../../support/afterwards.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../../support/database.ts';

async function fresh(t: TestContext, make: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await make();
  afterwards(t, () => database.drop());
  return database;
}

/** A database of the product; the errors it reports are collected. */
async function open(t: TestContext, { connection }: TestDatabase): Promise<Database & { errors: Error[] }> {
  const errors: Error[] = [];
  const database = await openDatabase({ connection, poolSize: 4, onError: (error) => errors.push(error) });
  afterwards(t, () => database.close());
  return { ...database, errors };
}

/** A connection beside the pool. */
async function connect(t: TestContext, { connection }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client(connection);
  await client.connect();
  afterwards(t, () => client.end());
  return client;
}

const tables = async (database: Database): Promise<number> =>
  (await database.pool.query("SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'public'")).rows[0].n;

test('three starters migrate an empty database at once, and once', async (t) => {
  const empty = await fresh(t, emptyDatabase);
  const starters = await Promise.all([open(t, empty), open(t, empty), open(t, empty)]);
  await Promise.all(starters.map((database) => migrate(database)));
  const migrations: { name: string }[] = await starters[0].knex('knex_migrations').select('name').orderBy('id');
  assert.equal(migrations[0]?.name, '001-foundation');
  assert.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length);
  assert.equal(await tables(starters[0]), await tables(await open(t, await fresh(t, testDatabase))));
});

test('a migration killed midway is rolled back and done by the next starter', async (t) => {
  const empty = await fresh(t, emptyDatabase);
  const watcher = await connect(t, empty);
  const obstacle = await connect(t, empty);
  // A name that is taken, but not yet committed: the migration waits at it.
  await obstacle.query('BEGIN; CREATE TABLE settings ()');
  const migrator = spawn(process.execPath, [fileURLToPath(new URL('../processes/migrator.js', import.meta.url)), empty.url], {
    stdio: 'ignore',
  });
  const waiting = async () =>
    (await watcher.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")).rowCount === 1;
  while (!(await waiting())) await delay(10);
  migrator.kill('SIGKILL');
  await once(migrator, 'close');

  const database = await open(t, empty);
  const next = migrate(database);
  await obstacle.query('ROLLBACK');
  await next;
  assert.equal((await database.knex('knex_migrations')).length > 0, true);
});

test('knex and the hot path share one pool', async (t) => {
  const database = await open(t, await fresh(t, testDatabase));
  await Promise.all(
    [...Array(10)].flatMap(() => [database.knex.raw('SELECT pg_sleep(0.01)'), database.pool.query('SELECT pg_sleep(0.01)')]),
  );
  const { rows } = await database.pool.query(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse'",
  );
  assert.equal(rows[0].n, 4);
  assert.equal(database.pool.totalCount, 4);
  assert.equal(database.pool.idleCount, 4);
});

test('bigints are numbers where a number can hold them', async (t) => {
  const database = await open(t, await fresh(t, testDatabase));
  const text = 'SELECT 9007199254740991::bigint AS safe, 9007199254740993::bigint AS unsafe';
  assert.deepEqual((await database.pool.query(text)).rows, [{ safe: 9007199254740991, unsafe: '9007199254740993' }]);
  assert.deepEqual((await database.knex.raw(text)).rows, [{ safe: 9007199254740991, unsafe: '9007199254740993' }]);
});

test('a transaction commits what it returns from and rolls back what it throws out of', async (t) => {
  const database = await open(t, await fresh(t, testDatabase));
  const row = (name: string) => ({ name, value: '{}', last_updated: new Date(0) });
  assert.equal(await database.transaction(async (trx) => (await trx('settings').insert(row('kept'))) && 'done'), 'done');
  const failure = new Error('on purpose');
  await assert.rejects(
    database.transaction(async (trx) => {
      await trx('settings').insert(row('undone'));
      throw failure;
    }),
    failure,
  );
  assert.deepEqual(await database.knex('settings').pluck('name'), ['kept']);
});

test('closing waits for the statement and the transaction under way, and ends', async (t) => {
  const { connection } = await fresh(t, emptyDatabase);
  const database = await openDatabase({ connection, onError() {} });
  await database.knex.raw('CREATE TABLE things (id integer)');
  const outside = await connect(t, { connection } as TestDatabase);
  await outside.query('BEGIN; LOCK TABLE things');
  const held = 'INSERT INTO things VALUES (1)';
  const under = [
    (async () => database.knex.raw(held))(),
    database.transaction(async (trx) => {
      await trx.raw(held);
      await trx.raw(held);
    }),
  ];
  const waiting = 'SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() AND NOT granted';
  while ((await outside.query(waiting)).rowCount !== 2) await delay(5);
  const closed = database.close();
  await outside.query('COMMIT');
  await closed;
  await Promise.all(under);
  assert.equal((await outside.query('SELECT * FROM things')).rowCount, 3);
});

test('the pool outlives the loss of all its connections: idle, busy, and between the statements of a transaction', async (t) => {
  const own = await fresh(t, testDatabase);
  const database = await open(t, own);
  const outside = await connect(t, own);
  const cut = () =>
    outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');

  await Promise.all([database.ping(), database.ping()]);
  const idle = database.pool.totalCount;
  await cut();
  while (database.errors.length < idle) await delay(5);
  await database.ping();

  const busy = assert.rejects(database.knex.raw('SELECT pg_sleep(20)'));
  const sleeping = async () =>
    (await outside.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")).rowCount === 1;
  while (!(await sleeping())) await delay(5);
  await cut();
  await busy;

  await assert.rejects(
    database.transaction(async (trx) => {
      await trx.raw('SELECT 1');
      await cut();
      await delay(20); // the connection breaks while no statement is there to report it
      await trx.raw('SELECT 1');
    }),
  );
  await Promise.all([...Array(8)].map(() => database.knex.raw('SELECT 1')));
  await database.ping();
  assert.ok(database.pool.totalCount <= 4);
});

test('a database that cannot be reached is an error in time, not a wait', async (t) => {
  const database = await openDatabase({ connection: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' }, onError: () => {} });
  afterwards(t, () => database.close());
  await assert.rejects(database.ping(), { code: 'ECONNREFUSED' });
  await assert.rejects(database.knex.raw('SELECT 1'), { code: 'ECONNREFUSED' });
});
