/** Searches and filters in the lists of one parent read the rows of this parent by an index, and not those of all others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listConsents } from '../../../src/features/consents/consents.store.ts';
import { listDeliveries } from '../../../src/features/event-hooks/event-hooks.store.ts';
import { selectProvisioned } from '../../../src/features/provisioning/provisioning.store.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Window } from '../../../src/platform/database/paging.ts';
import { afterwards } from '../../support/afterwards.ts';
import { startedDatabase } from '../../support/database.ts';

const MANY = 3000;
const PARENTS = 50;
const FILL = [
  `INSERT INTO users (id, login, status, profile, created, last_updated)
    SELECT 'user-' || n, 'login-' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, ${PARENTS}) n`,
  `INSERT INTO applications (id, label, status, settings, created, last_updated)
    SELECT 'app-' || n, 'Application ' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, ${PARENTS}) n`,
  `INSERT INTO consents (user_id, application_id, server_id, scope, created)
    SELECT 'user-' || p, 'app-' || p, 'default', 'scope-' || n, now() FROM generate_series(1, ${PARENTS}) p, generate_series(1, ${MANY / PARENTS}) n`,
  `INSERT INTO event_hooks (id, name, description, status, verification_status, event_types, channel, signing_secret_sealed, created_by, created, last_updated)
    SELECT 'hook-' || n, 'Hook', '', 'ACTIVE', 'VERIFIED', '{}', '{}', '', 'user-1', now(), now() FROM generate_series(1, ${PARENTS}) n`,
  `INSERT INTO event_hook_deliveries (hook_id, id, event_id, event_type, attempts, last_attempt, latency, response)
    SELECT 'hook-' || p, 'delivery-' || n, gen_random_uuid(), 'event_hook.test', 1, now(), 1, ''
    FROM generate_series(1, ${PARENTS}) p, generate_series(1, ${MANY / PARENTS}) n`,
  `INSERT INTO provisioning_targets (application_id, status, base_url, auth, secret_sealed, leavers, created, last_updated)
    SELECT 'app-' || n, 'INACTIVE', 'https://scim.example', '{}', '', 'DEACTIVATE', now(), now() FROM generate_series(1, ${PARENTS}) n`,
  `INSERT INTO provisioned_resources (application_id, kind, id, name, state, last_attempt)
    SELECT 'app-' || p, 'user', 'user-' || n, 'Name ' || n, 'FAILED', now() FROM generate_series(1, ${PARENTS}) p, generate_series(1, ${MANY / PARENTS}) n`,
];

test('a search in the list of one parent does not read the rows of others', async (t) => {
  const own = await startedDatabase();
  afterwards(t, () => own.drop());
  const { knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  for (const statement of FILL) await knex.raw(statement);
  await knex.raw('ANALYZE');

  const page: Window = { limit: 20, page: 1 };
  const lists: Readonly<Record<string, () => Promise<{ readonly total?: number | undefined }>>> = {
    consents: () => listConsents(knex, 'user-7', { ...page, words: { by: [], typed: 'application scope' } }),
    event_hook_deliveries: () =>
      listDeliveries(
        knex,
        'hook-7',
        { outcome: 'FAILED', since: new Date(0) },
        { ...page, sort: { by: 'lastAttempt', descending: true, isText: false } },
      ),
    provisioned_resources: () => selectProvisioned(knex, 'app-7', { state: 'FAILED' }, { ...page, words: { by: ['name'], typed: 'name' } }),
  };
  for (const [table, read] of Object.entries(lists)) {
    const statements: { sql: string; bindings: unknown[] }[] = [];
    const note = (statement: { sql: string; bindings: unknown[] }) => statements.push(statement);
    knex.on('query', note);
    assert.equal((await read()).total, MANY / PARENTS, table);
    knex.off('query', note);
    for (const { sql, bindings } of statements) {
      const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
        `EXPLAIN ${sql.replaceAll(/\$\d+/g, '?')}`,
        bindings as string[],
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, new RegExp(`Seq Scan on ${table}`), plan);
    }
  }
});
