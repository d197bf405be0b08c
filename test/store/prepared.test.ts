/** Frequent statements are prepared (PostgreSQL manual, "PREPARE"), whoever sends them, and only those that a later migration cannot break. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordEvent, SYSTEM } from '../../src/services/audit.ts';
import { openDatabase } from '../../src/store/database.ts';
import { claimDue, insertEntry, removeEntry } from '../../src/store/outbox.ts';
import { afterwards } from '../support/afterwards.ts';
import { testDatabase } from '../support/database.ts';

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
    for (const part of ['UPDATE outbox SET attempts', 'DELETE FROM outbox', 'INSERT INTO audit_events'])
      assert.ok(
        rows.some(({ statement }) => statement.includes(part)),
        part,
      );
  });
});
