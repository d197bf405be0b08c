/** What stands before the first request: how it is told that the schema cannot be brought up to date. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { explainFailure, StartFailure } from '../../src/cli/lifecycle.ts';
import { migrateSchema } from '../../src/cli/startup.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer, testDatabase } from '../support/database.ts';
import { freePort } from '../support/process.ts';
import { STARTED } from '../support/service.ts';

/** What the operator is told. */
async function toldOf(url: string): Promise<{ error: unknown; words: string }> {
  const connection = { connectionString: url };
  const config = loadConfig({ DATABASE_URL: url, SECRET_KEY: STARTED.SECRET_KEY });
  const error = await migrateSchema({ config, log: pino({ level: 'silent' }), pooled: connection, direct: connection }).then(
    () => assert.fail('it was brought up to date'),
    (reason: unknown) => reason,
  );
  return { error, words: explainFailure(error) };
}

test('a migration that met a deadlock is told as that, not as a database that is not there', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  await onServer(own.url, async (client) => {
    await client.query('DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations)');
    await client.query(`CREATE FUNCTION deadlock() RETURNS event_trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END $$`);
    await client.query('CREATE EVENT TRIGGER deadlock ON ddl_command_start EXECUTE FUNCTION deadlock()');
  });
  const { error, words } = await toldOf(own.url);
  assert.ok(error instanceof pg.DatabaseError && error.code === '40P01', words);
  assert.match(words, /^Gatehouse stopped because of an error: [\s\S]*deadlock detected$/);

  const gone = await toldOf(`postgres://nobody@127.0.0.1:${await freePort()}/none`);
  assert.ok(gone.error instanceof StartFailure);
  assert.match(gone.words, /^The database cannot be reached \(.*ECONNREFUSED.*\)\. Check that it is running/);
});
