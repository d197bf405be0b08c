/** The hash chain of the audit log: none forgotten, none sealed twice, whoever seals; and whatever is changed in the database afterwards is found. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { contentDigest, sealHash } from '../../../src/features/audit/audit-digests.service.ts';
import { sealAuditLog, sealBatch } from '../../../src/features/audit/audit-seals.service.ts';
import { findHead } from '../../../src/features/audit/audit-seals.store.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { afterwards } from '../../support/afterwards.ts';
import { happen, sealAll, verify } from '../../support/audit.ts';
import { moveClock } from '../../support/clock.ts';
import { testServices } from '../../support/management-api.ts';
import { eventually } from '../../support/process.ts';
import { withTimings } from '../../support/short-waits.ts';

async function services(t: TestContext): Promise<Services> {
  const started = await testServices();
  afterwards(t, started.close);
  return started.services;
}

/** A log of nine events in three batches. */
async function sealedLog(t: TestContext): Promise<Services> {
  const made = await services(t);
  const { knex } = made.database;
  for (let n = 1; n <= 9; n += 1) await happen(knex, `event ${n}`);
  await sealAll(made, 3);
  assert.deepEqual((await verify(made)).mistake, undefined);
  return made;
}

test('events are sealed in batches, each bound to the one before, and verify', async (t) => {
  const made = await sealedLog(t);
  const { events, batches, unsealed, head } = await verify(made);
  // The last, empty look found nothing: no empty seal was made.
  assert.deepEqual([events, batches, unsealed, head?.n], [9, 3, 0, 3]);
  const seals = await made.database.knex('audit_seals').orderBy('n');
  assert.deepEqual(
    seals.map(({ previous }) => previous),
    ['', seals[0].hash, seals[1].hash],
  );
  await happen(made.database.knex, 'one more');
  assert.equal((await verify(made)).unsealed, 1);
});

test('rows that become visible out of order are sealed all, each once', async (t) => {
  const made = await services(t);
  const { database } = made;
  // It takes its number first and commits last.
  const early = await database.knex.transaction();
  afterwards(t, () => early.isCompleted() || early.rollback());
  await happen(early, 'early number');
  for (let n = 0; n < 5; n += 1) await happen(database.knex, `late number ${n}`);
  await sealAll(made);
  assert.equal((await verify(made)).events, 5);
  await early.commit();
  await sealAll(made);
  const { events, unsealed, mistake } = await verify(made);
  assert.deepEqual([events, unsealed, mistake], [6, 0, undefined]);
});

test('twenty who seal at once, while events are written, seal each once in one chain', async (t) => {
  const made = await services(t);
  const { knex } = made.database;
  await Promise.all([
    ...Array.from({ length: 60 }, (_, n) => happen(knex, `event ${n}`)),
    ...Array.from({ length: 20 }, () => sealBatch(made, 7)),
  ]);
  await sealAll(made, 7);
  const { events, unsealed, mistake } = await verify(made);
  assert.deepEqual([events, unsealed, mistake], [60, 0, undefined]);
});

test('a sealer that hangs in the middle holds up the next no longer than it may be silent, and one that stops for none', async (t) => {
  withTimings(t, { sealerSilence: 500 });
  const made = await services(t);
  const { database } = made;
  await happen(database.knex, 'waiting');
  const hanging = await database.knex.transaction();
  afterwards(t, () => hanging.rollback().catch(() => undefined));
  const { lockSealing } = await import('../../../src/features/audit/audit-seals.store.ts');
  assert.equal(await lockSealing(hanging), true);
  assert.equal(await sealBatch(made), undefined, 'another one seals');
  const first = sealAuditLog(made);
  const second = sealAuditLog(made);
  afterwards(t, () => Promise.all([first.stop(), second.stop()]));
  await eventually(async () => (await verify(made)).unsealed === 0, 'the event is sealed');
  await first.stop();
  await happen(database.knex, 'after the first one stopped');
  await eventually(async () => (await verify(made)).unsealed === 0, 'the second one seals');
  assert.equal((await verify(made)).mistake, undefined);
});

const TAMPERINGS: [what: string, sql: string, mistake: RegExp][] = [
  [
    'an event is changed',
    "UPDATE audit_events SET display_message = 'x' WHERE seq = 5",
    /^Event 5 \(org\.update, .+\) of seal 2 was changed\.$/,
  ],
  [
    'the time of an event is changed',
    "UPDATE audit_events SET published = published - interval '1 day' WHERE seq = 5",
    /^Event 5 .+ changed/,
  ],
  ['the actor of an event is another', `UPDATE audit_events SET actor = actor || '{"id":"usr_x"}' WHERE seq = 5`, /^Event 5 .+ changed/],
  ['the change in an event is another', `UPDATE audit_events SET debug_context = '{}' WHERE seq = 5`, /^Event 5 .+ changed/],
  ['an event is deleted', 'DELETE FROM audit_events WHERE seq = 5', /^Event 5 is missing in the batch of seal 2\.$/],
  [
    'two events are swapped',
    'UPDATE audit_events a SET display_message = b.display_message, uuid = gen_random_uuid() FROM audit_events b WHERE a.seq IN (4, 5) AND b.seq = 9 - a.seq',
    /^Event 4 .+ changed/,
  ],
  ['an event moves to another batch', 'UPDATE audit_events SET seal = 3 WHERE seq = 5', /^Event 5 is missing in the batch of seal 2/],
  [
    'an event is put into a batch',
    `INSERT INTO audit_events (uuid, published, event_type, display_message, actor, client, outcome, target, seal, commitments)
      SELECT gen_random_uuid(), published, event_type, 'x', actor, client, outcome, target, seal, commitments FROM audit_events WHERE seq = 5`,
    /^Event 10 .+ was not there when seal 2 was made\.$/,
  ],
  ['the last events are deleted', 'DELETE FROM audit_events WHERE seal = 3', /^Event 7 is missing in the batch of seal 3\.$/],
  ['a seal in the middle is deleted', 'DELETE FROM audit_seals WHERE n = 2', /^Seal 2 is missing\.$/],
  ['the first batch is deleted', 'DELETE FROM audit_events WHERE seal = 1; DELETE FROM audit_seals WHERE n = 1', /^Seal 1 is missing\.$/],
  ['the last seal is deleted, its events stay', 'DELETE FROM audit_seals WHERE n = 3', /^The seal of event 7, 3, is missing\.$/],
  ['a seal is changed', "UPDATE audit_seals SET sealed = sealed + interval '1 hour' WHERE n = 2", /^Seal 2 was changed\.$/],
  ['the hash of a seal is changed', "UPDATE audit_seals SET hash = 'x' WHERE n = 2", /^Seal 2 was changed\.$/],
  [
    'the list of a batch is changed',
    'UPDATE audit_seals SET entries = entries - 1 WHERE n = 2',
    /^The list of events of seal 2 was changed\.$/,
  ],
  [
    'a batch is removed as if it had been kept long enough',
    'DELETE FROM audit_events WHERE seal = 1; UPDATE audit_seals SET removed = now(), entries = NULL WHERE n = 1',
    /^The events up to seal 1 are missing, and no key of SECRET_KEY vouches for their removal\.$/,
  ],
  [
    'a batch is emptied',
    'DELETE FROM audit_events WHERE seal = 1; UPDATE audit_seals SET entries = NULL WHERE n = 1',
    /^The events of seal 1 are missing, and not by retention\.$/,
  ],
];

for (const [what, sql, expected] of TAMPERINGS) {
  test(`it is found when ${what}`, async (t) => {
    const made = await sealedLog(t);
    await made.database.knex.raw(sql);
    assert.match((await verify(made)).mistake ?? 'no mistake', expected);
  });
}

test('it is found when an event and its whole batch are written anew by somebody without the key', async (t) => {
  const made = await sealedLog(t);
  const { knex } = made.database;
  await knex('audit_events').where({ seq: 8 }).delete();
  const head = await findHead(knex);
  assert(head);
  const { entries } = await knex('audit_seals').where({ n: 3 }).first('entries');
  const kept = entries.filter(([seq]: [number]) => seq !== 8);
  const seal = { ...head, content: contentDigest(kept), count: 2 };
  await knex('audit_seals')
    .where({ n: 3 })
    .update({ entries: JSON.stringify(kept), content: seal.content, count: 2, hash: sealHash(seal) });
  assert.equal((await verify(made)).mistake, 'Seal 3 is not signed by this service.');
  // Nor does it help to name a key that the service does not hold.
  await knex('audit_seals').where({ n: 3 }).update({ key_id: 'unknown' });
  assert.match(
    (await verify(made)).mistake ?? '',
    /^Seal 3 is signed with a key that SECRET_KEY does not hold, and nothing after it proves it/,
  );
});

test('it is found when an event is inserted later with an earlier time', async (t) => {
  const made = await sealedLog(t);
  await happen(made.database.knex, 'as if it had been there', new Date(Date.now() - 86_400_000));
  await sealAll(made);
  // The third batch was full: more might have been there.
  assert.equal((await verify(made)).mistake, undefined);
  await happen(made.database.knex, 'as if it had been there', new Date(Date.now() - 86_400_000));
  await sealAll(made);
  assert.match((await verify(made)).mistake ?? '', /^Event 11 .+ of seal 5 was inserted later: it was not there when seal 4 was made\.$/);
});

test('an end that is cut off, seals and all, is found by a seal that was noted, and by the process that made it', async (t) => {
  const made = await sealedLog(t);
  const { knex } = made.database;
  const { head } = await verify(made);
  assert(head);
  assert.equal((await verify(made, head)).mistake, undefined);
  const told: unknown[] = [];
  const log = { ...made.log, error: (facts: unknown) => void told.push(facts), info() {}, warn() {} } as unknown as Services['log'];
  const sealer = sealAuditLog({ ...made, log });
  afterwards(t, () => sealer.stop());
  await happen(knex, 'the last one');
  await eventually(async () => (await verify(made)).head?.n === 4, 'the sealer has seen the log');
  await knex.raw('DELETE FROM audit_events WHERE seal >= 3; DELETE FROM audit_seals WHERE n >= 3');
  assert.equal((await verify(made)).mistake, undefined, 'what is left is whole');
  assert.equal((await verify(made, head)).mistake, 'Seal 3, which was noted, is missing.');
  await eventually(() => told.length > 0, 'the sealer tells of it');
  assert.equal((told[0] as { seal: number }).seal, 4);
  await happen(knex, 'another one');
  // By whoever comes first, the sealer that runs or this test.
  await sealAll(made);
  await eventually(async () => (await verify(made, head)).mistake === 'Seal 3 is not the one that was noted.', 'another seal 3 is found');
});

test('SECRET_KEY can be rotated: a new key vouches for what was sealed before, and the old one can go', async (t) => {
  const made = await sealedLog(t);
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const withKeys = (...keys: Buffer[]): Services => ({ ...made, keyring: new Keyring(keys) });
  await happen(made.database.knex, 'under another key');
  await sealAll(withKeys(old));
  assert.equal((await verify(withKeys(old))).mistake, undefined, 'the newest key vouches for all before');
  assert.match((await verify(withKeys(fresh))).mistake ?? '', /^Seal 4 is signed with a key that SECRET_KEY does not hold/);
  // Nothing happens meanwhile: an empty batch says that the new key knows.
  await sealAll(withKeys(fresh, old));
  await sealAll(withKeys(fresh, old));
  const { mistake, batches, events } = await verify(withKeys(fresh));
  assert.deepEqual([mistake, batches, events], [undefined, 5, 10]);
  await made.database.knex('audit_events').where({ seq: 2 }).update({ severity: 'WARN' });
  assert.match((await verify(withKeys(fresh))).mistake ?? '', /^Event 2 .+ changed/);
});

test('whatever an event holds can be sealed and verified', async (t) => {
  const made = await services(t);
  for (const message of ['<script>', 'هذا نص', 'a\u0001b\u001f', '\u{1f600}', 'x'.repeat(10_000), '{"1":2}']) {
    await happen(made.database.knex, message);
  }
  await sealAll(made);
  assert.deepEqual((await verify(made)).mistake, undefined);
});

test('a clock that is put back a little does not make mistakes', async (t) => {
  const made = await sealedLog(t);
  moveClock(t, -300);
  for (let n = 0; n < 2; n += 1) {
    await happen(made.database.knex, 'a little earlier', new Date());
    await sealAll(made);
  }
  assert.equal((await verify(made)).mistake, undefined);
});

test('a sealer with a new key seals by it although nothing has happened since', async (t) => {
  const made = await sealedLog(t);
  const renewed: Services = { ...made, keyring: new Keyring([randomBytes(32), randomBytes(32)]) };
  const before = (await verify(renewed)).mistake;
  assert.match(before ?? '', /key that SECRET_KEY does not hold/);
  const sealer = sealAuditLog(renewed);
  afterwards(t, () => sealer.stop());
  await eventually(async () => (await verify(renewed)).mistake === undefined, 'the newest key vouches for all before');
});
