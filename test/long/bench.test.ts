/** The load suite runs: each kind of measurement for a moment, on all three services. How fast anything is, is not asked here. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Report } from '../bench/report.ts';
import { tables } from '../bench/table.ts';
import { afterwards } from '../support/afterwards.ts';

const BENCH = fileURLToPath(new URL('../bench/run.js', import.meta.url));

test('the bench measures, tells a table and writes a file', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'report.json');
  const moment = ['--rounds', '1', '--seconds', '0.2', '--warm-up', '0.02', '--concurrency', '2', '--rows', '100', '--servers', '1'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [BENCH, '--flows', 'no hint,silent,organization list', ...moment, '--database', 'postgres', '--json', file],
    { env: { ...process.env, BENCH_DATABASE_URL: process.env.GATEHOUSE_TEST_SERVER } },
  );
  const { rows, ratios, half, storms }: Report = JSON.parse(readFileSync(file, 'utf8'));
  const compared = ['introspect, no hint', 'silent authorize + exchange'];
  assert.deepEqual(
    rows.map(({ flow, target }) => `${flow}: ${target}`),
    [...compared.flatMap((flow) => ['map', 'plain', 'gatehouse'].map((target) => `${flow}: ${target}`)), 'organization list: gatehouse'],
  );
  assert.ok(rows.every(({ throughput, p99, memory }) => throughput > 0 && p99 > 0 && memory.service > 0));
  assert.deepEqual(
    ratios.map(({ plainGoal, mapGoal }) => [plainGoal, mapGoal]),
    [[0.34, 1.5], [0.5, 1.5], []].map(([plain, map]) => [plain, map]),
  );
  assert.deepEqual(
    half.map(({ flow }) => flow),
    [...compared, 'organization list'],
  );
  assert.deepEqual(
    storms.map(({ target }) => target),
    ['map', 'plain', 'gatehouse'],
  );
  for (const part of ['| introspect, no hint | plain |', '| at half of saturation |', '| memory, most |'])
    assert.ok(stdout.includes(part), part);
});

test('instructions that were asked for and could not be counted are said to be missing: no column, and no NaN', () => {
  const none = { service: Number.NaN, database: Number.NaN };
  const measured = { throughput: 1, p50: 1, p99: 1, cpu: { service: 1, database: 1 }, memory: { service: 1, database: 1 } };
  const facts = {
    machine: 'm',
    node: '20',
    commit: 'c',
    database: 'd',
    pinned: false,
    rounds: 1,
    seconds: 1,
    concurrency: 1,
    processes: 1,
  };
  const ratio = { toMap: 1, mapGoal: 1, toPlain: 1, plainGoal: 1, toPeers: {} };
  const report = (instructionsWanted: boolean, millions: number): Report => ({
    ...{ ...facts, rowsBefore: 0, servers: 0, serversInUse: 1, load: [0, 0], half: [], storms: [], cheapHash: false, instructionsWanted },
    hash: { cpu: 1, instructions: millions },
    rows: [
      { flow: 'f', target: 'gatehouse', ...measured, instructions: Number.isNaN(millions) ? none : { service: millions, database: 0 } },
    ],
    ratios: [{ flow: 'f', withoutHash: false, ...ratio, instructions: { toMap: millions, toPlain: millions } }],
  });
  const missing = tables(report(true, Number.NaN));
  assert.match(missing, /Instructions are not counted: perf is not installed, or this machine has no hardware counters/);
  assert.doesNotMatch(missing, /NaN|M instructions|instructions: to plain/);
  assert.doesNotMatch(tables(report(false, Number.NaN)), /nstructions/);
  assert.match(tables(report(true, 5)), /M instructions[\s\S]*instructions: to plain/);
});
