import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { isUnavailable, violatedConstraint } from '../../../src/platform/database/database-failures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

/** @returns what the work was rejected with */
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );

describe('failures of the database (PostgreSQL manual, appendix A)', () => {
  let testDb: TestDatabase;
  let database: Database;
  before(async () => {
    testDb = await testDatabase();
    database = await openDatabase({ connection: testDb.connection, onError: () => {} });
  });
  after(async () => {
    await database.close();
    await testDb.drop();
  });

  const unreachable: [what: string, connection: pg.ClientConfig][] = [
    ['a port where nobody listens', { host: '127.0.0.1', port: 9 }],
    ['a socket that is not there', { host: '/nonexistent' }],
    ['a host without address', { host: 'database.invalid' }],
  ];
  for (const [what, connection] of unreachable) {
    it(`is out of reach: ${what}`, async () => {
      const lost = await openDatabase({ connection, onError: () => {} });
      assert.equal(isUnavailable(await failure(lost.ping())), true);
      assert.equal(isUnavailable(await failure(lost.knex('users').first())), true);
      await lost.close();
    });
  }

  it('is out of reach: a server that ends the connection under a query', async () => {
    const victim = new pg.Client(testDb.connection);
    victim.on('error', () => {});
    await victim.connect();
    const pid = (await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const sleeping = failure(victim.query('SELECT pg_sleep(60)'));
    await database.pool.query('SELECT pg_terminate_backend($1)', [pid]);
    assert.equal(isUnavailable(await sleeping), true);
    assert.equal(isUnavailable(await failure(victim.query('SELECT 1'))), true);
  });

  it('is out of reach: a standby, which is read-only', async () => {
    const work = database.transaction(async (trx) => {
      await trx.raw('SET TRANSACTION READ ONLY');
      await trx('settings').insert({ name: 'x', value: '{}', last_updated: new Date() });
    });
    assert.equal(isUnavailable(await failure(work)), true);
  });

  const passing: [state: string, what: string][] = [
    ['53100', 'its disk is full'],
    ['53200', 'it has no memory'],
    ['58030', 'its disk fails'],
    ['57014', 'the statement ran longer than it may'],
    ['55P03', 'a lock was not to be had'],
    ['40001', 'a serialization failure'],
    ['40P01', 'a deadlock'],
  ];
  for (const [state, what] of passing) {
    it(`may succeed later: ${what}`, async () => {
      const raised = database.knex.raw(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${state}'; END $$`);
      assert.equal(isUnavailable(await failure(raised)), true);
    });
  }

  it('is in reach and refuses: a constraint, named; a mistake in a statement', async () => {
    const values = { org_id: 'org_x', user_id: 'usr_x', created: new Date() };
    const refusal = await failure(database.knex('memberships').insert(values));
    assert.match(violatedConstraint(refusal) ?? '', /^memberships_(org|user)_id_fkey$/);
    assert.equal(isUnavailable(refusal), false);
    const mistake = await failure(database.pool.query('SELECT'.repeat(2)));
    assert.equal(isUnavailable(mistake), false);
    assert.equal(violatedConstraint(mistake), undefined);
    assert.equal(isUnavailable('a string'), false);
  });
});
