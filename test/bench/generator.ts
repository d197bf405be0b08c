/**
 * The load generator, a process of its own: a closed loop of so many concurrent users, each with one request under way, bounded in time. What
 * happens before the caches and the compiler are warm is not counted.
 */
import { cpuTime } from './cpu.ts';
import { FLOWS } from './flows/index.ts';
import type { Target, Tokens } from './target.ts';

export interface Order {
  readonly flow: string;
  readonly target: Target;
  /** One pair for each concurrent user. */
  readonly tokens: readonly Tokens[];
  readonly seconds: number;
}

export interface Measurement {
  /** Flows a second. */
  readonly throughput: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of CPU a flow, of the service's processes and of PostgreSQL's. */
  readonly serviceCpu: number;
  readonly databaseCpu: number;
}

export type Reply = { readonly measured: Measurement } | { readonly failed: string };

const WARM_UP = 1000;

async function measure({ flow: name, target, tokens, seconds }: Order): Promise<Measurement> {
  const flow = FLOWS.find((known) => known.name === name);
  if (flow === undefined) throw new Error(`there is no flow ${name}`);
  const contexts = tokens.map((pair) => flow.prepare(target, pair));

  const loop = async (milliseconds: number): Promise<number[]> => {
    const until = performance.now() + milliseconds;
    const users = contexts.map(async (context) => {
      const latencies: number[] = [];
      for (let begun = performance.now(); begun < until; begun = performance.now()) {
        await flow.request(context);
        latencies.push(performance.now() - begun);
      }
      return latencies;
    });
    return (await Promise.all(users)).flat();
  };

  await loop(WARM_UP);
  const [begun, cpuBefore] = [performance.now(), cpuTime(target.pid)];
  const latencies = await loop(seconds * 1000);
  const [elapsed, cpuAfter] = [performance.now() - begun, cpuTime(target.pid)];
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return {
    throughput: latencies.length / (elapsed / 1000),
    p50: percentile(0.5),
    p99: percentile(0.99),
    serviceCpu: (cpuAfter.service - cpuBefore.service) / latencies.length,
    databaseCpu: (cpuAfter.database - cpuBefore.database) / latencies.length,
  };
}

process.on('message', (order: Order) => {
  measure(order).then(
    (measured) => process.send?.({ measured } satisfies Reply),
    (error: unknown) => process.send?.({ failed: `${order.target.name}, ${order.flow}: ${String(error)}` } satisfies Reply),
  );
});
