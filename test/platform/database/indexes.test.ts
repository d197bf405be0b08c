/** What is removed with a user, an application, an organization or a server is found by indexes: tables of millions are not walked through for one of them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Database, migrate, openDatabase } from '../../../src/platform/database/database.ts';
import { deleteClientState, deleteLeftOverClientState } from '../../../src/protocol/storage/client-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

async function ownDatabase(t: TestContext): Promise<TestDatabase> {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  return own;
}

async function open(t: TestContext, { connection }: TestDatabase, patient = false): Promise<Database> {
  const database = await openDatabase({ connection, poolSize: 4, patient, onError: () => {} });
  afterwards(t, () => database.close());
  return database;
}

/** Foreign keys whose columns, in whatever order, are not the first of an index over all rows that have a value there. */
const UNINDEXED = `SELECT f.conrelid::regclass || ': ' || pg_get_constraintdef(f.oid) AS line FROM pg_constraint f
  WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace AND NOT EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = f.conrelid AND i.indisvalid
      AND (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey
      AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) IN
        (SELECT '(' || attname || ' IS NOT NULL)' FROM pg_attribute a WHERE a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey))))
  ORDER BY 1`;

/** A department's id is that of no other one, so that its index alone finds the members. */
const BY_A_PART = ['memberships: FOREIGN KEY (org_id, dep_id) REFERENCES departments(org_id, id)'];

test('every foreign key is found by an index, as each removal of what it points at needs', async (t) => {
  const { pool } = await open(t, await ownDatabase(t));
  const unindexed = async () => (await pool.query<{ line: string }>(UNINDEXED)).rows.map(({ line }) => line);
  assert.deepEqual(await unindexed(), BY_A_PART);
  await pool.query('DROP INDEX roles_by_organization, consents_by_application');
  await pool.query("CREATE INDEX ON roles (org_id) WHERE type = 'ORG_ADMIN'");
  assert.deepEqual(await unindexed(), [
    'consents: FOREIGN KEY (application_id) REFERENCES applications(id) ON DELETE CASCADE',
    ...BY_A_PART,
    'roles: FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE',
  ]);
});

test('the end of an application reads no table of protocol state from end to end', async (t) => {
  const { pool, knex } = await open(t, await ownDatabase(t));
  const MANY = 3000;
  await pool.query(`INSERT INTO browser_session_clients SELECT 'uid-' || n, 1, 'client-' || n, '{}', 1 FROM generate_series(1, ${MANY}) n`);
  await pool.query(
    `INSERT INTO oidc_payload (id, model, server_key, payload, client_id, expires_at, exp_hour)
      SELECT 'token-' || n, 3, 1, '{}', 'client-' || n, now(), 1 FROM generate_series(1, ${MANY}) n`,
  );
  await pool.query('ANALYZE browser_session_clients, oidc_payload');
  const statements = new Map<string, unknown[]>();
  knex.on('query', ({ sql, bindings }: { sql: string; bindings: unknown[] }) => {
    if (sql.startsWith('DELETE')) statements.set(sql, bindings);
  });
  await deleteLeftOverClientState(knex, 'client-1');
  await deleteClientState(knex, 'client-2');
  assert.equal(statements.size, 4);
  for (const [sql, bindings] of statements) {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, bindings);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.doesNotMatch(plan, /Seq Scan on (browser_session_clients|oidc_payload)/, plan);
  }
  const left = await pool.query<{ n: number }>(
    'SELECT (SELECT count(*) FROM browser_session_clients) + (SELECT count(*) FROM oidc_payload) AS n',
  );
  assert.equal(left.rows[0]?.n, 2 * MANY - 4);
});

test('an index that was left half made is made anew, and no limit of the database ends what takes its time', async (t) => {
  const own = await ownDatabase(t);
  const database = await open(t, own, true);
  const { pool } = database;
  const definition = async () =>
    (await pool.query("SELECT indexdef FROM pg_indexes WHERE indexname = 'browser_session_clients_by_client'")).rows;
  const whole = await definition();
  assert.equal(whole.length, 1);
  // As a killed process leaves it: the name is there, the migration not noted.
  await pool.query('DROP INDEX browser_session_clients_by_client');
  await pool.query('CREATE INDEX browser_session_clients_by_client ON browser_session_clients (exp_hour)');
  await pool.query("DELETE FROM knex_migrations WHERE name = '019-indexes-of-removals'");
  await migrate(database);
  assert.deepEqual(await definition(), whole);

  await pool.query(`ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET statement_timeout = '5s'`);
  const later = await open(t, own, true);
  assert.deepEqual((await later.pool.query('SHOW statement_timeout')).rows, [{ statement_timeout: '0' }]);
});
