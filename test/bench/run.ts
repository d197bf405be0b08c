/**
 * `npm run bench -- [--seconds 3] [--concurrency 8] [--rounds 3] [--flow part of a name] [--json] [--cpu-prof folder]`: measures each flow on
 * Gatehouse and on a bare oidc-provider, interleaved, so that what else the machine does meets both alike.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startBareProvider } from './bare.ts';
import { FLOWS } from './flows/index.ts';
import { startGatehouse } from './gatehouse.ts';
import type { Measurement, Order, Reply } from './generator.ts';
import { commit, machine, type Row, summary, table } from './report.ts';
import type { RunningTarget } from './target.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    flow: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    'cpu-prof': { type: 'string' },
  },
});

function positive(name: 'seconds' | 'concurrency' | 'rounds'): number {
  const value = Number(options[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number`);
  return value;
}
const [seconds, concurrency, rounds] = [positive('seconds'), positive('concurrency'), positive('rounds')];
const flows = FLOWS.filter(({ name }) => name.includes(options.flow));
const profile = options['cpu-prof'];

const generator = fork(new URL('generator.js', import.meta.url));
const running: RunningTarget[] = [];

async function putAway(): Promise<void> {
  generator.kill();
  for (const { stop } of running.splice(0)) await stop();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void putAway().finally(() => process.exit(1)));

const cpu = ({ serviceCpu, databaseCpu }: Measurement): number => serviceCpu + databaseCpu;

async function measure({ target, issueTokens }: RunningTarget, flow: string): Promise<Measurement> {
  const order: Order = { flow, target, tokens: await issueTokens(concurrency), seconds };
  generator.send(order);
  const [reply] = (await once(generator, 'message')) as [Reply];
  if ('failed' in reply) throw new Error(reply.failed);
  if (!options.json) process.stderr.write(`${flow}, ${target.name}: ${reply.measured.throughput.toFixed(0)} flows/s\n`);
  return reply.measured;
}

try {
  const loadBefore = os.loadavg()[0] ?? 0;
  running.push(await startBareProvider());
  running.push(await startGatehouse(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`]));
  const measured = new Map<string, Measurement[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { name } of flows) {
      for (const target of running) {
        const key = `${name}\n${target.target.name}`;
        measured.set(key, [...(measured.get(key) ?? []), await measure(target, name)]);
      }
    }
  }
  const rows = flows.flatMap(({ name }): Row[] => {
    const found = running.map(({ target }) => ({
      flow: name,
      target: target.name,
      ...summary(measured.get(`${name}\n${target.name}`) ?? []),
    }));
    const [baseline = Number.NaN] = found.map(cpu);
    return found.map((row) => ({ ...row, ratio: cpu(row) / baseline }));
  });
  const report = { machine: machine(), node: process.versions.node, commit: commit(), loadBefore, rounds, seconds, concurrency, rows };
  console.log(options.json ? JSON.stringify(report, null, 2) : table(report));
} finally {
  await putAway();
}
