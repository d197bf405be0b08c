/** settings/audit: whole batches are removed, the oldest first, their seals stay, and verification tells removal by the service from any other. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { removeOldEvents } from '../../../src/features/audit/audit-retention.service.ts';
import { replaceSettings } from '../../../src/features/settings/settings.service.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { afterwards } from '../../support/afterwards.ts';
import { happen, keepLog, sealAll, verify } from '../../support/audit.ts';
import { testServices } from '../../support/management-api.ts';

const DAY = 86_400_000;
const ago = (days: number): Date => new Date(Date.now() - days * DAY);

/** Batches of three events each, of so many days ago. */
async function logOf(t: TestContext, ...days: number[]): Promise<Services> {
  const { services, close } = await testServices();
  afterwards(t, close);
  for (const day of days) for (let n = 0; n < 3; n += 1) await happen(services.database.knex, `${day} days ago`, ago(day));
  await sealAll(services, 3);
  assert.deepEqual((await verify(services)).events, days.length * 3);
  return services;
}
const keep = (services: Services, retentionDays: number | null) => replaceSettings(services, 'audit', { retentionDays }, SYSTEM);
const messages = async ({ database }: Services): Promise<string[]> =>
  database.knex('audit_events').where({ event_type: 'org.update' }).distinct().orderBy('display_message').pluck('display_message');

test('without a setting the log is kept for ever', async (t) => {
  const services = await logOf(t, 4000, 1);
  await keepLog(services);
  assert.equal((await messages(services)).length, 2);
});

test('what is older than the setting says goes in whole batches, its seals stay, and the log verifies from its beginning', async (t) => {
  const services = await logOf(t, 40, 31, 29, 1);
  await keep(services, 30);
  await keepLog(services);
  assert.deepEqual(await messages(services), ['1 days ago', '29 days ago']);
  await sealAll(services);
  const { mistake, removed, batches, events } = await verify(services);
  assert.deepEqual([mistake, removed, batches, events], [undefined, { last: 2, events: 6 }, 6, 8]);
  const { debug_context, actor } = await services.database.knex('audit_events').where({ event_type: 'system.audit.remove' }).first();
  assert.deepEqual([actor.id, debug_context.before], ['system', { firstSeal: 1, lastSeal: 2, events: 6, retentionDays: 30 }]);
  assert.deepEqual(
    await services.database.knex('audit_people').whereNotIn('seq', services.database.knex('audit_events').select('seq')),
    [],
  );
  await keepLog(services);
  assert.equal((await verify(services)).mistake, undefined);
});

test('a batch stays while one of its events, or a batch before it, is to be kept', async (t) => {
  const services = await logOf(t, 40, 10, 50);
  await keep(services, 30);
  await keepLog(services);
  assert.deepEqual(await messages(services), ['10 days ago', '50 days ago']);
});

test('of twenty that remove at once, each batch is removed once', async (t) => {
  const services = await logOf(t, 40, 40, 40, 1);
  await keep(services, 30);
  await Promise.all(Array.from({ length: 20 }, () => removeOldEvents(services)));
  await keepLog(services);
  const removals = await services.database.knex('audit_events').where({ event_type: 'system.audit.remove' });
  assert.equal(
    removals.reduce((sum, { debug_context }) => sum + debug_context.before.events, 0),
    9,
  );
  assert.equal((await verify(services)).mistake, undefined);
});

test('a batch more that somebody else removed is found', async (t) => {
  const services = await logOf(t, 40, 10, 1);
  await keep(services, 30);
  await keepLog(services);
  const { knex } = services.database;
  await knex.raw('DELETE FROM audit_events WHERE seal = 2');
  assert.match((await verify(services)).mistake ?? '', /^Event 4 is missing in the batch of seal 2/);
  await knex.raw('UPDATE audit_seals SET entries = NULL WHERE n = 2');
  assert.equal((await verify(services)).mistake, 'The events of seal 2 are missing, and not by retention.');
  // The signature of one removal does not serve for another.
  await knex.raw(`UPDATE audit_seals s SET removed = r.removed, removal_key_id = r.removal_key_id, removal_mac = r.removal_mac
    FROM audit_seals r WHERE r.n = 1 AND s.n = 2`);
  assert.match(
    (await verify(services)).mistake ?? '',
    /^The events up to seal 2 are missing, and no key of SECRET_KEY vouches for their removal/,
  );
});

test('after a change of SECRET_KEY the new key vouches for what was removed before', async (t) => {
  const services = await logOf(t, 40, 1);
  await keep(services, 30);
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const withKeys = (...keys: Buffer[]): Services => ({ ...services, keyring: new Keyring(keys) });
  await keepLog(withKeys(old));
  await keepLog(withKeys(fresh, old));
  assert.deepEqual([(await verify(withKeys(fresh))).mistake, (await verify(withKeys(fresh))).removed?.last], [undefined, 1]);
});
