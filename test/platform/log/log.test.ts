/** What an error tells the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';

test('a connection that broke is told without the connection, by whose key its statements could be cancelled', async (t) => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await openDatabase({
    connection: own.connection,
    onError: (error) => log.warn({ err: error }, 'lost a database connection'),
  });
  afterwards(t, () => database.close());
  const { rows } = await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await onServer(own.url, (client) => client.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]));
  await eventually(() => lines.length > 0, 'the broken connection is told');
  const { err } = JSON.parse(lines[0] ?? '');
  assert.equal(err.code, '57P01');
  assert.equal(err.client, undefined);
  assert.doesNotMatch(lines.join(''), /secretKey/);
});
