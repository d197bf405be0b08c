/** What processes tell each other where they cannot listen (`NOTIFICATIONS=poll`): by rows that each of them looks for. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Change } from '../../../src/platform/database/notifications.ts';
import { pollNotifications } from '../../../src/platform/database/polled-notifications.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock } from '../../support/clock.ts';
import { emptyDatabase, testDatabase } from '../../support/database.ts';
import { eventually, runService } from '../../support/process.ts';
import { newSecretKey } from '../../support/service.ts';
import { timingsOfProcess } from '../../support/short-waits.ts';

const change: Change = { kind: 'application', id: 'app_1' };

/** @param onLog gets each line of the log */
async function setting(t: TestContext, onLog: (line: string) => void = () => {}) {
  const { connection, url, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const notifications = await pollNotifications(database, pino({}, { write: onLog }));
  afterwards(t, () => notifications.close());
  const heard: (Change | 'everything')[] = [];
  notifications.subscribe((news) => heard.push(news));
  return { database, notifications, heard, url };
}

test('a change is told to another process at commit, once, and not at all after a rollback', async (t) => {
  const { database, notifications, heard, url } = await setting(t);
  const program = fileURLToPath(new URL('../processes/subscriber.js', import.meta.url));
  const subscriber = spawn(process.execPath, [program, url, 'poll'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const output = readline.createInterface({ input: subscriber.stdout }).on('line', (line) => lines.push(line));
  await once(output, 'line');

  await assert.rejects(
    database.transaction(async (trx) => {
      await notifications.publish(trx, { kind: 'application', id: 'undone' });
      throw new Error('on purpose');
    }),
  );
  await database.transaction(async (trx) => {
    await notifications.publish(trx, change);
    // The row above is older and becomes visible later.
    await notifications.publish(database.knex, { kind: 'server', id: 'earlier' });
    await eventually(() => lines.length >= 2 && heard.length >= 1, 'what is committed is told');
    assert.deepEqual(lines.slice(1), ['{"kind":"server","id":"earlier"}']);
  });
  await eventually(() => lines.length >= 3 && heard.length >= 2, 'the transaction is told');
  await notifications.publish(database.knex, { kind: 'settings', id: 'last' });
  await eventually(() => lines.length >= 4 && heard.length >= 3, 'the last one is told');
  assert.deepEqual(heard, [{ kind: 'server', id: 'earlier' }, change, { kind: 'settings', id: 'last' }], 'this process is told as well');
  assert.deepEqual(
    lines.slice(1).map((line) => JSON.parse(line)),
    heard,
  );
  subscriber.stdin.end();
  const [code] = await once(subscriber, 'exit');
  assert.equal(code, 0, 'closing lets the process end');
});

test('after looks that failed everything may have changed', async (t) => {
  let failed = 0;
  const { database, notifications, heard } = await setting(t, (line) => {
    if (line.includes('could not poll for changes')) failed += 1;
  });
  await database.knex.raw('ALTER TABLE change_notices RENAME TO away');
  await eventually(() => failed > 0, 'a look fails');
  assert.deepEqual(heard, []);
  await database.knex.raw('ALTER TABLE away RENAME TO change_notices');
  await eventually(() => heard.length > 0, 'it is told');
  assert.deepEqual(heard, ['everything']);
  await notifications.publish(database.knex, change);
  await eventually(() => heard.length > 1, 'the next change is told');
  assert.deepEqual(heard[1], change);
});

test('of very many changes at once each may be any', async (t) => {
  const { database, heard } = await setting(t);
  await database.knex.raw(`INSERT INTO change_notices (change) SELECT '{"kind":"application","id":"x"}' FROM generate_series(1, 501)`);
  await eventually(() => heard.length > 0, 'it is told');
  assert.equal(heard[0], 'everything');
});

test('a change of an unknown form, as a newer version may write, is left out', async (t) => {
  const { database, notifications, heard } = await setting(t);
  await database.knex('change_notices').insert({ change: '{"kind":"galaxy","id":"1"}' });
  await notifications.publish(database.knex, change);
  await eventually(() => heard.length > 0, 'the other one is told');
  assert.deepEqual(heard, [change]);
});

test('what every process has seen is removed', async (t) => {
  const { database } = await setting(t);
  await database.knex.raw(
    `INSERT INTO change_notices (change, created) VALUES ('{}', now() - interval '11 minutes'), ('{}', now() - interval '9 minutes')`,
  );
  await removeExpired(database, 100);
  assert.equal((await database.knex('change_notices')).length, 1);
});

test('two services that poll: what is changed at one is known to the other, and neither listens nor holds a lock of a session', async (t) => {
  const database = await emptyDatabase();
  afterwards(t, () => database.drop());
  // Without the notice, the other process would know it after these ten minutes.
  const env = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey(), NOTIFICATIONS: 'poll', ...timingsOfProcess({ cache: 600_000 }) };
  const [first, second] = await Promise.all([runService(t, env), runService(t, env)]);
  const { clientId, clientSecret } = await first.createApp({ grant_types: ['client_credentials'] });
  const token = async () =>
    (
      await fetch(`${second.issuer('built-in')}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
    ).status;
  assert.equal(await token(), 200);
  await first.api('POST', `/apps/${clientId}/lifecycle/deactivate`);
  await eventually(async () => (await token()) === 401, 'the other one knows');

  const other = await openDatabase({ connection: database.connection, onError: () => {} });
  afterwards(t, () => other.close());
  const { rows: listeners } = await other.pool.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'",
  );
  assert.deepEqual(listeners, []);
  // A transaction may hold one for a moment, such as the one that seals the audit log. A session would hold it until it ends.
  const locks = async () =>
    (
      await other.pool.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
    ).rowCount;
  await eventually(async () => (await locks()) === 0, 'no lock stays');
});

test('a process that stood still forgets what it knows: changes may have left the window unseen', async (t) => {
  const { heard } = await setting(t);
  moveClock(t, 60);
  await eventually(() => heard.includes('everything'), 'everything is told');
});
