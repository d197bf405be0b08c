/** The command that verifies the audit log, and the sealer of a running service: real processes, beside each other and killed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { onServer, testDatabase } from '../support/database.ts';
import { callCommand, dataDirectory, eventually, runCommand, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { timingsOfProcess } from '../support/short-waits.ts';

test('a killed sealer is followed by another one, and the command verifies what they sealed', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const env = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey(), ...timingsOfProcess({ sealPause: 100 }) };
  const first = await runService(t, env);
  const second = await runService(t, env);
  const unsealed = () =>
    onServer(database.url, async (client) =>
      Number((await client.query('SELECT count(*) FROM audit_events WHERE seal IS NULL')).rows[0].count),
    );
  await eventually(async () => (await unsealed()) === 0, 'the first start is sealed');

  await first.stop('SIGKILL');
  assert.equal((await second.api('POST', '/groups', { profile: { name: 'after the kill' } })).status, 200);
  await eventually(async () => (await unsealed()) === 0, 'the other one seals');

  const verified = runCommand(t, 'audit', env, 'verify');
  assert.equal(await verified.ended, 0, verified.output.stderr);
  assert.match(verified.output.stdout, /^\d+ events in \d+ batches verified, sealed until \d{4}-.+Z\.\n/);
  assert.match(verified.output.stdout, /\nThe audit log is unchanged\.\n$/);
  const [, seal = ''] = /to keep in another place: (\d+:\S+)\n/.exec(verified.output.stdout) ?? [];
  const again = await callCommand(env, 'audit', 'verify', '--seal', seal);
  assert.equal(again.code, 0, again.stdout);

  const otherKey = await callCommand({ ...env, SECRET_KEY: newSecretKey() }, 'audit', 'verify');
  assert.equal(otherKey.code, 1);
  await second.stop();
  await onServer(database.url, (client) =>
    client.query("UPDATE audit_events SET display_message = 'x' WHERE event_type = 'group.lifecycle.create'"),
  );
  const mistaken = await callCommand(env, 'audit', 'verify');
  assert.equal(mistaken.code, 1);
  assert.match(mistaken.stdout, /\nCHANGED: Event \d+ \(group\.lifecycle\.create, .+\) of seal \d+ was changed\.\n$/);
});

test('it verifies the embedded database, while the service runs and when it does not', async (t) => {
  const DATA_DIR = dataDirectory(t);
  const service = await runService(t, { DATA_DIR, ...timingsOfProcess({ sealPause: 100 }) });
  const verify = async () => {
    const { ended, output } = runCommand(t, 'audit', { DATA_DIR }, 'verify');
    assert.equal(await ended, 0, output.stdout + output.stderr);
    return output.stdout;
  };
  await eventually(async () => /^[1-9]\d* events/.test(await verify()), 'the service seals');
  assert.equal((await service.api('GET', '/users')).status, 200, 'it is left running');
  await service.stop();
  assert.match(await verify(), /The audit log is unchanged/);
});

test('what it cannot do at all is told in one line, with exit code 2', async (t) => {
  for (const args of [[], ['prove'], ['verify', 'x'], ['verify', '--wrong'], ['verify', '--seal', '7'], ['verify', '--seal']]) {
    const { code, stderr } = await callCommand({}, 'audit', ...args);
    assert.equal(code, 2);
    assert.match(stderr, /Usage: gatehouse audit /);
  }
  const DATA_DIR = dataDirectory(t);
  const { code, stderr } = await callCommand({ DATA_DIR }, 'audit', 'verify');
  assert.equal(code, 2);
  assert.match(stderr, /^There is no database in /);
  assert.ok(!existsSync(path.join(DATA_DIR, 'postgres')), 'and none is made');
});
