/** Work that PostgreSQL undid because of a deadlock or a serialization failure is done again, where that is safe. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { inOneTransaction } from '../../../src/platform/database/one-transaction.ts';
import { afterwards } from '../../support/afterwards.ts';
import { emptyDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';

interface Setting {
  readonly database: Database;
  readonly url: string;
  values(): Promise<readonly number[]>;
}

/** Two rows, 1 and 2. Deadlocks are found at once. */
async function setting(t: TestContext): Promise<Setting> {
  const { connection, url, drop } = await emptyDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  await database.pool.query(`CREATE TABLE things (id integer PRIMARY KEY, value integer NOT NULL);
    INSERT INTO things VALUES (1, 0), (2, 0); CREATE SEQUENCE attempts`);
  return { database, url, values: async () => (await database.knex('things').orderBy('id')).map(({ value }) => value) };
}

/** Lets the first attempts of whoever changes things fail as a serializable transaction does, with the statement or with the commit. */
const failFirst = (database: Database, attempts: number, when: 'statement' | 'commit') =>
  database.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('attempts') <= ${attempts} THEN RAISE EXCEPTION 'could not serialize' USING ERRCODE = '40001'; END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON things ${when === 'commit' ? 'DEFERRABLE INITIALLY DEFERRED' : ''} FOR EACH ROW EXECUTE FUNCTION refuse()`);

const attempts = async ({ database }: Setting): Promise<number> =>
  (await database.pool.query('SELECT last_value AS n FROM attempts')).rows[0].n;

/** Two transactions that take the two rows in opposite orders, the second only when the other one has its first. @returns how often each began */
async function deadlock(database: Database, options?: { readonly repeatable: boolean }) {
  const begun = [0, 0];
  let letBoth: (() => void) | undefined;
  const both = new Promise<void>((resolve) => {
    letBoth = resolve;
  });
  const locked = new Set<number>();
  const cross = (own: 0 | 1) =>
    database.transaction(async (trx) => {
      begun[own] = (begun[own] ?? 0) + 1;
      await trx('things')
        .where({ id: own + 1 })
        .increment('value', 1);
      if (locked.add(own).size === 2) letBoth?.();
      await both;
      await trx('things')
        .where({ id: 2 - own })
        .increment('value', 1);
    }, options);
  return { begun, ends: await Promise.allSettled([cross(0), cross(1)]) };
}

test('of two transactions in a real deadlock both are carried out: the one that PostgreSQL ended is done again', async (t) => {
  const { database, values } = await setting(t);
  const { begun, ends } = await deadlock(database);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
  assert.deepEqual([...begun].sort(), [1, 2]);
  assert.deepEqual(await values(), [2, 2]);
});

test('a transaction that is not repeatable is ended by the deadlock', async (t) => {
  const { database, values } = await setting(t);
  const { begun, ends } = await deadlock(database, { repeatable: false });
  const [failed] = ends.filter((end) => end.status === 'rejected');
  assert.equal(failed?.reason.code, '40P01');
  assert.deepEqual(
    [begun, await values()],
    [
      [1, 1],
      [1, 1],
    ],
  );
});

test('a commit that is refused is not sent again: the whole transaction is', async (t) => {
  const own = await setting(t);
  const { database } = own;
  await failFirst(database, 2, 'commit');
  let begun = 0;
  await database.transaction(async (trx) => {
    begun += 1;
    await trx('things').where({ id: 1 }).increment('value', 1);
  });
  assert.deepEqual([begun, await attempts(own), await own.values()], [3, 3, [1, 0]]);
});

test('five attempts, and no more', async (t) => {
  const own = await setting(t);
  await failFirst(own.database, 1000, 'statement');
  await assert.rejects(
    own.database.transaction((trx) => trx('things').where({ id: 1 }).increment('value', 1)),
    { code: '40001' },
  );
  assert.equal(await attempts(own), 5);
});

test('any other failure is none to try again after', async (t) => {
  const { database } = await setting(t);
  let begun = 0;
  const work = database.transaction(async (trx) => {
    begun += 1;
    await trx('things').insert({ id: 1, value: 0 });
  });
  await assert.rejects(work, { code: '23505' });
  assert.equal(begun, 1);
});

for (const [way, ask] of [
  ['the pool', ({ pool }: Database) => pool.query('UPDATE things SET value = value + 1 WHERE id = $1', [1])],
  ['knex', async ({ knex }: Database) => knex('things').where({ id: 1 }).increment('value', 1)],
] as const) {
  test(`a statement outside of any transaction is sent again: by ${way}`, async (t) => {
    const own = await setting(t);
    await failFirst(own.database, 2, 'statement');
    await ask(own.database);
    assert.deepEqual([await attempts(own), await own.values()], [3, [1, 0]]);
  });
}

test('a statement within a transaction is not sent again by itself', async (t) => {
  const own = await setting(t);
  await failFirst(own.database, 1, 'statement');
  const work = own.database.transaction((trx) => trx('things').where({ id: 1 }).increment('value', 1), { repeatable: false });
  await assert.rejects(work, { code: '40001' });
  assert.deepEqual([await attempts(own), await own.values()], [1, [0, 0]]);
});

test('a statement alone in a deadlock with a transaction is carried out after it', async (t) => {
  const { database, url, values } = await setting(t);
  const other = new pg.Client(url);
  await other.connect();
  afterwards(t, () => other.end());
  // The statement takes row 1, then waits for row 2; the other one waits for row 1 and is not the one that is ended.
  await other.query("BEGIN; SET LOCAL deadlock_timeout = '1min'; UPDATE things SET value = 10 WHERE id = 2");
  const statement = database.pool.query('UPDATE things SET value = value + 1 WHERE id IN (1, 2)');
  const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await database.pool.query(waits)).rowCount === 1, 'the statement waits');
  await other.query('UPDATE things SET value = 10 WHERE id = 1; COMMIT');
  await statement;
  assert.deepEqual(await values(), [11, 11]);
});

test('several services in one transaction: announced is what the last attempt changed, once', async (t) => {
  const { database } = await setting(t);
  await failFirst(database, 1, 'statement');
  const announced: unknown[] = [];
  const notifications = { announce: (change: unknown) => announced.push(change) };
  await inOneTransaction({ database, notifications } as never, async (within, trx) => {
    within.notifications.announce({ kind: 'application', id: 'app_1' });
    await trx('things').where({ id: 1 }).increment('value', 1);
  });
  assert.deepEqual(announced, [{ kind: 'application', id: 'app_1' }]);
});
