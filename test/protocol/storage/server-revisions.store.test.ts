/** The mark of an authorization server is another one after any change of what it is built from, and only then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { deleteRetiredKeys } from '../../../src/features/authorization-servers/signing-keys.store.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { findServerRevisions } from '../../../src/protocol/storage/server-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { startService } from '../../support/service.ts';

test('every change of what a server is built from marks it anew', async (t) => {
  const service = await startService(t);
  const pool = new pg.Pool(service.database.connection);
  afterwards(t, () => pool.end());
  const revisions = async () => {
    const found = await findServerRevisions(pool, ['default', 'built-in', 'nowhere']);
    assert.deepEqual([...found.keys()].sort(), ['built-in', 'default']);
    return { own: found.get('default'), other: found.get('built-in') };
  };
  const server = '/authorizationServers/default';
  const { body: policies } = await service.api('GET', `${server}/policies`);
  const change = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body?.id;
  };
  const policy = `${server}/policies/${policies[0].id}`;
  const rule = {
    type: 'RESOURCE_ACCESS',
    name: 'Another',
    conditions: { grantTypes: { include: ['client_credentials'] }, scopes: { include: ['*'] } },
    actions: { token: { accessTokenLifetimeMinutes: 5 } },
  };
  const changes: [what: string, both: boolean, change: () => Promise<unknown>][] = [
    ['the server', false, () => change('PUT', server, { name: 'Another name', audiences: ['api://default'] })],
    ['a scope', false, () => change('POST', `${server}/scopes`, { name: 'orders:read' })],
    ['a claim', false, () => change('POST', `${server}/claims`, { name: 'login', claimType: 'RESOURCE', valueType: 'STATIC', value: 'x' })],
    ['a key', false, () => change('POST', `${server}/credentials/lifecycle/keyRotate`, { use: 'sig' })],
    ['a policy', false, () => change('POST', `${policy}/lifecycle/deactivate`)],
    ['a rule', false, () => change('POST', `${policy}/rules`, rule)],
    ['the settings of sign-in', true, () => change('PUT', '/settings/sign-in', { identifierFirst: true })],
  ];
  // By whatever way a part is changed, and be it by hand.
  const moves = "UPDATE scopes SET server_id = 'built-in', name = 'moved' WHERE server_id = 'default' AND name = 'email'";
  changes.push(['a scope that moves', true, () => pool.query(moves)]);
  const parts = ['policy_rules', 'policies', 'signing_keys', 'claims', 'scopes'];
  const own = (table: string) => (table === 'policy_rules' ? `policy_id = '${policies[0].id}'` : "server_id = 'default'");
  for (const table of parts) {
    const key = table === 'signing_keys' ? 'kid' : 'id';
    const one = `${key} = (SELECT ${key} FROM ${table} WHERE ${own(table)} LIMIT 1)`;
    changes.push([`one of ${table}, rewritten`, false, () => pool.query(`UPDATE ${table} SET ${key} = ${key} WHERE ${one}`)]);
    changes.push([`one of ${table}, removed`, false, () => pool.query(`DELETE FROM ${table} WHERE ${one}`)]);
  }
  for (const [what, both, make] of changes) {
    const before = await revisions();
    assert.deepEqual(await revisions(), before);
    await make();
    const after = await revisions();
    assert.notEqual(after.own, before.own, what);
    assert.equal(after.other !== before.other, both, what);
  }
  const before = await revisions();
  await change('POST', '/groups', { profile: { name: 'Others' } });
  await change('PUT', '/settings/audit', { retentionDays: 100 });
  // Under another SECRET_KEY it is the same key.
  await pool.query('UPDATE signing_keys SET private_sealed = private_sealed');
  assert.deepEqual(await revisions(), before);
});

test('keys that are over are removed without waiting for who changes their server, and while others seal keys anew', async (t) => {
  const service = await startService(t);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const { pool } = database;
  await pool.query(`INSERT INTO signing_keys (kid, server_id, alg, status, public_jwk, private_sealed, created, activated, retired)
    SELECT 'over-' || server_id, server_id, alg, 'RETIRED', public_jwk, private_sealed, created, created, now() - interval '100 days'
    FROM signing_keys WHERE status = 'ACTIVE' AND alg = 'RS256' AND server_id IN ('default', 'built-in')`);
  const left = async () =>
    (await pool.query<{ kid: string }>("SELECT kid FROM signing_keys WHERE kid LIKE 'over-%' ORDER BY 1")).rows.map(({ kid }) => kid);
  const remove = async () => {
    await deleteRetiredKeys(database.knex, new Date(Date.now() - 91 * 24 * 3600 * 1000), 10);
    return left();
  };
  assert.deepEqual(await left(), ['over-built-in', 'over-default']);

  const other = await pool.connect();
  const during = async (statement: string): Promise<string[]> => {
    await other.query('BEGIN');
    await other.query(statement);
    const found = await remove();
    await other.query('ROLLBACK');
    return found;
  };
  try {
    assert.deepEqual(await during("SELECT FROM authorization_servers WHERE id = 'default' FOR UPDATE"), ['over-default']);
    assert.deepEqual(await during("UPDATE signing_keys SET private_sealed = private_sealed WHERE kid = 'over-default'"), ['over-default']);
  } finally {
    other.release();
  }
  assert.deepEqual(await remove(), []);
});
