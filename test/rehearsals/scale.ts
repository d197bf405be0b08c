/**
 * `node dist/test/rehearsals/scale.js --rows 10000000 --servers 1000 [options of the bench]`: what a flow costs with so many tokens and authorization
 * servers, against an empty database beside it, in the same run and interleaved, in CPU and, with `--instructions`, in those; and the memory with the servers in use.
 */
import { writeFileSync } from 'node:fs';
import { startGatehouse } from '../bench/gatehouse.ts';
import type { Measurement } from '../bench/generator.ts';
import { MEMORY } from '../bench/goals.ts';
import { Load, seats } from '../bench/load.ts';
import { readPlan } from '../bench/options.ts';
import { median } from '../bench/report.ts';
import type { RunningTarget } from '../bench/target.ts';

/** Issue 11: the cost grows by less than a tenth. */
const MOST_GROWTH = 1.1;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const plan = readPlan(process.argv.slice(2), process.env);
const load = new Load(plan);
const running: RunningTarget[] = [];
const cost = ({ cpu }: Measurement): number => cpu.service + cpu.database;
const work = ({ instructions }: Measurement): number => instructions.service + instructions.database;

try {
  const empty = await startGatehouse({ ...plan, servers: 0, serversInUse: 0 });
  running.push(empty);
  const full = await startGatehouse(plan);
  running.push(full);
  const [server] = full.target.servers;
  if (server !== undefined) await full.issueTokens(server, 1);
  const begun = performance.now();
  await full.fill(plan.rows);
  say(`filled with ${plan.rows} rows in ${((performance.now() - begun) / 1000).toFixed(0)} s`);

  // Who signs in at so many servers each time would measure for hours.
  const users = { empty: await seats(empty, plan.concurrency, 0), full: await seats(full, plan.concurrency, 0) };
  const rounds = new Map(plan.flows.map((flow) => [flow, [] as { empty: Measurement; full: Measurement }[]]));
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const [flow, measured] of rounds) {
      const seated = flow.includes('refresh') ? undefined : users;
      const pair = {
        empty: await load.measure(empty, flow, seated && { users: seated.empty }),
        full: await load.measure(full, flow, seated && { users: seated.full }),
      };
      measured.push(pair);
      say(`${round}. ${flow}: ${cost(pair.empty).toFixed(3)} and ${cost(pair.full).toFixed(3)} ms`);
    }
  }

  const lines = [...rounds].map(([flow, measured]) => {
    const growth = median(measured.map((pair) => cost(pair.full) / cost(pair.empty)));
    // Neighbours on the machine change nothing about this one; NaN where it is not counted.
    const ofWork = median(measured.map((pair) => work(pair.full) / work(pair.empty)));
    const judged = Number.isNaN(ofWork) ? growth : ofWork;
    const of = (tell: (pair: { empty: Measurement; full: Measurement }) => number) => median(measured.map(tell));
    const costs = [of((pair) => cost(pair.empty)), of((pair) => cost(pair.full))].map((ms) => ms.toFixed(2));
    const database = [of((pair) => pair.empty.cpu.database), of((pair) => pair.full.cpu.database)].map((ms) => ms.toFixed(2));
    const p99 = [of((pair) => pair.empty.p99), of((pair) => pair.full.p99)].map((ms) => ms.toFixed(1));
    return `| ${[flow, ...costs, database.join(' → '), p99.join(' → '), ofWork.toFixed(2), growth.toFixed(2), judged <= MOST_GROWTH ? 'met' : 'missed'].join(' | ')} |`;
  });
  const most = (which: 'empty' | 'full') => Math.max(...[...rounds.values()].flat().map((pair) => pair[which].memory.service));
  const table = [
    `${plan.rows} token rows, ${plan.servers} authorization servers, ${plan.serversInUse} in use; medians of ${plan.rounds} rounds, CPU of service and PostgreSQL.`,
    '',
    '| flow | ms, empty | ms, full | PostgreSQL ms | p99 ms | growth of instructions | of CPU | goal 1.10 |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
    '',
    `Largest process: ${most('empty').toFixed(0)} MiB empty, ${most('full').toFixed(0)} MiB with ${plan.serversInUse} servers in use (goal ${MEMORY.many}).`,
  ].join('\n');
  console.log(table);
  if (plan.json !== undefined) writeFileSync(plan.json, `${JSON.stringify([...rounds], null, 2)}\n`);
} finally {
  await load.stop();
  for (const { stop } of running.reverse()) await stop();
}
