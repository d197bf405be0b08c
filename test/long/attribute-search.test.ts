/**
 * Search by added attributes among 1,000,000 users: within 100 ms, nineteen times of twenty, on a machine that does nothing else. The values are there before the
 * call that adds the attributes: from that call on they have their index.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { onServer } from '../support/database.ts';
import { startService } from '../support/service.ts';

const USERS = 1_000_000;
const LIMIT_MS = 100;
const TURNS = 20;

/**
 * What an API caller would have created, except for passwords. The index of attributes is made again afterwards, as it was: row by row it takes much longer. That of
 * names is not used here. The statistics follow, as the database's own upkeep would bring them within minutes.
 */
async function fill(sql: pg.Client): Promise<string> {
  const { rows } = await sql.query("SELECT pg_get_indexdef('users_by_attributes'::regclass) AS index");
  await sql.query("SET statement_timeout = 0; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'");
  await sql.query('DROP INDEX users_by_words, users_by_attributes');
  await sql.query(`INSERT INTO users (id, login, email, status, profile, created, last_updated)
    SELECT 'usr_' || n, 'user' || n || '@example.com', 'user' || n || '@example.com', 'ACTIVE',
      jsonb_build_object('lastName', 'Family' || n, 'memberNumber', 'M' || n, 'seats', n % 1000, 'tags', jsonb_build_array('tag' || n % 5000, 'all'),
        'team', 'alpha ' || CASE n % 23 WHEN 0 THEN 'middle ' ELSE '' END || n % 97 || ' omega', 'debt', - (n % 3 / 2)),
      now(), now()
    FROM generate_series(1, ${USERS}) n`);
  const begun = performance.now();
  await sql.query(rows[0].index);
  const built = Math.round((performance.now() - begun) / 1000);
  const { rows: sizes } = await sql.query("SELECT pg_relation_size('users_by_attributes') / 1048576 AS mebibytes");
  await sql.query('VACUUM (ANALYZE) users');
  return `index of ${sizes[0].mebibytes} MiB in ${built} s`;
}

const ATTRIBUTES = {
  memberNumber: { title: 'Member number', type: 'string' },
  seats: { title: 'Seats', type: 'integer' },
  tags: { title: 'Tags', type: 'array' },
  team: { title: 'Team', type: 'string' },
  debt: { title: 'Debt', type: 'integer' },
};

test('added attributes are searched for among 1,000,000 users within 100 ms', async (t) => {
  const service = await startService(t);
  const started = performance.now();
  const index = await onServer(service.database.url, fill);
  t.diagnostic(`${index}; filled in ${Math.round((performance.now() - started) / 1000)} s`);
  const begun = performance.now();
  const { status } = await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties: ATTRIBUTES } } });
  assert.equal(status, 200);
  t.diagnostic(`the call that adds the attributes: ${Math.round(performance.now() - begun)} ms`);
  const searches: readonly [expression: string, users: number][] = [
    ['profile.memberNumber eq "m500000"', 1],
    ['profile.memberNumber eq "nobody"', 0],
    ['profile.memberNumber sw "M50000"', 11],
    ['profile.seats eq 7', 20],
    ['profile.tags eq "tag77"', 20],
    ['profile.tags eq "all"', 20],
    ['profile.tags eq "all" and profile.memberNumber eq "M500000"', 1],
    ['profile.memberNumber co "50000"', 20],
    ['profile.memberNumber co "500000"', 1],
    ['profile.memberNumber co "nobody"', 0],
    ['profile.memberNumber ew "99999"', 10],
    ['profile.tags co "ag4999"', 20],
    ['profile.tags co "all"', 20],
    ['profile.seats gt 500', 20],
    ['profile.seats gt 998', 20],
    ['profile.seats gt 999', 0],
    ['profile.seats lt 0', 0],
    ['profile.seats gt 400 and profile.seats lt 402', 20],
    ['profile.seats gt 400 and profile.seats lt 401', 0],
    ['profile.seats ge 998 and profile.memberNumber co "50998"', 10],
    ['profile.team co "middle"', 20],
    // The beginning and the end of all teams, which no team has side by side.
    ['profile.team co "alphaomega"', 0],
    ['profile.debt gt 0', 0],
  ];
  const slow: string[] = [];
  for (const [expression, users] of searches) {
    const times: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const start = performance.now();
      const { body } = await service.api('GET', `/users?limit=20&search=${encodeURIComponent(expression)}`);
      times.push(performance.now() - start);
      assert.equal(body.length, users, expression);
    }
    const [p50 = 0, p95 = 0] = [0.5, 0.95].map((part) => times.toSorted((a, b) => a - b)[Math.ceil(part * TURNS) - 1]);
    t.diagnostic(`${expression}: p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
    if (p95 > LIMIT_MS) slow.push(`${expression}: ${p95.toFixed(1)} ms`);
  }
  assert.deepEqual(slow, []);
});
