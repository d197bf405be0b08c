/**
 * `npm run bench`: measures each flow on Gatehouse, on a bare oidc-provider and on one with a plain PostgreSQL adapter, interleaved, so that what
 * else the machine does meets all alike. How, is told by `--help` (options.ts).
 */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import { startBare } from './bare.ts';
import { isOffered } from './flow.ts';
import { flowNamed } from './flows/index.ts';
import { startGatehouse } from './gatehouse.ts';
import type { HashCost, Measurement } from './generator.ts';
import { startHydra } from './hydra.ts';
import { startKeycloak } from './keycloak.ts';
import { Load, seats } from './load.ts';
import { type Plan, readPlan, USAGE } from './options.ts';
import { commit, machine, median, type Report, ratioOf, type Storm, summary } from './report.ts';
import { tables } from './table.ts';
import type { RunningTarget, TargetName } from './target.ts';

/** Token requests a second, and people who sign in at once, in the storm. */
const STORM = { rate: 50, flow: 'client_credentials, opaque', signIns: 16, signIn: 'sign-in through the page' };

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** By flow and target, a measurement for each round. */
type Measured = ReadonlyMap<string, ReadonlyMap<TargetName, Measurement[]>>;

async function saturate(plan: Plan, load: Load, running: readonly RunningTarget[]): Promise<Measured> {
  const measured = new Map(plan.flows.map((flow) => [flow, new Map<TargetName, Measurement[]>()]));
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const [flow, targets] of measured) {
      for (const one of running.filter(({ target }) => has(target.name, flow))) {
        const { name } = one.target;
        const result = await load.measure(one, flow);
        targets.set(name, [...(targets.get(name) ?? []), result]);
        const { service, database } = result.cpu;
        say(`${round}. ${flow}, ${name}: ${result.throughput.toFixed(0)}/s, ${(service + database).toFixed(2)} ms`);
      }
    }
  }
  return measured;
}

const has = (target: TargetName, flow: string): boolean => isOffered(flowNamed(flow), target);

const start = (name: TargetName, plan: Plan): Promise<RunningTarget> => {
  if (name === 'gatehouse') return startGatehouse(plan);
  if (name === 'keycloak') return startKeycloak(plan);
  return name === 'hydra' ? startHydra(plan) : startBare(name, plan);
};

async function halve(plan: Plan, load: Load, gatehouse: RunningTarget, measured: Measured): Promise<Report['half']> {
  const rows = [];
  for (const flow of plan.flows) {
    const known = measured.get(flow)?.get('gatehouse');
    const { throughput } = known === undefined ? await load.measure(gatehouse, flow) : summary(known);
    const rate = throughput / 2;
    const result = await load.measure(gatehouse, flow, { rate });
    rows.push({ flow, target: 'gatehouse' as const, rate, ...result });
    say(`${flow} at ${rate.toFixed(0)}/s: p99 ${result.p99.toFixed(1)} ms`);
  }
  return rows;
}

async function storm(load: Load, one: RunningTarget): Promise<Storm> {
  const { rate } = STORM;
  const alone = await load.measure(one, STORM.flow, { rate });
  const users = await seats(one, STORM.signIns, load.plan.concurrency);
  const during = await load.measure(one, STORM.flow, { rate, beside: { flow: STORM.signIn, users } });
  say(`storm, ${one.target.name}: p99 ${during.p99.toFixed(1)} ms`);
  return { target: one.target.name, alone, during };
}

async function run(plan: Plan): Promise<Report> {
  const before = os.loadavg()[0] ?? 0;
  const running: RunningTarget[] = [];
  const load = new Load(plan);
  const putAway = async () => {
    await load.stop();
    for (const { stop } of running.splice(0)) await stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void putAway().finally(() => process.exit(1)));
  try {
    for (const name of plan.targets) {
      const started = await start(name, plan);
      running.push(started);
      if (plan.rows > 0) await fill(started, plan.rows);
    }
    const hashes = [await load.hashCost()];
    const measured = plan.modes.includes('saturation') ? await saturate(plan, load, running) : new Map();
    const gatehouse = running.find(({ target }) => target.name === 'gatehouse');
    const half = plan.modes.includes('half') && gatehouse !== undefined ? await halve(plan, load, gatehouse, measured) : [];
    const storms: Storm[] = [];
    if (plan.modes.includes('storm')) {
      for (const one of running)
        if (has(one.target.name, STORM.flow) && has(one.target.name, STORM.signIn)) storms.push(await storm(load, one));
    }
    hashes.push(await load.hashCost());
    const hash = { cpu: median(hashes.map(({ cpu }) => cpu)), instructions: median(hashes.map(({ instructions }) => instructions)) };
    return { ...circumstances(plan), load: [before, os.loadavg()[0] ?? 0], hash, ...results(measured, hash), half, storms };
  } finally {
    await putAway();
  }
}

async function fill({ target, issueTokens, fill: add }: RunningTarget, rows: number): Promise<void> {
  const [server] = target.servers;
  if (add === undefined) return;
  if (server !== undefined) await issueTokens(server, 1);
  await add(rows);
  say(`${target.name}: filled with ${rows} rows`);
}

function circumstances(plan: Plan) {
  return {
    machine: machine(),
    node: process.versions.node,
    commit: commit(),
    database: plan.databaseUrl === undefined ? 'embedded PostgreSQL' : 'PostgreSQL over DATABASE_URL',
    pinned: plan.cores !== undefined,
    rounds: plan.rounds,
    seconds: plan.seconds,
    concurrency: plan.concurrency,
    processes: plan.processes,
    rowsBefore: plan.rows,
    servers: plan.servers,
    serversInUse: plan.serversInUse,
    instructionsWanted: plan.instructions,
    cheapHash: plan.cheapHash,
  };
}

function results(measured: Measured, hash: HashCost): Pick<Report, 'rows' | 'ratios'> {
  const flows = [...measured];
  return {
    rows: flows.flatMap(([flow, targets]) => [...targets].map(([target, rounds]) => ({ flow, target, ...summary(rounds) }))),
    ratios: flows.map(([flow, targets]) => ratioOf(flow, flowNamed(flow).hashes ? hash : undefined, targets)),
  };
}

/** What was typed; a mistake in it is told in a line. */
function planned(): Plan | undefined {
  try {
    return readPlan(process.argv.slice(2), process.env);
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 1;
    return undefined;
  }
}

if (process.argv.includes('--help')) console.log(USAGE);
else {
  const plan = planned();
  const report = plan && (await run(plan));
  if (report !== undefined) console.log(tables(report));
  if (plan?.json !== undefined) writeFileSync(plan.json, `${JSON.stringify(report, null, 2)}\n`);
}
