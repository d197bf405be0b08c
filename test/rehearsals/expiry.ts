/**
 * `node dist/test/rehearsals/expiry.js --rows 1000000 [options of the bench]`: the latency of introspection at a steady rate while the service removes
 * so many expired rows, against before and after.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startGatehouse } from '../bench/gatehouse.ts';
import { Load, seats } from '../bench/load.ts';
import { readPlan } from '../bench/options.ts';

/** Introspections a second: far from saturation, so that what is measured is what removal adds. */
const RATE = 40;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const plan = readPlan(process.argv.slice(2), process.env);
const load = new Load(plan);
const running = await startGatehouse(plan);
try {
  const users = await seats(running, plan.concurrency, 0);
  const measure = () => load.measure(running, 'introspect, no hint', { users, rate: RATE });
  const told = async (when: string) => {
    const { p50, p99, throughput, cpu } = await measure();
    console.log(
      `${when}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms at ${throughput.toFixed(0)}/s, PostgreSQL ${(cpu.database * throughput).toFixed(0)} ms of CPU a second`,
    );
  };
  await measure();
  for (let time = 0; time < 3; time += 1) await told('before');
  await running.fillExpired(plan.rows);
  say(`${plan.rows} expired rows are there`);
  let left = await running.expired();
  const begun = performance.now();
  while (left > 0) {
    const before = left;
    await told(`${left} left`);
    left = await running.expired();
    if (left === before) await delay(1000);
  }
  console.log(`removed in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  for (let time = 0; time < 3; time += 1) await told('after');
} finally {
  await load.stop();
  await running.stop();
}
