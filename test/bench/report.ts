/** What the measurements say: the median of the rounds, the ratios to the baselines, and on which machine. */
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import type { HashCost, Measurement } from './generator.ts';
import { AGAINST_MAP, AGAINST_PLAIN } from './goals.ts';
import { PEERS, type PeerName, type TargetName } from './target.ts';

export interface Row extends Measurement {
  readonly flow: string;
  readonly target: TargetName;
}

/** Gatehouse against each baseline in one flow, where it was measured; of a sign-in without its password hash. */
export interface Ratio {
  readonly flow: string;
  readonly withoutHash: boolean;
  /** Of CPU. */
  readonly toMap: number;
  readonly mapGoal: number | undefined;
  readonly toPlain: number;
  readonly plainGoal: number | undefined;
  /** Of CPU, to the peers that were measured. */
  readonly toPeers: Readonly<Partial<Record<PeerName, number>>>;
  /** Of instructions; NaN where they are not counted. */
  readonly instructions: { readonly toMap: number; readonly toPlain: number };
}

export interface Storm {
  readonly target: TargetName;
  readonly alone: Measurement;
  readonly during: Measurement;
}

export interface Report {
  readonly machine: string;
  readonly node: string;
  readonly commit: string;
  /** Of the last minute, when the run began: what else the machine was doing; and when it ended, itself included. */
  readonly load: readonly [before: number, after: number];
  readonly database: string;
  readonly pinned: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrency: number;
  readonly processes: number;
  readonly rowsBefore: number;
  readonly servers: number;
  readonly serversInUse: number;
  readonly hash: HashCost;
  /** Did all targets hash at the least cost? */
  readonly cheapHash: boolean;
  /** Were instructions to be counted? Where they could not be, they are NaN. */
  readonly instructionsWanted: boolean;
  readonly rows: readonly Row[];
  readonly ratios: readonly Ratio[];
  readonly half: readonly (Row & { readonly rate: number })[];
  readonly storms: readonly Storm[];
}

/** Of those that are numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.floor(sorted.length / 2))) / 2;
}

export function summary(rounds: readonly Measurement[]): Measurement {
  const of = (field: (round: Measurement) => number): number => median(rounds.map(field));
  return {
    throughput: of(({ throughput }) => throughput),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    cpu: { service: of(({ cpu }) => cpu.service), database: of(({ cpu }) => cpu.database) },
    instructions: { service: of((round) => round.instructions.service), database: of((round) => round.instructions.database) },
    memory: { service: of((round) => round.memory.service), database: of((round) => round.memory.database) },
  };
}

/** Each within one round, where the machine was the same for both. @param hash what to leave out of both sides; absent: the flow has none */
export function ratioOf(flow: string, hash: HashCost | undefined, rounds: ReadonlyMap<TargetName, readonly Measurement[]>): Ratio {
  const cpu = ({ cpu: { service, database } }: Measurement): number => service + database - (hash?.cpu ?? 0);
  const work = ({ instructions: { service, database } }: Measurement): number => service + database - (hash?.instructions ?? 0);
  const to = (baseline: TargetName, cost: (round: Measurement) => number): number => {
    const ours = rounds.get('gatehouse') ?? [];
    const theirs = rounds.get(baseline) ?? [];
    return median(ours.flatMap((round, index) => (theirs[index] === undefined ? [] : [cost(round) / cost(theirs[index])])));
  };
  const plainGoal = AGAINST_PLAIN[flow];
  const peers = PEERS.filter((peer) => rounds.has(peer)).map((peer) => [peer, to(peer, cpu)]);
  return {
    flow,
    withoutHash: hash !== undefined,
    toMap: to('map', cpu),
    mapGoal: plainGoal === undefined ? undefined : AGAINST_MAP,
    toPlain: to('plain', cpu),
    plainGoal,
    toPeers: Object.fromEntries(peers),
    instructions: { toMap: to('map', work), toPlain: to('plain', work) },
  };
}

export function machine(): string {
  const [first] = os.cpus();
  return `${os.cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.type()} ${os.release()}`;
}

/** @returns the commit, with a + when files differ from it; `unknown` outside of a repository */
export function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
