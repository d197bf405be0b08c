/** What the measurements say: the median of the rounds, the ratio to the baseline, and on which machine. */
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import type { Measurement } from './generator.ts';

export interface Row extends Measurement {
  readonly flow: string;
  readonly target: string;
  /** CPU a flow, service and PostgreSQL together, against the baseline's in the same run; 1 for the baseline. */
  readonly ratio: number;
}

export interface Report {
  readonly machine: string;
  readonly node: string;
  readonly commit: string;
  /** Of the last minute, when the run began: what else the machine was doing. */
  readonly loadBefore: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrency: number;
  readonly rows: readonly Row[];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function summary(rounds: readonly Measurement[]): Measurement {
  const of = (field: keyof Measurement): number => median(rounds.map((round) => round[field]));
  return { throughput: of('throughput'), p50: of('p50'), p99: of('p99'), serviceCpu: of('serviceCpu'), databaseCpu: of('databaseCpu') };
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

/** As a table of Markdown, which the README can take as it is. */
export function table({ rows, ...facts }: Report): string {
  const cells = rows.map(({ flow, target, throughput, p50, p99, serviceCpu, databaseCpu, ratio }) => [
    flow,
    target,
    throughput.toFixed(0),
    p50.toFixed(1),
    p99.toFixed(1),
    (serviceCpu + databaseCpu).toFixed(2),
    databaseCpu.toFixed(2),
    ratio.toFixed(2),
  ]);
  const head = ['flow', 'target', 'flows/s', 'p50 ms', 'p99 ms', 'CPU ms/flow', 'of it database', 'ratio'];
  const line = (columns: readonly string[]) => `| ${columns.join(' | ')} |`;
  return [
    `${facts.machine}; Node ${facts.node}; commit ${facts.commit}; load before ${facts.loadBefore.toFixed(1)}`,
    `median of ${facts.rounds} rounds of ${facts.seconds} s, ${facts.concurrency} concurrent; CPU of service and PostgreSQL together`,
    '',
    ...[head, head.map(() => '---'), ...cells].map(line),
  ].join('\n');
}
