/** What the sender of the outbox asks of the database: next to nothing while nothing is waiting, and on without a rest while something is. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { type Carrier, sendOutbox } from '../../../src/features/outbox/outbox.service.ts';
import { insertEntry } from '../../../src/features/outbox/outbox.store.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { withTimings } from '../../support/short-waits.ts';

/** What waits until the next look is not delivered. */
const ONE_LOOK = { outboxPause: 600_000 };
/** Milliseconds. */
const PAUSE = 300;

const isLook = (statement: string): boolean => statement.startsWith('SELECT kind FROM unnest');

/** @param entries what is about an object, or null each @param prepare something about the table @param outcome of each delivery */
async function sending(
  t: TestContext,
  entries: readonly (string | null)[],
  prepare = 'SELECT 1',
  outcome: Awaited<ReturnType<Carrier['deliver']>> = 'delivered',
) {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  await onServer(own.url, (sql) => sql.query(prepare));
  const counted = await countingProxy(t, own);
  const database = await openDatabase({ connection: counted.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const created = new Date();
  for (const [payload, objectKey] of entries.entries())
    await insertEntry(database.knex, { kind: 'one', orderingKey: 'receiver', objectKey, payload, created });
  const delivered: unknown[] = [];
  const carrier: Carrier = {
    async deliver(payload) {
      delivered.push(payload);
      return outcome;
    },
    givenUp: () => ({ eventType: 'user.session.start', displayMessage: '' }),
  };
  counted.taken();
  const sender = sendOutbox({ database, log: pino({ level: 'silent' }), carriers: { one: carrier, other: carrier }, count: () => {} });
  afterwards(t, () => sender.stop());
  return { counted, delivered };
}

test('while nothing is waiting, one statement for all kinds is all', async (t) => {
  const { counted } = await sending(t, []);
  const taken: string[] = [];
  await eventually(() => taken.push(...counted.taken().filter((text) => !/^SET /.test(text))) >= 3, 'three looks');
  assert.deepEqual(
    taken.filter((statement) => !isLook(statement)),
    [],
  );
});

test('a receiver for whom many wait gets one after the other, not some at each look', async (t) => {
  withTimings(t, ONE_LOOK);
  const { counted, delivered } = await sending(t, Array(30).fill(null));
  await eventually(() => delivered.length === 30, 'all are delivered');
  assert.equal(counted.taken().filter(isLook).length, 1);
});

test('what is about one object is told in its order, the next at once, also while what waits cannot be put off', async (t) => {
  const away = "BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.due > now() + interval '1 minute')";
  const refusal = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE TRIGGER refuse ${away} EXECUTE FUNCTION refuse()`;
  withTimings(t, ONE_LOOK);
  for (const prepare of ['SELECT 1', refusal]) {
    const { counted, delivered } = await sending(t, ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'a', 'a', 'a', 'a', 'a', 'a'], prepare);
    await eventually(() => delivered.length === 13, 'all are delivered');
    assert.deepEqual(
      delivered.filter((payload) => payload !== 6),
      [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12],
    );
    if (prepare !== refusal) assert.ok(delivered.indexOf(6) < 3, 'of another object');
    assert.equal(counted.taken().filter(isLook).length, 1);
  }
});

test('after a look that took longer than the pause between two, there is a pause as well', async (t) => {
  withTimings(t, { outboxPause: PAUSE });
  const { counted } = await sending(t, []);
  const [blocker, observer] = [new pg.Client(counted.connection), new pg.Client(counted.connection)];
  for (const client of [blocker, observer]) {
    await client.connect();
    afterwards(t, () => client.end());
  }
  await blocker.query('BEGIN; LOCK TABLE outbox');
  const looking = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT kind FROM unnest%'
    AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '${PAUSE} ms'`;
  await eventually(async () => (await observer.query(looking)).rowCount === 1, 'a look takes long');
  counted.taken();
  const ended = performance.now();
  await blocker.query('COMMIT');
  await eventually(() => counted.taken().some(isLook), 'the next look');
  // A timer may be early by a little.
  assert.ok(performance.now() - ended > PAUSE / 2);
});

test('the event of a delivery is written by the statement that removes the entry', async (t) => {
  withTimings(t, ONE_LOOK);
  const event = { eventType: 'system.email.delivery', displayMessage: 'Sent', request: SYSTEM } as const;
  const { counted } = await sending(t, [null], 'SELECT 1', { delivered: event });
  const taken: string[] = [];
  await eventually(() => taken.push(...counted.taken()) > 0 && taken.some((text) => /DELETE FROM outbox/.test(text)), 'it is removed');
  const [removal = '', ...others] = taken.filter((text) => /DELETE FROM outbox|INSERT INTO audit_events/.test(text));
  assert.match(removal, /DELETE FROM outbox.*INSERT INTO audit_events/s);
  assert.deepEqual(others, []);
});
