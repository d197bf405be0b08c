/** Frequent statements are prepared (PostgreSQL manual, "PREPARE"), whoever sends them, and only those that a later migration cannot break. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { recordEvent } from '../../../src/features/audit/audit.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { claimDue, insertEntry, postponeBlocked, removeEntry } from '../../../src/features/outbox/outbox.store.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import type { Connection } from '../../../src/platform/database/writable-server.ts';
import { deleteClientState, deleteLeftOverClientState } from '../../../src/protocol/storage/client-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

test('a statement that knex sends again and again is prepared, and outlives a new column', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await openDatabase({ connection: own.connection, poolSize: 2, onError: () => {} });
  afterwards(t, () => database.close());

  await database.transaction(async (trx) => {
    const named = () => trx('settings').where({ name: 'none' }).select({ settingName: 'name' });
    const starred = () => trx('settings').where({ name: 'none' }).select('*');
    const distinct = () => trx('settings').where({ name: 'none' }).distinct('*');
    const searched = () => trx('settings').whereLike('name', 'a%').orWhereILike('name', 'b%').select('name');
    const many = Array.from({ length: 1000 }, (_, n) => `setting ${n}`);
    const listed = () => trx('settings').whereIn('name', many).select('name');
    for (let times = 0; times < 60; times += 1) {
      await named();
      await starred();
      await distinct();
      await searched();
      await listed();
    }
    const { rows } = await trx.raw<{ rows: { statement: string }[] }>('SELECT statement FROM pg_prepared_statements');
    const statements = rows.map(({ statement }) => statement);
    assert.ok(statements.some((text) => text.includes('settingName')));
    assert.ok(!statements.some((text) => /select (distinct )?\*/.test(text)));
    assert.ok(!statements.some((text) => text.includes('like') || text.includes(' in (')));
    await trx.raw('ALTER TABLE settings ADD COLUMN added_later text');
    assert.deepEqual([await named(), await starred()], [[], []]);
  });
});

test('what is carried out for each mail and each event is prepared', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await openDatabase({ connection: own.connection, poolSize: 2, onError: () => {} });
  afterwards(t, () => database.close());

  await database.transaction(async (trx) => {
    const now = new Date();
    for (let times = 0; times < 25; times += 1) {
      await insertEntry(trx, { kind: 'mail', orderingKey: 'lane', objectKey: null, payload: {}, created: now });
      for (const entry of await claimDue(trx, { kinds: ['mail'], now, until: now, limit: 5 })) await removeEntry(trx, entry);
      await recordEvent(trx, { eventType: 'system.email.delivery', displayMessage: 'Send mail', request: SYSTEM });
    }
    const { rows } = await trx.raw<{ rows: { statement: string }[] }>('SELECT statement FROM pg_prepared_statements');
    const isPrepared = (part: string) => rows.some(({ statement }) => statement.includes(part));
    for (const part of ['DELETE FROM outbox', 'INSERT INTO audit_events']) assert.ok(isPrepared(part), part);
  });
});

test('what takes or removes those of many rows that it finds is planned each time: a plan made for few compares each with each', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { knex, pool, close } = await openDatabase({ connection: own.connection, poolSize: 1, onError: () => {} });
  afterwards(t, close);
  const now = new Date();
  const entry = { kind: 'mail', orderingKey: 'lane', objectKey: 'mailbox', payload: {}, created: now };
  await insertEntry(knex, entry);
  await claimDue(knex, { kinds: ['mail'], now, until: new Date(now.getTime() + 60_000), limit: 5 });
  for (let times = 0; times < 25; times += 1) {
    // It waits behind the first, so that there is something to put off.
    await insertEntry(knex, entry);
    await claimDue(knex, { kinds: ['mail'], now, until: now, limit: 5 });
    await postponeBlocked(knex, { kinds: ['mail'], now });
    await removeExpired({ knex, pool } as Database, 5000);
    await deleteClientState(knex, 'client');
    await deleteLeftOverClientState(knex, 'client');
  }
  const { rows } = await pool.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
  assert.deepEqual(
    rows.map(({ statement }) => statement).filter((statement) => /outbox|delete/i.test(statement) && !statement.startsWith('insert')),
    [],
  );
});

/** What a pooler does that keeps account of prepared statements: on the server they have other names. */
async function renamingPooler(t: TestContext, { connection, url }: TestDatabase): Promise<string> {
  const { host, port } = new pg.Client(connection);
  const sockets = new Set<net.Socket>();
  const pooler = net.createServer((inside) => {
    const outside = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    // Parse names the statement first, Bind and Describe after the portal (PostgreSQL manual, "Message Formats").
    inside.on('data', (chunk: Buffer) => {
      const renamed = chunk
        .toString('latin1')
        .replace(
          /([PBD][\0-\xff]{4}[PS]?\0?)(asked-|frequent-|by-)(?=[\w-]+\0)/g,
          (_, head: string, name: string) => head + name.toUpperCase(),
        );
      outside.write(Buffer.from(renamed, 'latin1'));
    });
    outside.pipe(inside);
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [inside, outside].map((one) => one.destroy()));
    }
  });
  pooler.listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  afterwards(t, () => {
    for (const socket of sockets) socket.destroy();
    pooler.close();
  });
  const address = pooler.address();
  assert.ok(address !== null && typeof address === 'object');
  const through = new URL(url);
  through.search = '';
  through.host = `127.0.0.1:${address.port}`;
  return through.href;
}

/** @returns the names on the server after statements that come often, and one that brings its name */
async function preparedBy(t: TestContext, connection: Connection): Promise<string[]> {
  const database = await openDatabase({ connection, poolSize: 2, onError: () => {} });
  afterwards(t, () => database.close());
  return database.transaction(async (trx) => {
    for (let times = 0; times < 30; times += 1) {
      assert.deepEqual(await trx('settings').where({ name: 'none' }).select({ often: 'name' }), []);
    }
    const client: pg.Client = await trx.client.acquireConnection();
    assert.deepEqual((await client.query({ name: 'by-name', text: 'SELECT $1::integer AS one', values: [1] })).rows, [{ one: 1 }]);
    const { rows } = await trx.raw<{ rows: { name: string }[] }>(
      "SELECT name FROM pg_prepared_statements WHERE name !~* '^asked-' ORDER BY name",
    );
    return rows.map(({ name }) => name.replace(/\d+$/, ''));
  });
}

test('behind a pooler that keeps no account of prepared statements none has a name (PgBouncer before 1.21, or without max_prepared_statements)', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  assert.deepEqual(await preparedBy(t, { ...own.connection, pooler: true }), []);
  assert.deepEqual(await preparedBy(t, own.connection), ['by-name', 'frequent-']);
});

test('behind a pooler that does they are prepared as without it', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const connectionString = await renamingPooler(t, own);
  assert.deepEqual(await preparedBy(t, { connectionString, pooler: true }), ['BY-name', 'FREQUENT-']);
});
