/**
 * Keycloak and Ory Hydra beside this service, each with a database of its own on one PostgreSQL, by the flows of the bench. PEERS_OPTIONS has options of the
 * bench for a real measurement; without it, each flow runs for a moment. How much CPU a flow takes is printed, not asserted.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Report } from '../bench/report.ts';
import { postgres } from '../rehearsals/programs.ts';
import { folderWith } from './foreign/setting.ts';

const BENCH = fileURLToPath(new URL('../bench/run.js', import.meta.url));
const MOMENT = '--rounds 1 --seconds 0.5 --warm-up 0.1 --concurrency 2';

/** The flows that each peer offers. */
const COMMON = ['introspect, hint', 'introspect, no hint', 'userinfo', 'refresh, rotating, ID token', 'silent authorize + exchange'];
const OFFERED = {
  keycloak: ['client_credentials, jwt', ...COMMON, 'sign-in through the page', 'sign-in through the page, known browser'],
  hydra: ['client_credentials, opaque', 'client_credentials, jwt', ...COMMON],
};

test('Keycloak and Hydra do the flows that they offer, measured beside this service', async (t) => {
  const { url } = await postgres(t);
  const file = path.join(folderWith(t, {}), 'report.json');
  const flows = 'client_credentials,introspect,userinfo,refresh,silent,sign-in';
  const options = ['--targets', 'gatehouse,keycloak,hydra', '--flows', flows, '--modes', 'saturation', '--cheap-hash', '--json', file];
  const more = (process.env.PEERS_OPTIONS ?? MOMENT).split(' ');
  const run = promisify(execFile)(process.execPath, [BENCH, ...options, '--database', 'postgres', ...more], {
    env: { ...process.env, BENCH_DATABASE_URL: url },
    maxBuffer: 64 * 1024 * 1024,
    // Ends the bench, which then stops the peers, when the test has run for too long.
    signal: t.signal,
  });
  let printed: { readonly stdout: string; readonly stderr: string };
  try {
    printed = await run;
  } catch (error) {
    const missing = /\w+ [\d.]+ cannot be fetched here/.exec(String(error))?.[0];
    if (missing === undefined) throw error;
    return t.skip(missing);
  }
  console.log(printed.stdout);
  const { rows, ratios }: Report = JSON.parse(readFileSync(file, 'utf8'));
  for (const [peer, offered] of Object.entries(OFFERED)) {
    const measured = rows.filter(({ target }) => target === peer);
    assert.deepEqual(measured.map(({ flow }) => flow).sort(), offered.sort(), printed.stderr);
    assert.ok(measured.every(({ throughput, cpu }) => throughput > 0 && cpu.service > 0));
    assert.ok(ratios.every(({ flow, toPeers }) => offered.includes(flow) === (toPeers[peer as keyof typeof OFFERED] ?? 0) > 0));
  }
  assert.match(printed.stdout, /\| CPU of Gatehouse \| to keycloak \| goal \| +\| to hydra/);
});
