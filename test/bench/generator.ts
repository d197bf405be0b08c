/**
 * The load generator's process: a closed loop of so many concurrent users, each with one request under way, bounded in time; or users who send at
 * a steady pace. What happens before the caches and the compiler are warm is not counted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword, verifyPassword } from '../../src/features/passwords/passwords.service.ts';
import { cpuTime, memory, type Shares } from './cpu.ts';
import { flowNamed } from './flows/index.ts';
import { closeConnections } from './http.ts';
import { Instructions } from './instructions.ts';
import type { Seat, Target } from './target.ts';

/** The seats of one concurrent user: he goes round them. */
export type User = readonly Seat[];

export interface Order {
  readonly flow: string;
  readonly target: Target;
  readonly users: readonly User[];
  readonly seconds: number;
  readonly warmUp: number;
  /** Do passwords cost next to nothing? */
  readonly cheapHash: boolean;
  /** Are they counted? */
  readonly instructions: boolean;
  /** Flows a second that all users send together; absent: as many as are answered. */
  readonly rate?: number;
  /** Others, who do something else at the same time as fast as they can. */
  readonly beside?: { readonly flow: string; readonly users: readonly User[] };
}

export interface Measurement {
  /** Flows a second. */
  readonly throughput: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of CPU a flow, of the service's processes and of PostgreSQL's; without meaning where something else ran beside. */
  readonly cpu: Shares;
  /** Millions a flow, in user mode, of the same; NaN where they are not counted. */
  readonly instructions: Shares;
  /** MiB, when it was over. */
  readonly memory: Shares;
  /** Flows a second of what ran beside. */
  readonly beside?: number;
}

/** What the generator is asked for: a measurement, or what one comparison of a password costs. */
export type Request = { readonly order: Order } | { readonly hash: { readonly instructions: boolean } };
export type Reply = { readonly measured: Measurement } | { readonly hash: HashCost } | { readonly failed: string };

/** What one comparison of a password takes: milliseconds of CPU, and millions of instructions in user mode (NaN where they are not counted). */
export interface HashCost {
  readonly cpu: number;
  readonly instructions: number;
}

/**
 * Time alone warms nothing where a flow takes long or the machine is busy, and tells nothing: so many flows at least, unless they take so many
 * times as long. A service runs for weeks: what it costs once its code is compiled is what counts; V8 compiles by how often code has run, and
 * anew after the other flows of a round have shown it objects of more kinds.
 */
const LEAST = { warm: 3000, measured: 200 };
/** Of those whose password hash costs twenty times as much. */
const LEAST_HASHED = { warm: 500, measured: 20 };
const PATIENCE = { warm: 40, measured: 10 };

/** Sends one flow after the other, round the seats, and one at least. @returns latencies in milliseconds */
type Round = (goesOn: () => boolean, pace?: { readonly first: number; readonly interval: number }) => Promise<number[]>;

async function prepare(name: string, target: Target, user: User): Promise<Round> {
  const flow = flowNamed(name);
  const contexts: unknown[] = [];
  for (const seat of user) contexts.push(await flow.prepare(target, seat));
  let turn = 0;
  return async (goesOn, pace) => {
    const latencies: number[] = [];
    let due = pace?.first ?? 0;
    do {
      let begun = performance.now();
      if (pace !== undefined) {
        // Who is kept waiting by the answer before waits from when it would have been his turn.
        if (due > begun) {
          await delay(due - begun);
          begun = performance.now();
        } else begun = due;
        due += pace.interval;
      }
      await flow.request(contexts[turn++ % contexts.length]);
      latencies.push(performance.now() - begun);
    } while (goesOn());
    return latencies;
  };
}

async function measure({ flow, target, users, seconds, warmUp, cheapHash, instructions, rate, beside }: Order): Promise<Measurement> {
  const rounds = await Promise.all(users.map((user) => prepare(flow, target, user)));
  const others = beside === undefined ? [] : await Promise.all(beside.users.map((user) => prepare(beside.flow, target, user)));
  let measuring = true;
  let counted = 0;
  const counting = others.map((round) => round(() => measuring && ++counted > 0));

  const least = flowNamed(flow).hashes && !cheapHash ? LEAST_HASHED : LEAST;
  /** Those who keep a pace are as many as they are told. */
  const lasting = (span: number, flows: number, patience: number) => {
    const first = performance.now();
    let done = 0;
    return () => {
      done += 1;
      const elapsed = (performance.now() - first) / 1000;
      return elapsed < span || (rate === undefined && done < flows && elapsed < patience * span);
    };
  };
  const cold = lasting(warmUp, least.warm, PATIENCE.warm);
  await Promise.all(rounds.map((round) => round(cold)));

  const counter = instructions ? await Instructions.counting(target.roots) : undefined;
  const [begun, cpuBefore, countedBefore] = [performance.now(), cpuTime(target.roots), counted];
  const goesOn = lasting(seconds, least.measured, PATIENCE.measured);
  const interval = rate === undefined ? undefined : (1000 * rounds.length) / rate;
  const latencies = (
    await Promise.all(
      rounds.map((round, index) =>
        round(goesOn, interval === undefined ? undefined : { first: begun + (interval * index) / rounds.length, interval }),
      ),
    ).catch(async (failure) => {
      await counter?.end();
      throw failure;
    })
  ).flat();
  const [elapsed, cpuAfter, countedAfter] = [performance.now() - begun, cpuTime(target.roots), counted];
  const carriedOut = (await counter?.end()) ?? { service: Number.NaN, database: Number.NaN };
  measuring = false;
  await Promise.all(counting);
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return {
    throughput: latencies.length / (elapsed / 1000),
    p50: percentile(0.5),
    p99: percentile(0.99),
    cpu: {
      service: (cpuAfter.service - cpuBefore.service) / latencies.length,
      database: (cpuAfter.database - cpuBefore.database) / latencies.length,
    },
    instructions: { service: carriedOut.service / latencies.length, database: carriedOut.database / latencies.length },
    memory: memory(target.roots),
    ...(beside !== undefined && { beside: (countedAfter - countedBefore) / (elapsed / 1000) }),
  };
}

async function hashCost(counted: boolean, times = 20): Promise<HashCost> {
  const stored = await hashPassword('a password');
  const counter = counted ? await Instructions.counting([process.pid]) : undefined;
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await verifyPassword(stored, 'a password');
  const { user, system } = process.cpuUsage(before);
  const carriedOut = await counter?.end();
  return { cpu: (user + system) / 1000 / times, instructions: (carriedOut?.service ?? Number.NaN) / times };
}

async function answer(request: Request): Promise<Reply> {
  if ('hash' in request) return { hash: await hashCost(request.hash.instructions) };
  const { order } = request;
  try {
    return { measured: await measure(order) };
  } catch (error) {
    return { failed: `${order.target.name}, ${order.flow}: ${String(error)}` };
  } finally {
    closeConnections();
  }
}

process.on('message', (request: Request) => void answer(request).then((reply) => process.send?.(reply)));
