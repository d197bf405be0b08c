/** What processes tell each other: at commit, at once, and after a lost connection. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { type Change, openNotifications } from '../../../src/platform/database/notifications.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';

const change: Change = { kind: 'application', id: 'app_1' };

async function setting(t: TestContext) {
  const { connection, url, drop } = await testDatabase();
  afterwards(t, drop);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const notifications = await openNotifications(connection, pino({ enabled: false }));
  afterwards(t, () => notifications.close());
  const heard: (Change | 'everything')[] = [];
  notifications.subscribe((news) => heard.push(news));
  return { database, notifications, heard, url };
}

test('a change is told to another process at commit, not before, and not at all after a rollback', async (t) => {
  const { database, notifications, heard, url } = await setting(t);
  const subscriber = spawn(process.execPath, [fileURLToPath(new URL('../processes/subscriber.js', import.meta.url)), url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
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
    // What is committed after the statement above, and before it, arrives first.
    await notifications.publish(database.knex, { kind: 'server', id: 'earlier' });
    while (lines.length < 2 || heard.length < 1) await delay(5);
    assert.deepEqual(lines.slice(1), ['{"kind":"server","id":"earlier"}']);
  });
  while (lines.length < 3 || heard.length < 2) await delay(5);
  assert.deepEqual(lines.slice(2), [JSON.stringify(change)]);
  assert.deepEqual(heard, [{ kind: 'server', id: 'earlier' }, change], 'this process is told as well');
  subscriber.stdin.end();
  const [code] = await once(subscriber, 'exit');
  assert.equal(code, 0, 'closing lets the process end');
});

test('an announcement is heard in this process before the call returns', async (t) => {
  const { notifications, heard } = await setting(t);
  notifications.announce(change);
  assert.deepEqual(heard, [change]);
});

test('a lost connection comes back by itself, and then everything may have changed', async (t) => {
  const { database, notifications, heard } = await setting(t);
  await database.knex.raw(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse notifications'",
  );
  while (heard.length < 1) await delay(5);
  assert.deepEqual(heard, ['everything']);
  await notifications.publish(database.knex, change);
  while (heard.length < 2) await delay(5);
  assert.deepEqual(heard[1], change);
});

test('a message of an unknown form, as a newer version may send, is left out', async (t) => {
  const { database, notifications, heard } = await setting(t);
  await database.knex.raw("SELECT pg_notify('gatehouse', 'what?')");
  await database.knex.raw(`SELECT pg_notify('gatehouse', '{"kind":"galaxy","id":"1"}')`);
  await notifications.publish(database.knex, change);
  while (heard.length < 1) await delay(5);
  assert.deepEqual(heard, [change]);
});
